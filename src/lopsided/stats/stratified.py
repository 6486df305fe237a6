"""Two arms on several tasks: what is exchanged, flipped or resampled stays within its task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import scipy

from lopsided.stats.compare import Effect
from lopsided.stats.signflip import FEWEST, SEED, SLACK, Tails, sign_flip
from lopsided.stats.times import Times, median
from lopsided.stats.unpaired import log_rank_scores

RESAMPLED = 9_999
"""Permutations, as many as sign flips."""
HALF = 0.5
"""Weight of a tie, as in the statistic of Mann and Whitney."""
Sides: TypeAlias = tuple[np.ndarray, np.ndarray]
"""(n,) and (m,) scores of one task's two arms."""


def compare_times(tasks: Sequence[tuple[Times, Times]], level: float, paired: bool) -> Effect:
    """The geometric mean over tasks of times to learn, slow / fast: above 1 if `fast` is faster.

    P-values: sign flips of within-seed log ratios of all tasks, each followed up to its task's smaller budget; or, of
    independent runs, log-rank scores exchanged within tasks (a van Elteren test). Interval: Student's t with a variance
    of each task's own where every run learned, else a bootstrap of medians within tasks.
    """
    together = [np.concatenate([slow.time, fast.time]) for slow, fast in tasks]
    if any((times <= 0).any() for times in together):
        return Effect(np.nan, 0.0, np.inf, Tails(1.0, 1.0), "ratio of", "a run was there at 0", True)
    logs = [tuple(Times(np.log(each.time), each.censored) for each in pair) for pair in tasks]
    if paired:
        flips = np.concatenate([_followed(*pair) for pair in logs])
        tails = sign_flip(flips) if len(flips) >= FEWEST else Tails(1.0, 1.0)
        test = "sign flips of within-seed log ratios, all tasks"
    else:
        tails, test = exchanged([_early(*pair) for pair in tasks]), "log-rank scores exchanged within tasks"
    if any(each.censored.any() for pair in tasks for each in pair):
        effect, low, high = _medians(tasks, level)
        how = "geometric mean over tasks of ratios of medians of"
    else:
        effect, low, high = (float(np.exp(v)) for v in _means([(s.time, f.time) for s, f in logs], level, paired))
        how = "geometric mean over tasks of ratios of"
    return Effect(effect, low, high, tails, how, test, True)


def compare_values(tasks: Sequence[Sides], level: float) -> Effect:
    """The probability, averaged over tasks, that a value of the second arm exceeds one of the first (ties are half).
    P-values: ranks exchanged within tasks; the interval is a bootstrap within tasks."""
    ranked = [(scipy.stats.rankdata(np.concatenate([a, b])), len(a)) for a, b in tasks]
    tails = exchanged([(ranks[n:], ranks[:n]) for ranks, n in ranked])
    draws = _bootstrap(_probability, tasks)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    effect = float(np.mean([_probability(a[None], b[None])[0] for a, b in tasks]))
    test = "ranks exchanged within tasks; bootstrap interval within tasks"
    return Effect(effect, float(low), float(high), tails, "probability", test)


def exchanged(tasks: Sequence[Sides]) -> Tails:
    """P-values of the first side's scores being large, and small: the sum over tasks of differences of means, each in
    standard deviations of its task and weighed by what its runs tell, under exchange of runs within tasks."""
    rng = np.random.default_rng([SEED, len(tasks)])
    observed, sums = 0.0, np.zeros(RESAMPLED)
    for a, b in tasks:
        pooled, n = np.concatenate([a, b]), len(a)
        spread = float(pooled.std())
        if spread == 0:
            continue
        scores = (pooled - pooled.mean()) / spread
        # A sum of one side's standard scores is the difference of the sides' means, times nm / (n + m): the weight that
        # tasks of unequal numbers of runs should have.
        observed += float(scores[:n].sum())
        sums += rng.permuted(np.tile(scores, (RESAMPLED, 1)), axis=1)[:, :n].sum(1)
    if not sums.any():
        return Tails(1.0, 1.0)
    slack = SLACK * max(abs(observed), 1.0)
    above, below = (1 + (sums >= observed - slack).sum()), (1 + (sums <= observed + slack).sum())
    return Tails(float(above) / (RESAMPLED + 1), float(below) / (RESAMPLED + 1))


def _early(slow: Times, fast: Times) -> Sides:
    """Log-rank scores of the fast arm and the slow one: positive, learned early."""
    both = Times(np.concatenate([fast.time, slow.time]), np.concatenate([fast.censored, slow.censored]))
    scores = log_rank_scores(both)
    return scores[: len(fast.time)], scores[len(fast.time) :]


def _followed(slow: Times, fast: Times) -> np.ndarray:
    horizon = min(slow.budget, fast.budget)
    return np.minimum(slow.time, horizon) - np.minimum(fast.time, horizon)


def _means(tasks: Sequence[Sides], level: float, paired: bool) -> tuple[float, float, float]:
    """Mean over tasks of differences of means, with Welch's interval: variances and degrees of freedom by task."""
    effect = float(np.mean([a.mean() - b.mean() for a, b in tasks]))
    parts = [((a - b,) if paired else (a, b)) for a, b in tasks]
    groups = [(float(side.var(ddof=1)) / len(side), len(side) - 1) for part in parts for side in part if len(side) > 1]
    missing = any(len(side) < 2 for part in parts for side in part)
    variance = sum(v for v, _ in groups)
    if missing:
        return effect, -np.inf, np.inf
    if variance == 0:
        return effect, effect, effect
    freedom = variance**2 / sum(v**2 / f for v, f in groups)
    half = float(scipy.stats.t.isf((1 - level) / 2, freedom)) * variance**0.5 / len(tasks)
    return effect, effect - half, effect + half


def _medians(tasks: Sequence[tuple[Times, Times]], level: float) -> tuple[float, float, float]:
    """Mean over tasks of log ratios of medians, as ratios; where a median is not known, its side of the interval is
    open and the effect is not known."""

    def ratio(slow: np.ndarray, fast: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.log(median(slow)) - np.log(median(fast))

    ordinals = [(slow.ordinal, fast.ordinal) for slow, fast in tasks]
    with np.errstate(invalid="ignore"):
        effect = float(np.mean([ratio(slow[None], fast[None])[0] for slow, fast in ordinals]))
    draws = _bootstrap(ratio, ordinals)
    # Infinite less infinite: such a draw may lie anywhere.
    low = np.sort(np.where(np.isnan(draws), -np.inf, draws))[int((1 - level) / 2 * RESAMPLED)]
    high = np.sort(np.where(np.isnan(draws), np.inf, draws))[int((1 + level) / 2 * RESAMPLED)]
    return (float(np.exp(effect)) if np.isfinite(effect) else np.nan), float(np.exp(low)), float(np.exp(high))


def _probability(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(R,) share of pairs in which b (R, m) exceeds a (R, n)."""
    more = (b[:, None, :] > a[:, :, None]).mean((1, 2))
    return more + HALF * (b[:, None, :] == a[:, :, None]).mean((1, 2))


def _bootstrap(statistic: Callable[[np.ndarray, np.ndarray], np.ndarray], tasks: Sequence[Sides]) -> np.ndarray:
    """(RESAMPLED,) the mean over tasks of a statistic of runs that are resampled within tasks and arms."""
    rng = np.random.default_rng([SEED, len(tasks), 1])
    found = np.zeros(RESAMPLED)
    for sides in tasks:
        with np.errstate(invalid="ignore"):  # one task's ratio infinite, another's 0: their mean is not known
            found = found + statistic(*(side[rng.integers(0, len(side), (RESAMPLED, len(side)))] for side in sides))
    return found / len(tasks)
