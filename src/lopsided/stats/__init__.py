"""Statistics: times to learn with censoring, comparisons of arms, slopes, verdicts."""
