"""The tests that decide claims. The default is `inconclusive`.

Times are `Times` with censored members, values are (M,) numbers of M members, laws are slopes with their interval.
Members of two arms are paired by their place. A claim of an effect is tested on both sides at 5 %: p-value and 95 %
interval have to agree. A claim of an equivalence takes two one-sided tests at 5 % each, and its interval is the 90 %
one that belongs to them; what contradicts it lies outside by a test at 2.5 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from lopsided.stats.compare import Comparison, centre, compare_gaps, compare_times, compare_values, share
from lopsided.stats.slopes import PowerLaw
from lopsided.stats.times import Times
from lopsided.stats.verdict import EQUIVALENCE, Decision, Verdict

ROUNDING = 1e-9
_level: ContextVar[float] = ContextVar("level", default=0.05)


@contextmanager
def at_level(level: float) -> Iterator[None]:
    """Tests inside are at this level in place of 5 %, and their intervals cover 1 - `level`: for claims that are looked
    at while seeds come in (`lopsided.stats.sequential`)."""
    token = _level.set(level)
    try:
        yield
    finally:
        _level.reset(token)


def _covers(equivalence: bool = False) -> float:
    """Coverage of the interval."""
    return 1 - _level.get() * (2 if equivalence else 1)


def faster(slow: Times, fast: Times, axis: str, at_least: float = 1.0) -> Decision:
    """`fast` learns in less of `axis` than `slow`, by more than a factor `at_least`."""
    c = compare_times(slow, fast, at_least, _covers())
    return _decision(_time(axis), c, _above(c, at_least), _members(slow, fast), _p(c))


def everywhere(found: Sequence[Decision], where: Sequence[str]) -> Decision:
    """One claim at several places: it holds if it holds at each of them, and is contradicted if it is at one (an
    intersection-union test, which needs no correction). Effect and interval are those of the place with the largest
    p-value."""
    p_values = [1.0 if each.p_value is None else each.p_value for each in found]
    weakest = found[int(np.argmax(p_values))]
    verdicts = {each.verdict for each in found}
    verdict: Verdict = "contradicted" if "contradicted" in verdicts else "inconclusive"
    if verdicts == {"holds"}:
        verdict = "holds"
    each_p = ", ".join(f"{p:.3g} {at}" for p, at in zip(p_values, where, strict=True))
    return weakest._replace(verdict=verdict, test=f"{weakest.test}; at each place p = {each_p}; the weakest is shown")


def as_fast(slow: Times, fast: Times, axis: str, within: float = 1.25) -> Decision:
    """Neither arm is more than a factor `within` faster: an equivalence."""
    over, under = (compare_times(slow, fast, bound, _covers(equivalence=True)) for bound in (within, 1 / within))
    verdict = _equivalent(over, under, within, 1 / within)
    said = _between(over, under, within, 1 / within)
    return _decision(_time(axis), over, verdict, _members(slow, fast), said, _larger(over, under))


def not_ahead(slow: Times, fast: Times, axis: str, within: float = 1.25) -> Decision:
    """`fast` is not more than a factor `within` ahead (one side of `as_fast`)."""
    c = compare_times(slow, fast, within, _covers())
    return _decision(_time(axis), c, _below(c, within), _members(slow, fast), _p(c, f"below {within:.3g}"))


def wider(narrow: tuple[Times, Times], wide: tuple[Times, Times], axis: str) -> Decision:
    """The gap slow / fast of `wide` exceeds that of `narrow`."""
    c = compare_gaps(narrow, wide, _covers())
    return _decision(_time(axis), c, _above(c, 1.0), _members(*narrow, *wide), _p(c))


def higher(low: np.ndarray, high: np.ndarray, what: str) -> Decision:
    """`high` exceeds `low`."""
    c = compare_values(low, high, _covers())
    return _decision(what, c, _above(c, 0.0), len(low) + len(high), _p(c))


def below(values: np.ndarray, bound: float, what: str, ratio: bool = False) -> Decision:
    """The mean of `values` lies below `bound`; with `ratio` the geometric mean, for positive quantities."""
    c = centre(values, bound, _covers(), ratio)
    return _decision(what, c, _below(c, bound), len(values), _p(c, f"below {bound:.3g}"))


def above(values: np.ndarray, bound: float, what: str, ratio: bool = False) -> Decision:
    """The mean of `values` lies above `bound`; with `ratio` the geometric mean, for positive quantities."""
    c = centre(values, bound, _covers(), ratio)
    return _decision(what, c, _above(c, bound), len(values), _p(c, f"above {bound:.3g}"))


def near(values: np.ndarray, expected: float, within: float, what: str) -> Decision:
    """The mean of `values` equals `expected` up to `within`: an equivalence."""
    top, bottom = expected + within, expected - within
    over, under = (centre(values, bound, _covers(equivalence=True)) for bound in (top, bottom))
    verdict = _equivalent(over, under, top, bottom)
    return _decision(what, over, verdict, len(values), _between(over, under, top, bottom), _larger(over, under))


def members_above(meets: np.ndarray, bound: float, what: str) -> Decision:
    """More than a share `bound` of all members would meet a criterion, which those here meet or not, (M,) bool."""
    c = share(meets, bound, _covers())
    return _decision(f"members {what}", c, _above(c, bound), len(meets), _p(c, f"above {bound:.3g}"))


def slope_near(law: PowerLaw, expected: float, within: float, of: str) -> Decision:
    """The slope equals `expected` up to `within`: an equivalence."""
    top, bottom = expected + within, expected - within
    over, under = (_of_slope(law, bound, equivalence=True) for bound in (top, bottom))
    verdict, said = _equivalent(over, under, top, bottom), _between(over, under, top, bottom)
    return _slope(law, over, verdict, said, of, _larger(over, under))


def slope_below(law: PowerLaw, bound: float, of: str) -> Decision:
    """The slope lies below `bound`."""
    c = _of_slope(law, bound)
    return _slope(law, c, _below(c, bound), _p(c, f"below {bound:.3g}"), of)


def slope_above(law: PowerLaw, bound: float, of: str) -> Decision:
    """The slope lies above `bound`."""
    c = _of_slope(law, bound)
    return _slope(law, c, _above(c, bound), _p(c, f"above {bound:.3g}"), of)


def _of_slope(law: PowerLaw, bound: float, equivalence: bool = False) -> Comparison:
    low, high = law.interval(_covers(equivalence))
    test = "bootstrap interval with Student's quantile" + ("; sign flips of members' slopes" if law.flips else "")
    return Comparison(law.slope, low, high, law.tails(bound), "slope", test)


def _above(c: Comparison, null: float) -> Verdict:
    """Whether test and interval agree that the effect lies above `null`, or below; equality up to rounding decides
    nothing."""
    if _rejects(c.tails.above, _level.get() / 2) and c.low > null + ROUNDING:
        return "holds"
    return "contradicted" if _rejects(c.tails.below, _level.get() / 2) and c.high < null - ROUNDING else "inconclusive"


def _below(c: Comparison, null: float) -> Verdict:
    reverse: dict[Verdict, Verdict] = {"holds": "contradicted", "contradicted": "holds"}
    found = _above(c, null)
    return reverse.get(found, found)


def _equivalent(over: Comparison, under: Comparison, top: float, bottom: float) -> Verdict:
    """From comparisons with the two ends, which have one interval."""
    inside = bottom <= over.low and over.high <= top
    if inside and _rejects(over.tails.below, _level.get()) and _rejects(under.tails.above, _level.get()):
        return "holds"
    beyond = over.low > top and _rejects(over.tails.above, _level.get() / 2)
    beneath = over.high < bottom and _rejects(under.tails.below, _level.get() / 2)
    return "contradicted" if beyond or beneath else "inconclusive"


def _rejects(p_value: float, level: float) -> bool:
    """Where there is no p-value, the interval decides alone."""
    return bool(np.isnan(p_value) or p_value <= level)


def _p(c: Comparison, where: str = "") -> str:
    p_value = "" if np.isnan(c.tails.above) else f": p = {c.tails.two_sided:.3g}"
    return ", ".join(filter(None, [f"{c.test}{p_value}", where]))


def _between(over: Comparison, under: Comparison, top: float, bottom: float) -> str:
    p_values = "" if np.isnan(over.tails.below) else f": p = {over.tails.below:.3g} and {under.tails.above:.3g}"
    interval = f"{100 * _covers(equivalence=True):.3g} % interval"
    return f"{over.test}{p_values}, {EQUIVALENCE} against {top:.3g} and {bottom:.3g}, {interval}"


def _time(axis: str) -> str:
    return f"{axis} to learn"


def _members(*arms: Times) -> int:
    return sum(len(times.time) for times in arms)


def _larger(over: Comparison, under: Comparison) -> float:
    """The p-value of an equivalence: the larger one of its two tests."""
    return max(over.tails.below, under.tails.above)


def _slope(
    law: PowerLaw, c: Comparison, verdict: Verdict, test: str, of: str, p_value: float | None = None
) -> Decision:
    ends = " to ".join(f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (law.begins, law.ends))
    window = f"from {ends}, {of.rsplit(' against ', 1)[-1]}"
    return _decision(f"of {of}", c, verdict, law.members, f"{test}; power law {window}", p_value)


def _decision(
    measure: str, c: Comparison, verdict: Verdict, members: int, test: str, p_value: float | None = None
) -> Decision:
    effect, low, high = (None if not np.isfinite(v) else float(v) for v in (c.effect, c.low, c.high))
    p_value = c.tails.two_sided if p_value is None else p_value
    known = None if np.isnan(p_value) else float(p_value)
    return Decision(f"{c.estimand} {measure}", effect, (low, high), verdict, members, test, known)
