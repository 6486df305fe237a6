"""Comparisons of two arms whose members share seeds: within-seed ratios and differences, tested by sign flips.

Members are paired by their place. Two arms with the same seed share initial weights and the stream of samples, so that
the ratio within a seed spreads less than the arms do. With unequal numbers of members, or fewer than FEWEST, the arms
are compared as independent samples (`lopsided.stats.unpaired`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from lopsided.stats import unpaired
from lopsided.stats.followed import worst_cases
from lopsided.stats.signflip import (
    FEWEST,
    SEED,
    SLACK,
    Tails,
    centre_interval,
    inverted,
    pieces,
    root,
    sign_flip,
    usual_size,
)
from lopsided.stats.times import Times, median

RESAMPLED = 1_999
"""Draws of which 50 lie beyond either end of an interval of 95 %."""
ROUNDING = 1e-9
"""An effect that is nearer to its null than this share of the values is none: they were rounded."""
OF_ONE = 1e-15
"""Values against 0 may be differences of two numbers of which nothing says how large they were: of about 1, perhaps."""
NOTHING = Tails(1.0, 1.0)
UNKNOWN = Tails(np.nan, np.nan)
"""There is no test."""


class Effect(NamedTuple):
    """Effect of one arm against another, or of values against a null, with an interval and one-sided p-values."""

    effect: float
    low: float
    high: float
    tails: Tails
    estimand: str
    """What the effect is, in words."""
    test: str
    """How p-values and interval were found, in words."""
    ratio: bool = False
    """Whether the effect is a ratio."""
    coarse: bool = False
    """Whether evaluations lie too far apart to tell the arms apart."""
    missing: bool = False
    """Whether a member has no value: it diverged."""
    rounding: float = ROUNDING
    """How far from its null an effect may lie by rounding alone."""


def compare_times(slow: Times, fast: Times, null: float = 1.0, level: float = 0.95, paired: bool = True) -> Effect:
    """Ratio of times to learn, slow / fast: above 1 if `fast` is faster.

    Paired (unless `paired` is false: members then have nothing in common): the mean within-seed log ratio. To test a
    ratio r, the fast times are multiplied by r and both arms are followed up to the smaller budget, where a member that
    has not learned stands; so only a bound is known where an arm did not learn, and the interval is infinite on that
    side. The effect quoted is then the bound that the medians give. Arms that spread unequally differ in such cut means
    although their medians are equal: so with members that did not learn, a second test has to agree
    (`_trimmed_means_agree`).
    """
    if _at_one_evaluation(slow, fast):
        said = "all members learned at the same evaluation: evaluate more often"
        return Effect(1.0, 0.0, np.inf, UNKNOWN, "ratio of", said, True, coarse=True)
    if not (paired and _pairs(slow.time, fast.time)):
        return Effect(
            *unpaired.ratio_of_medians(slow, fast, level),
            unpaired.ratio_tails(slow, fast, null),
            "ratio of medians of",
            "log-rank permutation; bootstrap interval",
            True,
        )
    slow, fast = _positive(slow, fast)
    logs = Times(np.log(slow.time), slow.censored), Times(np.log(fast.time), fast.censored)
    test = "sign flips of within-seed log ratios"
    if not (slow.censored.any() or fast.censored.any()):
        ratios = logs[0].time - logs[1].time
        low, high = centre_interval(ratios, level)
        effect, tails = float(ratios.mean()), sign_flip(ratios - float(np.log(null)))
    else:
        found = [_of_cut_ratios(*arms, float(np.log(null)), level) for arms in worst_cases(*logs)]
        (first, (low, _), above, said), (last, (_, high), below, _) = found[0], found[-1]
        effect = _quoted(slow, fast, (first + last) / 2, low, high)
        tails, test = Tails(above.above, below.below), f"{test}, and {said}"
    effect, low, high = (float(np.exp(v)) for v in (effect, low, high))
    return Effect(effect, low, high, tails, "within-seed ratio of", test, True)


def _of_cut_ratios(
    slow: Times, fast: Times, null: float, level: float
) -> tuple[float, tuple[float, float], Tails, str]:
    """Estimate, interval, p-values against `null`, and the second test in words, of the mean log ratio where some log
    times are censored."""
    span = float(np.ptp(np.concatenate([slow.time, fast.time]))) + 1.0
    interval = inverted(lambda c: _followed(slow, fast, c), -span, span, level)
    first = sign_flip(_followed(slow, fast, null))
    second, said = _trimmed_means_agree(slow, fast, null)
    tails = Tails(max(first.above, second.above), max(first.below, second.below))
    return root(lambda c: _followed(slow, fast, c), -span, span), interval, tails, said


def _at_one_evaluation(*arms: Times) -> bool:
    """Whether all members have the same time: each learned somewhere before it, and no ratio is known."""
    every = np.concatenate([t.time for t in arms])
    if not every.size or any(t.censored.any() or t.interpolated for t in arms):
        return False
    return bool((every == every[0]).all())


def _positive(*arms: Times) -> list[Times]:
    """Times of 0 (both of two thresholds reached at once) count as the shortest other one: ratios have to be finite."""
    every = np.concatenate([t.time for t in arms])
    least = every[every > 0].min() if (every > 0).any() else 1.0
    return [Times(np.maximum(t.time, least), t.censored) for t in arms]


def _followed(slow: Times, fast: Times, shift: float) -> np.ndarray:
    """(M,) within-seed log ratios after adding `shift` to the fast arm's log times, up to the smaller budget."""
    later = Times(fast.time + shift, fast.censored)
    horizon = min(slow.budget, later.budget)
    return np.minimum(slow.time, horizon) - np.minimum(later.time, horizon)


def _trimmed_means_agree(slow: Times, fast: Times, shift: float) -> tuple[Tails, str]:
    """Guard against unequal spread, for log times: the difference of trimmed means has to lie on the same side of the
    null, by a paired bootstrap. Arms of equal medians and unequal spread have equal trimmed means if no member that is
    left in is censored; so the number that is cut at either end lies half-way between the censored ones and all but the
    median. Where half did not learn in either arm: more members of one arm than of the other learned within the smaller
    budget (McNemar's exact test).
    """
    later = Times(fast.time + shift, fast.censored)
    n = len(slow.time)
    if min(slow.censored.mean(), fast.censored.mean()) >= 0.5:
        horizon = min(slow.budget, later.budget)
        learned = [~t.censored & (t.time <= horizon) for t in (slow, later)]
        alone = int((learned[1] & ~learned[0]).sum()), int((learned[0] & ~learned[1]).sum())
        if sum(alone) == 0:
            return NOTHING, "McNemar's test"
        tails = (float(scipy.stats.binomtest(k, sum(alone), alternative="greater").pvalue) for k in alone)
        return Tails(*tails), "McNemar's test of the members that learned"
    most = (n - 1) // 2
    cut = min((int(max(slow.censored.sum(), fast.censored.sum())) + most + 1) // 2, most)
    rng = np.random.default_rng([SEED, n])
    picks = (rng.integers(0, n, (rows, n)) for rows in pieces(RESAMPLED, n))
    difference = np.concatenate([_trimmed(slow, pick, cut) - _trimmed(later, pick, cut) for pick in picks])
    tails = Tails(float((difference <= 0).mean()), float((difference >= 0).mean()))
    # Of an arm in which half did not learn only a bound is known: it cannot be shown to be the faster one.
    if fast.censored.mean() >= 0.5:
        tails = tails._replace(above=1.0)
    if slow.censored.mean() >= 0.5:
        tails = tails._replace(below=1.0)
    return tails, "a bootstrap of trimmed means"


def _trimmed(times: Times, pick: np.ndarray, cut: int) -> np.ndarray:
    """(R,) means of resampled times without the `cut` smallest and largest."""
    return np.sort(times.time[pick], axis=1)[:, cut : len(times.time) - cut].mean(1)


def _quoted(slow: Times, fast: Times, estimate: float, low: float, high: float) -> float:
    """The log effect: the estimate, or the medians' bound where one of them is censored; NaN where both are."""
    slow_low, slow_high, fast_low, fast_high = (
        float(np.log(median(x))) for x in (slow.time, slow.ordinal, fast.time, fast.ordinal)
    )
    if np.isfinite(slow_high) and np.isfinite(fast_high):
        return estimate if np.isfinite(estimate) else slow_low - fast_low
    if np.isinf(slow_high) and np.isinf(fast_high):
        return np.nan
    bound = slow_low - fast_high if np.isinf(slow_high) else slow_high - fast_low
    return float(np.clip(bound, low, high))


def compare_values(a: np.ndarray, b: np.ndarray, level: float = 0.95, paired: bool = True) -> Effect:
    """Difference, b - a: the mean within seeds, or of medians where members are not paired. Nothing is known (NaN,
    p = 1) where a member has no finite value."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        said = "a member has no value"
        return Effect(np.nan, -np.inf, np.inf, NOTHING, "within-seed difference of", said, missing=True)
    rounding = ROUNDING * usual_size(np.concatenate([a, b]))
    if not (paired and _pairs(a, b)):
        return Effect(
            *unpaired.difference_of_medians(a, b, level),
            unpaired.rank_tails(a, b),
            "difference of medians of",
            "rank permutation; bootstrap interval",
            rounding=rounding,
        )
    low, high = centre_interval(b - a, level)
    return Effect(
        float((b - a).mean()),
        low,
        high,
        sign_flip(b - a),
        "within-seed difference of",
        "sign flips within seeds",
        rounding=rounding,
    )


def compare_gaps(
    narrow: tuple[Times, Times], wide: tuple[Times, Times], null: float = 1.0, level: float = 0.95
) -> Effect:
    """Ratio of two gaps, (slow / fast of `wide`) / (slow / fast of `narrow`), within seeds, tested against `null`.

    All members of all arms learned: the mean log ratio, by sign flips. Otherwise some ratios are known only to lie
    above or below a number, and a mean may be anything: the median is tested instead, by the sign test, its interval is
    that of order statistics, and the effect quoted is a bound where the median itself is unknown.
    """
    arms = (*narrow, *wide)
    count = min(len(t.time) for t in arms)
    if not count:
        return Effect(np.nan, 0.0, np.inf, NOTHING, "ratio of two gaps in", "no members", True)
    low_n, high_n = _log_bounds(*(_first(t, count) for t in narrow))
    low_w, high_w = _log_bounds(*(_first(t, count) for t in wide))
    with np.errstate(invalid="ignore"):
        least, most = low_w - high_n, high_w - low_n
    least, most = np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)
    at = float(np.log(null))
    if np.isfinite(least).all() and np.isfinite(most).all():  # then both are the same numbers
        effect, (low, high), tails = float(least.mean()), centre_interval(least, level), sign_flip(least - at)
        estimand, test = "within-seed ratio of two gaps in", "sign flips"
    else:
        middles = float(median(least)), float(median(most))
        effect = next((m for m in middles if np.isfinite(m)), np.nan)
        (low, above), (high, below) = _median_above(least, at, level), _median_above(-most, -at, level)
        high, tails = -high, Tails(above, below)
        estimand, test = "median within-seed ratio of two gaps in", "sign test"
    effect, low, high = (float(np.exp(v)) for v in (effect, low, high))
    return Effect(effect, low, high, tails, estimand, f"{test} of within-seed log ratios", True)


def _median_above(least: np.ndarray, null: float, level: float) -> tuple[float, float]:
    """Lower end of the interval of the median of numbers that are at least `least` (M,), and the p-value of the
    median lying above `null`. Members that tie (within rounding) do not speak for it."""
    n = len(least)
    place = int(scipy.stats.binom.ppf((1 - level) / 2, n, 0.5))  # so many are below the median less often than that
    low = float(np.sort(least)[place - 1]) if place else -np.inf
    count = int((least > null + SLACK).sum())
    return low, float(scipy.stats.binomtest(count, n, alternative="greater").pvalue)


def _first(times: Times, count: int) -> Times:
    return times.chosen(np.arange(count))


def _log_bounds(slow: Times, fast: Times) -> tuple[np.ndarray, np.ndarray]:
    """(M,) smallest and largest possible log ratio of every member."""
    slow, fast = _positive(slow, fast)
    known = np.log(slow.time) - np.log(fast.time)
    return np.where(fast.censored, -np.inf, known), np.where(slow.censored, np.inf, known)


def centre(values: np.ndarray, null: float, level: float = 0.95, ratio: bool = False) -> Effect:
    """Tests the mean of `values` (M,), one number per member, against `null`. With `ratio` it is the geometric mean,
    for values that are all positive."""
    if len(values) < 2 or not np.isfinite(values).all() or (ratio and values.min() <= 0):
        mean = float(np.mean(values)) if len(values) else np.nan
        return Effect(mean, -np.inf, np.inf, NOTHING, "mean", "too few members have a value", ratio)
    if ratio:
        logs = np.log(values)
        low, high = (float(np.exp(v)) for v in centre_interval(logs, level))
        tails = sign_flip(logs - np.log(null))
        return Effect(
            float(np.exp(logs.mean())), low, high, tails, "geometric mean of", "sign flips of logarithms", True
        )
    low, high = centre_interval(values, level)
    rounding = max(ROUNDING * max(usual_size(values), abs(null)), 0.0 if null else OF_ONE)
    return Effect(float(values.mean()), low, high, sign_flip(values - null), "mean", "sign flips", rounding=rounding)


def share(meets: np.ndarray, null: float, level: float = 0.95) -> Effect:
    """Tests the share of members that meet a criterion, which `meets` (M,) says of each, against `null`: the exact
    binomial test, and the interval of Clopper and Pearson."""
    count, n = int(np.sum(meets)), len(meets)
    if n == 0:
        return Effect(np.nan, 0.0, 1.0, NOTHING, "share of", "no members")
    found = scipy.stats.binomtest(count, n).proportion_ci(level, method="exact")
    tails = Tails(*(float(scipy.stats.binomtest(count, n, null, alternative=a).pvalue) for a in ("greater", "less")))
    return Effect(count / n, found.low, found.high, tails, "share of", "exact binomial test, Clopper-Pearson interval")


def _pairs(a: np.ndarray, b: np.ndarray) -> bool:
    return len(a) == len(b) >= FEWEST
