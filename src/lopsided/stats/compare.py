"""Two-arm comparisons at the handful of seeds that experiments have: exact permutation tests and bootstrap intervals.

An interval from four or eight members is optimistic whatever the bootstrap does, so no verdict about two arms rests on
it alone: a permutation test, exact at these sizes, has to agree. (The ratio of two gaps has no such test.)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import stats as sps

from lopsided.stats.times import Times, median

RESAMPLES = 9_999
EXACT_UP_TO = 20_000
"""Permutations: all of them up to 8 against 8 members (12,870), a random sample beyond."""
SEED = 20_260_101
RARELY_UNKNOWN = 0.01


class Comparison(NamedTuple):
    """Effect of one arm against another with a 95 % interval and a two-sided permutation p-value."""

    effect: float
    low: float
    high: float
    p_value: float


def log_rank_scores(times: Times) -> np.ndarray:
    """(M,) score of each member: event (1 or 0) minus the cumulative hazard up to its time (Nelson-Aalen).

    Summed over one arm, this is observed minus expected events, the log-rank statistic; positive = learned early.
    """
    events = np.unique(times.time[~times.censored])
    at_risk = (times.time[:, None] >= events).sum(0)
    happened = ((times.time[:, None] == events) & ~times.censored[:, None]).sum(0)
    hazard = np.concatenate([[0.0], np.cumsum(happened / np.maximum(at_risk, 1))])
    return (~times.censored).astype(float) - hazard[np.searchsorted(events, times.time, side="right")]


def permutation_p(scores_a: np.ndarray, scores_b: np.ndarray) -> float:
    """Two-sided p-value of the sum of `scores_a` under exchange of members.

    Every split is enumerated up to EXACT_UP_TO of them (8 against 8); beyond, SciPy draws splits at random. (SciPy also
    enumerates, at 100 times the cost, which the thousands of comparisons of a calibration cannot afford.)
    """
    pooled = np.concatenate([scores_a, scores_b])
    n, m = len(pooled), len(scores_a)
    if np.ptp(pooled) == 0:
        return 1.0
    if math.comb(n, m) > EXACT_UP_TO:
        result = sps.permutation_test(
            (scores_a, scores_b),
            lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
            vectorized=True,
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(SEED),
        )
        return float(result.pvalue)
    sums = pooled[_splits(n, m)].sum(1)
    # Sums that are equal in exact arithmetic differ by rounding; without the slack, ties would be lost.
    slack = 1e-9 * np.abs(pooled).max()
    observed = scores_a.sum()
    tails = (sums >= observed - slack).mean(), (sums <= observed + slack).mean()
    return float(min(1.0, 2 * min(tails)))


@cache
def _splits(n: int, m: int) -> np.ndarray:
    """All ways to choose m of n members, (comb(n, m), m)."""
    return np.array(list(itertools.combinations(range(n), m)))


def compare_times(slow: Times, fast: Times, null: float = 1.0) -> Comparison:
    """Ratio of median times to learn, slow / fast: above 1 if `fast` is faster.

    Where a median is censored only a bound of the ratio is known, and the interval says so: if the slow arm's median
    member had not learned by its budget, the ratio is at least budget / fast and the upper end is infinite (the effect
    quoted is that bound); if the fast arm's had not, the lower end is 0; if neither, nothing is known (effect NaN).
    The interval is a percentile bootstrap over members. The p-value is that of the log-rank statistic under exchange of
    members after scaling the fast arm's times by `null`, with both arms followed up to the smaller budget.
    """
    slow_low, slow_high = _median_bounds(slow)
    fast_low, fast_high = _median_bounds(fast)
    low, high = slow_low / fast_high, slow_high / fast_low
    effect = low if np.isinf(high) and low > 0 else high if low == 0 and np.isfinite(high) else low
    if low == 0 and np.isinf(high):
        effect = np.nan
    draws = np.array(_bootstrap(_ratio_bounds, (slow.time, slow.censored), (fast.time, fast.censored)))
    (low, _), (_, high) = _interval(draws[0]), _interval(draws[1])
    return Comparison(float(effect), low, high, log_rank_p(slow, fast, null))


def compare_gaps(narrow: tuple[Times, Times], wide: tuple[Times, Times]) -> Comparison:
    """Ratio of two gaps, (slow / fast of `wide`) / (slow / fast of `narrow`), each a ratio of median times.

    The interval is the bootstrap's standard error on the log scale times Student's quantile (as for slopes; a
    percentile interval of eight members is too short). Where a median is censored only a bound of the ratio is known:
    with the slow arm of `wide` censored it is at least what that arm's budget gives, and the upper end is infinite (the
    effect quoted is that bound). An end is unknown if its bound is, in the arms or in more than RARELY_UNKNOWN of their
    resamples.
    """
    arms = (*narrow, *wide)
    fewest = min(len(t.time) for t in arms)
    if fewest < 2:
        return Comparison(np.nan, 0.0, np.inf, np.nan)

    def log_ratios(*columns: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
        """Smallest and largest possible ratio."""
        (sn, sn_), (fn, fn_), (sw, sw_), (fw, fw_) = (np.log(np.stack(_median_bounds(Times(*c)))) for c in columns)
        with np.errstate(invalid="ignore"):
            return [(sw - fw_) - (sn_ - fn), (sw_ - fw) - (sn - fn_)]

    draws = np.array(_bootstrap(log_ratios, *((t.time, t.censored) for t in arms)))
    found = np.array(log_ratios(*((t.time, t.censored) for t in arms)))
    ends = []
    for effect, drawn, side in zip(found, draws, (-1, 1), strict=True):
        known = np.isfinite(drawn)
        spread = float(drawn[known].std() * np.sqrt(fewest / (fewest - 1))) if known.any() else 0.0
        # Medians that all fall on one evaluation say nothing about their error.
        usable = np.isfinite(effect) and known.mean() >= 1 - RARELY_UNKNOWN and spread > 0
        half = spread * float(sps.t.ppf(0.975, fewest - 1))
        ends.append(float(np.exp(effect + side * half)) if usable else {-1: 0.0, 1: np.inf}[side])
    exact = found[0] if ends[0] > 0 else found[1] if np.isfinite(ends[1]) else np.nan
    return Comparison(float(np.exp(exact)), ends[0], ends[1], np.nan)


def log_rank_p(slow: Times, fast: Times, null: float = 1.0) -> float:
    """The p-value of `compare_times`, without its interval."""
    a, b = slow, Times(fast.time * null, fast.censored)
    horizon = min(_budget(a), _budget(b))
    time = np.concatenate([a.time, b.time])
    censored = np.concatenate([a.censored, b.censored]) | (time > horizon)
    scores = log_rank_scores(Times(np.minimum(time, horizon), censored))
    return permutation_p(scores[: len(a.time)], scores[len(a.time) :])


def _median_bounds(times: Times) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest possible median, (...,): they differ where the median member is censored."""
    return np.asarray(median(times.time)), np.asarray(median(times.ordinal))


def _ratio_bounds(slow: tuple[np.ndarray, np.ndarray], fast: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
    slow_low, slow_high = _median_bounds(Times(*slow))
    fast_low, fast_high = _median_bounds(Times(*fast))
    return [slow_low / fast_high, slow_high / fast_low]


def compare_values(a: np.ndarray, b: np.ndarray) -> Comparison:
    """Difference of medians, b - a, with a bootstrap interval and an exact permutation test on mean ranks.

    Nothing is known (NaN, p = 1) where a member has no finite value.
    """
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return Comparison(np.nan, -np.inf, np.inf, 1.0)
    effect = float(np.median(b) - np.median(a))
    draws = _bootstrap(lambda x, y: np.median(y[0], axis=-1) - np.median(x[0], axis=-1), (a,), (b,))
    low, high = _interval(draws)
    ranks = sps.rankdata(np.concatenate([a, b]))
    return Comparison(effect, low, high, permutation_p(ranks[: len(a)], ranks[len(a) :]))


def mean_interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean with Student's 95 % interval, infinite for fewer than two members, and where one has no finite value."""
    mean = float(np.mean(values)) if len(values) else np.nan
    if len(values) < 2 or not np.isfinite(values).all():
        return mean, -np.inf, np.inf
    half = float(sps.sem(values) * sps.t.ppf(0.975, len(values) - 1))
    return mean, mean - half, mean + half


def _budget(times: Times) -> float:
    """How far the arm was followed: its censoring time, or its latest event if all learned."""
    return float(times.time[times.censored].max()) if times.censored.any() else np.inf


def _bootstrap(statistic: Callable, *arms: tuple[np.ndarray, ...]) -> np.ndarray:
    """Statistic over resampled members, each arm on its own: (RESAMPLES,)."""
    rng = np.random.default_rng(SEED)
    resampled = []
    for columns in arms:
        pick = rng.integers(0, len(columns[0]), (RESAMPLES, len(columns[0])))
        resampled.append(tuple(c[pick] for c in columns))
    return np.asarray(statistic(*resampled), float)


def _interval(draws: np.ndarray) -> tuple[float, float]:
    """Percentile interval by order statistics (no interpolation, so infinities stay exact)."""
    ordered = np.sort(draws)
    n = len(ordered)
    return float(ordered[int(np.floor(0.025 * n))]), float(ordered[int(np.ceil(0.975 * n)) - 1])
