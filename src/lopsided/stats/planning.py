"""How many runs find an effect, from the spread of a few."""

from __future__ import annotations

import numpy as np
import scipy

from lopsided.stats.signflip import FEWEST

LEVEL = 0.05
"""Level of the test that is planned, two-sided."""
OF_MEDIANS = 2 / np.pi
"""Efficiency of medians against means where values are normal: a verdict on independent runs needs a rank test *and* an
interval of medians. (Measured on 200 trials each: planned 0.76, found 0.81; 0.85, 0.84; 0.91, 0.91.)"""
UNLUCKY = 0.8
"""Confidence of the upper bound of a spread that a few runs leave open."""
MOST = 100_000
"""Runs beyond which nobody plans a comparison of training."""
LEAST = {True: FEWEST, False: 4}
"""Runs of each side below which no test rejects at 5 %: paired, and independent."""


def power(runs: int, effect: float, spread: float, paired: bool) -> float:
    """The chance that a two-sided test at 5 % of `runs` on each side finds a difference `effect`, where values (paired:
    within-seed differences) have the standard deviation `spread`."""
    if runs < LEAST[paired]:
        return 0.0
    effective = runs if paired else runs * OF_MEDIANS / 2
    freedom = runs - 1 if paired else 2 * runs - 2
    shift = abs(effect) / spread * effective**0.5
    return float(scipy.stats.nct.sf(scipy.stats.t.isf(LEVEL / 2, freedom), freedom, shift))


def runs_for(effect: float, spread: float, paired: bool, wanted: float) -> int | None:
    """Runs of each side that find `effect` with the power `wanted`; None beyond MOST."""
    if spread == 0:
        return LEAST[paired]
    low, high = LEAST[paired] - 1, LEAST[paired]
    while power(high, effect, spread, paired) < wanted:
        low, high = high, high * 2
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle, effect, spread, paired) >= wanted else (middle, high)
    return high


def detectable(runs: int, spread: float, paired: bool, wanted: float) -> float:
    """The smallest difference that so many runs find with the power `wanted`; infinite if none is found."""
    if runs < LEAST[paired]:
        return float("inf")
    if spread == 0:
        return 0.0
    low, high = 0.0, spread
    while power(runs, high, spread, paired) < wanted:
        high *= 2
    return float(scipy.optimize.brentq(lambda e: power(runs, e, spread, paired) - wanted, low, high))


def upper_spread(spread: float, freedom: int) -> float:
    """Upper bound (80 %) of a standard deviation that was estimated with so many degrees of freedom."""
    return float(spread * (freedom / scipy.stats.chi2.ppf(1 - UNLUCKY, freedom)) ** 0.5)
