"""An estimate for claims that the data leave undecided: how many seeds would probably decide them."""

from __future__ import annotations

import numpy as np

from lopsided.stats import sequential
from lopsided.stats.planning import OF_MEDIANS
from lopsided.stats.verdict import Claim


def seeds_needed(claim: Claim, seeds: int) -> int | None:
    """Seeds per arm at which an undecided claim would get a verdict with a probability of 80 %.

    `seeds` is how many each arm has now. The estimate takes the measured effect for the true one. A claim of a
    difference is decided when its test finds one, or when the effect is shown to be too small to matter, whichever
    takes fewer seeds. A claim that two things are equal within a margin is decided when the effect is shown to lie
    inside the margin or beyond it. None where the p-value gives no estimate: the claim is decided, has no p-value, or
    its p-value is small enough already and something else is missing (the interval, or a wider sweep), or evaluations
    lie too far apart, which no seeds mend.
    """
    if claim.reason == "grid" or claim.verdict != "inconclusive" or claim.p_value is None or claim.p_value <= 0.05:
        return None
    if claim.equivalence:
        return _of_equivalence(claim.p_value, seeds)
    different = sequential.seeds_needed(claim.p_value, seeds)
    effect, (low, high) = claim.effect, claim.interval
    if claim.small is None or effect is None or low is None or high is None:
        return different
    if claim.ratio and min(effect, low) <= 0:
        return different
    scale = np.log if claim.ratio else np.asarray
    effect, low, high, *small = (float(scale(v)) for v in (effect, low, high, *claim.small))
    return min(different, sequential.seeds_to_equal(effect, low, high, (small[0], small[1]), seeds))


def _of_equivalence(inside: float, seeds: int) -> int | None:
    """For the p-value of "the effect lies inside the margin", which is one-sided, at 5 %. Above one half, the effect is
    beyond the margin: more seeds would contradict the claim, at 2.5 %."""
    if inside <= 0.5:
        return sequential.seeds_needed(2 * inside, seeds, side=2 * sequential.SIDE)
    beyond = 1 - inside
    return sequential.seeds_needed(2 * beyond, seeds) if beyond > sequential.SIDE else None


POWERED = 1.96 + 0.84
"""Standard errors that an effect has to be away from 0 to be found in 4 of 5 trials at 5 %."""


def runs_needed(a: np.ndarray, b: np.ndarray, paired: bool) -> int | None:
    """Runs of each side that would find the difference of `a` and `b` (values of each run) with a probability of 80 %;
    None where there is no difference or no spread to go by."""
    if paired:
        effect, variance = float(np.mean(b - a)), float(np.var(b - a, ddof=1))
    else:
        effect, variance = float(np.mean(b) - np.mean(a)), float(np.var(a, ddof=1) + np.var(b, ddof=1)) / OF_MEDIANS
    if effect == 0 or not np.isfinite(variance):
        return None
    return int(np.ceil(POWERED**2 * variance / effect**2))
