"""The tests that decide claims. The default is `inconclusive`.

Times are `Times` with censored members, values are (M,) numbers of M members, laws are slopes with their interval.
"""

from __future__ import annotations

import numpy as np

from lopsided.stats.compare import Comparison, compare_gaps, compare_times, compare_values, log_rank_p, mean_interval
from lopsided.stats.slopes import PowerLaw
from lopsided.stats.times import Times
from lopsided.stats.verdict import Decision, Verdict

LEVEL = 0.05
ROUNDING = 1e-9


def faster(slow: Times, fast: Times, axis: str, at_least: float = 1.0) -> Decision:
    """`fast` learns in less of `axis` than `slow`, by more than a factor `at_least`."""
    c = compare_times(slow, fast, at_least)
    test = f"log-rank permutation p = {c.p_value:.3g}; bootstrap interval of the ratio of medians"
    return _decision(_ratio(axis), c, _significant(c, at_least), _members(slow, fast), test)


def as_fast(slow: Times, fast: Times, axis: str, within: float = 1.25) -> Decision:
    """Neither arm is more than a factor `within` faster (an equivalence: the interval has to lie inside)."""
    c = compare_times(slow, fast)
    above, below = (log_rank_p(slow, fast, bound) for bound in (within, 1 / within))
    verdict: Verdict = "inconclusive"
    if c.low >= 1 / within and c.high <= within and max(above, below) <= LEVEL:
        verdict = "holds"
    elif (c.low > within and above <= LEVEL) or (c.high < 1 / within and below <= LEVEL):
        verdict = "contradicted"
    test = (
        f"bootstrap interval of the ratio of medians inside {1 / within:.3g} to {within:.3g}; "
        f"log-rank permutation p = {below:.3g} and {above:.3g} against the two ends"
    )
    return _decision(_ratio(axis), c, verdict, _members(slow, fast), test)


def not_ahead(slow: Times, fast: Times, axis: str, within: float = 1.25) -> Decision:
    """`fast` is not more than a factor `within` ahead (one side of `as_fast`)."""
    c, p_value = compare_times(slow, fast), log_rank_p(slow, fast, within)
    verdict = _positive(within - c.high, within - c.low) if p_value <= LEVEL else "inconclusive"
    test = f"log-rank permutation p = {p_value:.3g}; bootstrap interval of the ratio of medians below {within:.3g}"
    return _decision(_ratio(axis), c, verdict, _members(slow, fast), test)


def wider(narrow: tuple[Times, Times], wide: tuple[Times, Times], axis: str) -> Decision:
    """The gap slow / fast of `wide` exceeds that of `narrow`."""
    c = compare_gaps(narrow, wide)
    test = "bootstrap error of the log ratio of medians, Student's quantile"
    measure = f"ratio of two gaps in median {axis} to learn"
    return _decision(measure, c, _positive(c.low - 1, c.high - 1), _members(*narrow, *wide), test)


def higher(low: np.ndarray, high: np.ndarray, what: str) -> Decision:
    """The median of `high` exceeds that of `low`."""
    c = compare_values(low, high)
    test = f"rank permutation p = {c.p_value:.3g}; bootstrap interval of the difference of medians"
    return _decision(f"difference of median {what}", c, _significant(c, 0.0), len(low) + len(high), test)


def below(values: np.ndarray, bound: float, what: str) -> Decision:
    """The mean of `values` lies below `bound`."""
    mean, low, high = mean_interval(values)
    return _mean(what, mean, low, high, _positive(bound - high, bound - low), values, "Student's interval")


def above(values: np.ndarray, bound: float, what: str) -> Decision:
    """The mean of `values` lies above `bound`."""
    mean, low, high = mean_interval(values)
    return _mean(what, mean, low, high, _positive(low - bound, high - bound), values, "Student's interval")


def near(values: np.ndarray, expected: float, within: float, what: str) -> Decision:
    """The mean of `values` equals `expected` up to `within` (an equivalence, as in `slope_near`)."""
    mean, low, high = mean_interval(values)
    test = f"Student's interval inside {expected:.3g} ± {within:.2g}"
    return _mean(what, mean, low, high, _equivalent(low, high, expected, within), values, test)


def slope_near(law: PowerLaw, expected: float, within: float, of: str) -> Decision:
    """The slope equals `expected` up to `within`: its interval lies inside expected +- within (an equivalence).

    Contradicted if the interval lies outside; inconclusive if it straddles an end.
    """
    verdict = _equivalent(law.low, law.high, expected, within)
    return _slope(law, verdict, f"inside {expected:.3g} ± {within:.2g}", of)


def slope_below(law: PowerLaw, bound: float, of: str) -> Decision:
    """The slope lies below `bound`."""
    return _slope(law, _positive(bound - law.high, bound - law.low), f"below {bound:.3g}", of)


def slope_above(law: PowerLaw, bound: float, of: str) -> Decision:
    """The slope lies above `bound`."""
    return _slope(law, _positive(law.low - bound, law.high - bound), f"above {bound:.3g}", of)


def _equivalent(low: float, high: float, expected: float, within: float) -> Verdict:
    """Whether an interval lies inside expected +- within, outside, or across an end."""
    if expected - within <= low and high <= expected + within:
        return "holds"
    return "contradicted" if high < expected - within or low > expected + within else "inconclusive"


def _positive(low: float, high: float) -> Verdict:
    """Whether an interval lies above 0, below, or across; equality up to rounding decides nothing."""
    return "holds" if low > ROUNDING else "contradicted" if high < -ROUNDING else "inconclusive"


def _significant(c: Comparison, null: float) -> Verdict:
    """Whether the permutation test and the interval agree that the effect lies above `null`, or below."""
    if c.p_value > LEVEL:
        return "inconclusive"
    return "holds" if c.low > null else "contradicted" if c.high < null else "inconclusive"


def _ratio(axis: str) -> str:
    return f"ratio of median {axis} to learn"


def _members(*arms: Times) -> int:
    return sum(len(times.time) for times in arms)


def _slope(law: PowerLaw, verdict: Verdict, where: str, of: str) -> Decision:
    ends = " to ".join(f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (law.begins, law.ends))
    window = f"from {ends}, {of.rsplit(' against ', 1)[-1]}"
    test = f"interval {where} (bootstrap error, Student's quantile); power law {window}"
    found = Comparison(law.slope, law.low, law.high, np.nan)
    return _decision(f"slope of {of}", found, verdict, law.members, test)


def _mean(what: str, mean: float, low: float, high: float, verdict: Verdict, values: np.ndarray, test: str) -> Decision:
    return _decision(f"mean {what}", Comparison(mean, low, high, np.nan), verdict, len(values), test)


def _decision(measure: str, c: Comparison, verdict: Verdict, members: int, test: str) -> Decision:
    effect, low, high = (None if not np.isfinite(v) else float(v) for v in (c.effect, c.low, c.high))
    return Decision(measure, effect, (low, high), verdict, members, test)
