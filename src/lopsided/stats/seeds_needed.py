"""How many seeds would decide a claim that is open."""

from __future__ import annotations

import numpy as np

from lopsided.stats import sequential
from lopsided.stats.verdict import EQUIVALENCE, Claim


def seeds_needed(claim: Claim, seeds: int) -> int | None:
    """How many seeds each arm needs so that an undecided claim is decided with a probability of 80 %, if the true
    effect is the measured one: that there is a difference, or that there is none that matters. None for claims that are
    decided, that have no p-value, or whose test has rejected already: those wait for something else than seeds."""
    if claim.verdict != "inconclusive" or claim.p_value is None or claim.p_value <= 0.05:
        return None
    if EQUIVALENCE in claim.test:
        # Its p-value is one-sided; above one half, the effect is beyond the margin, and seeds would contradict it.
        nearer = min(claim.p_value, 1 - claim.p_value)
        return sequential.seeds_needed(2 * nearer, seeds, side=2 * sequential.SIDE)
    different = sequential.seeds_needed(claim.p_value, seeds)
    effect, (low, high) = claim.effect, claim.interval
    if claim.small is None or effect is None or low is None or high is None:
        return different
    if claim.is_ratio and min(effect, low) <= 0:
        return different
    scale = np.log if claim.is_ratio else np.asarray
    effect, low, high, *small = (float(scale(v)) for v in (effect, low, high, *claim.small))
    return min(different, sequential.seeds_to_equal(effect, low, high, (small[0], small[1]), seeds))
