"""What was measured: the curves of every arm's members, and the best arm of a sweep."""
