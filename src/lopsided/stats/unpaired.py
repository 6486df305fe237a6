"""Comparisons of two independent samples: permutation tests, exact for few members, and bootstrap intervals.

An interval from four or five members is optimistic whatever the bootstrap does, so no verdict rests on it alone: a
permutation test has to agree. With fewer members, of which no test could reject anything, nothing is known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy

from lopsided.stats.followed import worst_cases
from lopsided.stats.signflip import SEED, SLACK, Tails, pieces
from lopsided.stats.times import Times, median

# The ends of a 95 % interval are then the 250th values from either side.
RESAMPLES = 9_999
EXACT_UP_TO = 20_000
"""Permutations: all of them up to 8 against 8 members (12,870), a random sample beyond."""


def ratio_of_medians(slow: Times, fast: Times, level: float = 0.95) -> tuple[float, float, float]:
    """slow / fast, with a percentile bootstrap interval over members.

    Where a median is censored only a bound of the ratio is known, and the interval says so: if the slow arm's median
    member had not learned by its budget, the ratio is at least budget / fast and the upper end is infinite (the effect
    quoted is that bound); if the fast arm's had not, the lower end is 0; if neither, or if it is only a bound and there
    are too few members for any interval, nothing is known (effect NaN).
    """
    slow_low, slow_high = _median_bounds(slow)
    fast_low, fast_high = _median_bounds(fast)
    low, high = _over(slow_low, fast_high, 0.0), _over(slow_high, fast_low, np.inf)
    effect = low if np.isinf(high) and low > 0 else high if low == 0 and np.isfinite(high) else low
    if low == 0 and np.isinf(high):
        effect = np.nan
    if not _can_reject(len(slow.time), len(fast.time), level):
        return float(effect) if low == high else np.nan, 0.0, np.inf
    slow_draws, fast_draws = _bootstrap(lambda *arm: np.stack(_median_bounds(Times(*arm))), slow[:2], fast[:2])
    low, high = _over(slow_draws[0], fast_draws[1], 0.0), _over(slow_draws[1], fast_draws[0], np.inf)
    return float(effect), _interval(low, level)[0], _interval(high, level)[1]


def _over(a: Any, b: Any, unknown: float) -> Any:
    """a / b; `unknown` for 0 / 0 and infinite over infinite. (A run that ended at step 0 has a budget of 0.)"""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(a, float) / np.asarray(b, float)
    return np.where(np.isnan(ratio), unknown, ratio)


def ratio_tails(slow: Times, fast: Times, null: float = 1.0) -> Tails:
    """The log-rank statistic under exchange of members, after scaling the fast arm's times by `null`, with both arms
    followed up to the smaller budget. Members that were dropped before count against either side."""
    found = [_log_rank_tails(*arms, null) for arms in worst_cases(slow, fast)]
    return Tails(found[0].above, found[-1].below)


def _log_rank_tails(slow: Times, fast: Times, null: float) -> Tails:
    a, b = slow, Times(fast.time * null, fast.censored)
    horizon = min(a.budget, b.budget)
    time = np.concatenate([a.time, b.time])
    censored = np.concatenate([a.censored, b.censored]) | (time > horizon)
    scores = log_rank_scores(Times(np.minimum(time, horizon), censored))
    late, early = permutation_tails(scores[: len(a.time)], scores[len(a.time) :])
    return Tails(early, late)  # a slow arm has small scores


def difference_of_medians(a: np.ndarray, b: np.ndarray, level: float = 0.95) -> tuple[float, float, float]:
    """b - a, with a percentile bootstrap interval over members."""
    effect = float(np.median(b) - np.median(a))
    if not _can_reject(len(a), len(b), level):
        return effect, -np.inf, np.inf
    of_a, of_b = _bootstrap(lambda arm: np.median(arm, axis=-1), (a,), (b,))
    return effect, *_interval(of_b - of_a, level)


def _can_reject(n: int, m: int, level: float) -> bool:
    """Whether the rarest of all splits is rare enough for a two-sided permutation test."""
    return 2 / math.comb(n + m, m) <= 1 - level + SLACK


def rank_tails(a: np.ndarray, b: np.ndarray) -> Tails:
    """Mean ranks under exchange of members: of b lying above a, and below."""
    ranks = scipy.stats.rankdata(np.concatenate([a, b]))
    return permutation_tails(ranks[len(a) :], ranks[: len(a)])


def log_rank_scores(times: Times) -> np.ndarray:
    """(M,) score of each member: event (1 or 0) minus the cumulative hazard up to its time (Nelson-Aalen).

    Summed over one arm, this is observed minus expected events, the log-rank statistic; positive = learned early.
    """
    events = np.unique(times.time[~times.censored])
    at_risk = len(times.time) - np.searchsorted(np.sort(times.time), events)
    learned = np.sort(times.time[~times.censored])
    happened = np.searchsorted(learned, events, side="right") - np.searchsorted(learned, events)
    hazard = np.concatenate([[0.0], np.cumsum(happened / np.maximum(at_risk, 1))])
    return (~times.censored).astype(float) - hazard[np.searchsorted(events, times.time, side="right")]


def permutation_tails(scores_a: np.ndarray, scores_b: np.ndarray) -> Tails:
    """One-sided p-values of the sum of `scores_a` being large, and small, under exchange of members."""
    pooled = np.concatenate([scores_a, scores_b])
    n, m = len(pooled), len(scores_a)
    if n == 0 or np.ptp(pooled) == 0:
        return Tails(1.0, 1.0)
    observed = scores_a.sum()
    if math.comb(n, m) <= EXACT_UP_TO:
        sums = pooled[_splits(n, m)].sum(1)
    else:
        rng = np.random.default_rng([SEED, n, m])
        orders = (rng.permuted(np.tile(pooled, (rows, 1)), axis=1) for rows in pieces(RESAMPLES, n))
        sums = np.concatenate([*(each[:, :m].sum(1) for each in orders), [observed]])
    slack = SLACK * np.abs(pooled).max()
    return Tails(float((sums >= observed - slack).mean()), float((sums <= observed + slack).mean()))


@cache
def _splits(n: int, m: int) -> np.ndarray:
    """Every choice of m of the indices 0 to n - 1, one a row: (n choose m, m)."""
    return np.array(list(itertools.combinations(range(n), m)))


def _median_bounds(times: Times) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest possible median, (...,): they differ where the median member is censored."""
    return np.asarray(median(times.time)), np.asarray(median(times.ordinal))


def _bootstrap(statistic: Callable[..., np.ndarray], *arms: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Statistic (..., RESAMPLES) of every arm over its own resampled members; an arm is columns of its members."""
    rng, found = np.random.default_rng(SEED), []
    for columns in arms:
        n, parts = len(columns[0]), []
        for rows in pieces(RESAMPLES, n):
            pick = rng.integers(0, n, (rows, n))
            parts.append(np.asarray(statistic(*(c[pick] for c in columns)), float))
        found.append(np.concatenate(parts, axis=-1))
    return found


def _interval(draws: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval by order statistics (no interpolation, so infinities stay exact)."""
    ordered = np.sort(draws)
    n = len(ordered)
    low, high = (1 - level) / 2, (1 + level) / 2
    return float(ordered[int(np.floor(low * n))]), float(ordered[int(np.ceil(high * n)) - 1])
