"""Sign-flip tests of one number per member, and the intervals that their inversion gives.

If the numbers are differences within seeds and nothing distinguishes the two arms, each may as well have the other
sign. The test compares their sum with the sums under all 2^n choices of signs (up to EXACT_UP_TO members; beyond, under
a random sample of choices, the observed one counted among them). It assumes that the numbers spread evenly to both
sides of their centre.

Flipping the signs of some members lowers the sum exactly if those members have a positive sum. So a shift c is rejected
by few subsets of members with a mean below c, and the ends of the interval are order statistics of the subsets' means
(J. A. Hartigan, "Using subsample values as typical values", 1969).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

FEWEST = 6
"""With fewer members no choice of signs is rare enough to reject at 5 %, two-sided."""
# All 4,096 choices of signs; of more members as many random ones, so that with the one that was seen p is at least
# 1 / 10,000. A fixed seed: the same rows have the same p-value.
EXACT_UP_TO = 12
SAMPLED = 9_999
"""Flips: the smallest p-value is 1/10,000, below every level that looks spend."""
SEED = 20_260_101
"""Seed of the flips. Any number would do; this one is fixed, so that a verdict is the same wherever it is decided."""
PRECISION = 1e-4
"""Precision of shifts that are sought by halving: on a log scale a hundredth of a percent."""
MOST_MEMBERS = 50_000
"""An arm's, at most: a test of so many takes up to two minutes, and 250 MiB. (Of times that some members do not reach
it takes 3.5 s with 2,000 members an arm, 2026-11-30. From 3,356 on choices are drawn anew for each test, which took 14
s with 2,000: so many may take ten minutes.)"""
AT_ONCE = 2**22
"""Numbers of choices that are in memory at once."""
KEPT = 2**25
"""How many signs, of all members in all random choices, are remembered for the next test of as many members: up to
AT_ONCE as numbers of 8 bytes, beyond as bytes."""
SLACK = 1e-9
"""Sums that are equal in exact arithmetic differ by rounding; without the slack, ties would be lost."""


class Tails(NamedTuple):
    """One-sided p-values: of the centre lying above the null, and below."""

    above: float
    below: float

    @property
    def two_sided(self) -> float:
        """NaN where there was no test."""
        return float(np.minimum(1.0, 2 * np.minimum(*self)))


def sign_flip(values: np.ndarray) -> Tails:
    """Tests of the centre of `values` (n,) against 0; infinities count as larger than all sums of finite numbers. NaN
    among the values leaves no test."""
    if np.isnan(values).any():
        return Tails(np.nan, np.nan)
    sums = _sums(values)
    slack = SLACK * usual_size(values)
    return Tails(float((sums <= slack).mean()), float((sums >= -slack).mean()))


def usual_size(values: np.ndarray) -> float:
    """The lower quartile of the sizes of values that are neither 0 nor infinite. Relative to the largest one, a
    diverged member of 1e9 would make ties of all others, and relative to the median, half of the members would;
    relative to each sum, a difference of 1e-17 between equal members would be none."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    return float(np.quantile(sizes, 0.25, method="lower")) if sizes.size else 0.0


def centre_interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """The shifts of `values` (n,) that a two-sided sign-flip test at 1 - `level` does not reject; infinite where too
    few members reject none."""
    sums, sizes = (found[1:] for found in _of_subsets(np.stack([values, np.ones_like(values)], 1)).T)
    means = np.sort(sums / np.maximum(sizes, 1))
    count = int((1 - level) / 2 * (len(means) + 1) + SLACK)
    if not count:
        return -np.inf, np.inf
    middle = float(values.mean())  # inside, but for rounding
    return min(float(means[count - 1]), middle), max(float(means[-count]), middle)


def inverted(shifted: Callable[[float], np.ndarray], low: float, high: float, level: float) -> tuple[float, float]:
    """Interval of the shift where the members' numbers at a shift c are `shifted(c)` (n,), each falling as c rises.
    Shifts are sought from `low` to `high`; an end that lies outside is infinite."""
    tail = (1 - level) / 2
    begin = _turn(lambda c: sign_flip(shifted(c)).above > tail, low, high)
    end = -_turn(lambda c: sign_flip(shifted(-c)).below > tail, -high, -low)
    return min(begin, end), max(begin, end)  # arms that tie in every member leave one shift, found from either side


def root(shifted: Callable[[float], np.ndarray], low: float, high: float) -> float:
    """The shift at which the mean of `shifted` is 0, the middle of them where it is 0 on a stretch."""
    first = _turn(lambda c: shifted(c).mean() <= SLACK, low, high)
    last = -_turn(lambda c: shifted(-c).mean() >= -SLACK, -high, -low)
    return 0.5 * (first + last)


def _turn(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest c at which a condition holds that stays true from there; -inf if it holds at `low`, inf if it never
    does."""
    if holds(low):
        return -np.inf
    if not holds(high):
        return np.inf
    while high - low > PRECISION:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@cache
def _all_subsets(n: int) -> np.ndarray:
    """(2^n, n) 0 or 1: members whose sign is flipped, none in the first row."""
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)


def _some_subsets(n: int) -> Iterator[np.ndarray]:
    """SAMPLED random choices, piece by piece: all together they would take a gigabyte for 12,500 members."""
    rng = np.random.default_rng([SEED, n])
    for rows in pieces(SAMPLED, n):
        yield rng.integers(0, 2, (rows, n)).astype(float)


@lru_cache(maxsize=4)  # at most 134 MB
def _kept_subsets(n: int) -> tuple[np.ndarray, ...]:
    """The random choices of signs for n members, drawn once and remembered. (One confidence interval may take thirty
    sign-flip tests of the same n, where some members never learned; to draw the choices takes ten times as long as a
    test.)"""
    kind = float if SAMPLED * n <= AT_ONCE else np.uint8
    return tuple(each.astype(kind, copy=False) for each in _some_subsets(n))


def pieces(rows: int, n: int) -> Iterator[int]:
    """Numbers of rows of n numbers to hold at once, `rows` in all."""
    while rows:
        now = min(rows, max(1, AT_ONCE // n))
        yield now
        rows -= now


def _of_subsets(columns: np.ndarray) -> np.ndarray:
    """(K, c) sums of each column of `columns` (n, c) over every choice of members; the first chooses nobody."""
    n = len(columns)
    if n <= EXACT_UP_TO:
        return _all_subsets(n) @ columns
    some = _kept_subsets(n) if SAMPLED * n <= KEPT else _some_subsets(n)
    sums = (each.astype(float, copy=False) @ columns for each in some)
    return np.concatenate([np.zeros((1, columns.shape[1])), *sums])


def _sums(values: np.ndarray) -> np.ndarray:
    """(K,) sum of each subset; one with infinities of both signs counts as 0."""
    finite = np.isfinite(values)
    if finite.all():
        return _of_subsets(values[:, None])[:, 0]
    plus, minus = values == np.inf, values == -np.inf
    sums, above, below = _of_subsets(np.stack([np.where(finite, values, 0.0), plus, minus], 1)).T
    sums = np.where((above > 0) | (below > 0), 0.0, sums)
    return np.where((above > 0) & (below == 0), np.inf, np.where((below > 0) & (above == 0), -np.inf, sums))
