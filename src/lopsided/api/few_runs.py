"""Warnings and advice for comparisons of few runs, in words: that one side spreads far more than the other, and how
many runs would decide a claim that is open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.stats.seeds_needed import runs_needed
from lopsided.stats.signflip import FEWEST
from lopsided.stats.verdict import Claim

MANY = 10_000
"""Runs of each side beyond which nobody is told how many would decide."""
LEAST_INDEPENDENT = 4
"""Runs of each side without which no test of independent runs rejects at 5 %, two-sided."""
FEW = 16
"""Runs of the smaller side up to which its spread is watched."""
WIDER = 2.5
"""How many times as far the smaller side has to spread, and have fewer runs, for that to be said. At 3 times, 5 against
10 runs of equal medians are told apart in 6 % of 300 trials; at 5 times, 4 against 12 in 10 %
(tests.reference.other_places)."""


def spreads_apart(values: Sequence[np.ndarray], names: Sequence[str]) -> str:
    """That the side with fewer runs spreads far more, in words: then a test says too much. (A rank test with the spread
    in it, of Brunner and Munzel, by permutation, is no better with so few.)"""
    if len(values) < 2 or min(map(len, values)) < 2 or len(values[0]) == len(values[1]):
        return ""
    few, many = (0, 1) if len(values[0]) < len(values[1]) else (1, 0)
    spread = [float(np.subtract(*np.quantile(side, (0.75, 0.25)))) for side in values]
    if len(values[few]) > FEW or not np.isfinite(spread).all() or spread[few] <= WIDER * spread[many]:
        return ""
    return f"{names[few]} has fewer runs and spreads far more: equal arms would be told apart in more than 5 % of cases"


def runs_that_decide(claim: Claim, values: Sequence[np.ndarray], paired: bool, fewest: int) -> str:
    """About how many runs would decide an open claim with a probability of 80 %, if the difference is what was
    measured, in words: from the difference and the spread of `values` (of each run of both sides, `fewest` of one),
    since the p-value of a few runs says little. Empty where nothing can be said."""
    if claim.verdict != "inconclusive" or claim.equivalence or claim.effect is None:
        return ""
    if claim.reason == "grid":
        return "evaluations lie too far apart: between them, either side may be the faster one"
    least = FEWEST if paired else LEAST_INDEPENDENT
    if fewest < 2:
        return f"a test takes at least {least} runs of each side"
    needed = runs_needed(values[0], values[1], paired) if values else None
    if needed is None or needed > MANY:
        return ""
    if needed <= fewest >= least:  # the difference is that of a few runs, whose test says little
        return f"more runs would probably decide it (now {fewest} of each side)"
    return f"about {max(needed, least):,} runs of each side would probably decide it (now {fewest})"
