"""Deciding while seeds come in: how much of the 5 % each look may spend.

Looks are planned before the first judged seed. At look k of n_k seeds the claim is tested at a level of its own, found
so that the chance of any wrong verdict on one side, over all looks, is SIDE: Lan and DeMets's spending function
SIDE ln(1 + (e - 1) n_k / n_last), which is close to Pocock's equal levels. The interval shown at a look is the one of
that level: a repeated confidence interval (Jennison and Turnbull 1989), right at every look at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import scipy

from lopsided.core.errors import InputError

LOOKS = (8, 16, 32, 64)
"""Seeds that are there at each look."""
SIDE = 0.025
"""Chance of a wrong verdict on one side, over all looks; both sides together make the usual 0.05."""
POINTS, WIDEST = 1201, 8.0
EARLIEST = 128
"""The last look has at most this many times the seeds of the first one: earlier looks could decide nothing, and the
grid of `bounds` is too coarse for them."""

MOST_SEEDS = 1_000_000
"""Seeds of a look, at most: as many as a plan's file may say (`store.records.LONGEST`; statistics import no
store)."""


def valid_looks(looks: Sequence[int]) -> None:
    """Raise `InputError` unless `looks` can be planned."""
    ascending = all(a < b for a, b in pairwise(looks))
    if not (looks and ascending and looks[0] >= 2 and looks[-1] <= min(EARLIEST * looks[0], MOST_SEEDS)):
        said = (
            f"numbers of seeds that grow, from 2 to {MOST_SEEDS:,}, the last at most {EARLIEST} times the first, for "
            "example 32 128 512"
        )
        raise InputError(f"--looks {' '.join(map(str, looks))}: {said}")


@cache
def bounds(looks: Sequence[int] = LOOKS) -> tuple[float, ...]:
    """Critical values of a standard normal statistic whose increments are independent."""
    share = np.array(looks, float) / looks[-1]
    spend = np.diff(SIDE * np.log1p((np.e - 1) * share), prepend=0.0)
    # The density of the sum of all increments so far (a Brownian motion), of runs that have not stopped.
    grid = np.linspace(-WIDEST, WIDEST, POINTS)
    step = grid[1] - grid[0]
    found: list[float] = []
    density = np.zeros(POINTS)
    for k, t in enumerate(share):
        sd = (t - (share[k - 1] if k else 0.0)) ** 0.5
        if k == 0:
            density = scipy.stats.norm.pdf(grid, scale=sd)
        else:
            density = (density[None] * scipy.stats.norm.pdf(grid[:, None] - grid[None], scale=sd)).sum(1) * step
        tail = (np.cumsum(density[::-1])[::-1] - density / 2) * step
        at = float(np.interp(-spend[k], -tail, grid))  # the tail falls
        found.append(at / t**0.5)
        density = np.where(np.abs(grid) < at, density, 0.0)
    return tuple(map(float, found))


def level(look: int, looks: Sequence[int] = LOOKS) -> float:
    """Two-sided level of the test at a look; the interval there covers 1 - level."""
    return float(2 * scipy.stats.norm.sf(bounds(tuple(looks))[look]))


def seeds_needed(p_value: float, seeds: int, power: float = 0.8, side: float = SIDE) -> int:
    """Seeds at which a claim whose effect is the measured one would be decided with a probability of `power`."""
    z = float(scipy.stats.norm.isf(max(p_value / 2, 1e-12)))
    wanted = float(scipy.stats.norm.isf(side) + scipy.stats.norm.ppf(power))
    return int(np.ceil(seeds * (wanted / z) ** 2)) if z > 1e-3 else 10**6


def seeds_to_equal(
    effect: float, low: float, high: float, small: tuple[float, float], seeds: int, power: float = 0.8
) -> int:
    """Seeds at which an effect that is measured between `low` and `high` (95 %) would be found to lie within `small`
    with a probability of `power`, if it is the measured one."""
    error = (high - low) / 2 / float(scipy.stats.norm.isf(SIDE))
    room = min(effect - small[0], small[1] - effect)
    wanted = float(scipy.stats.norm.isf(2 * SIDE) + scipy.stats.norm.ppf(power)) * error
    return int(np.ceil(seeds * (wanted / room) ** 2)) if room > 1e-3 * wanted else 10**6
