"""The tests that decide claims. The default is `inconclusive`.

Times are `Times` with censored members, values are (M,) numbers of M members, laws are slopes with their interval.
Members of two arms are paired by their place. A claim of an effect is tested on both sides at 5 %: p-value and 95 %
interval have to agree. A claim of an equivalence takes two one-sided tests at 5 % each, and its interval is the 90 %
one that belongs to them; what contradicts it lies outside by a test at 2.5 %.

A claim of a difference that neither test decides may be `negligible`: the equivalence test finds that the difference is
below 25 % (`QUARTER`), or below what the claim names as small. Three questions at one sample cost no more errors than
one: at equality only the two one-sided tests of a difference can be wrong, at a difference of the margin only the
equivalence (J. J. Goeman, A. Solari, T. Stijnen, "Three-sided hypothesis testing", 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from lopsided.stats.compare import Comparison, centre, compare_gaps, compare_times, compare_values, share
from lopsided.stats.slopes import PowerLaw
from lopsided.stats.times import Times
from lopsided.stats.verdict import EQUIVALENCE, Decision, Verdict

ROUNDING = 1e-9
QUARTER = 1.25
"""Ratios within this factor of 1 are of no difference that would matter."""
SMALL_RATIO = 1 / QUARTER, QUARTER
FIVE_POINTS = 0.05
"""Accuracies, and other shares, within this of one another are of no difference that would matter."""
Side = Callable[[Comparison, float], Verdict]
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
    """`fast` learns in less of `axis` than `slow`, by more than a factor `at_least`. Without one, a difference that is
    certainly below 25 % is `negligible`."""
    c = compare_times(slow, fast, at_least, _covers())
    found = _decision(_time(axis), c, _above(c, at_least), _members(slow, fast), _p(c))
    return _unless_small(found, SMALL_RATIO, lambda: as_fast(slow, fast, axis)) if at_least == 1 else found


def everywhere(found: Sequence[Decision], where: Sequence[str]) -> Decision:
    """One claim at several places: it holds, or is negligible, if it does at each of them, and is contradicted if it is
    at one (an intersection-union test, which needs no correction). Effect and interval are those of the place with the
    largest p-value; if the claim is contradicted, of the place with the smallest one among those that say so."""
    p_values = [1.0 if each.p_value is None else each.p_value for each in found]
    against = [i for i, each in enumerate(found) if each.verdict == "contradicted"]
    shown = min(against, key=lambda i: p_values[i]) if against else int(np.argmax(p_values))
    verdicts = {each.verdict for each in found}
    verdict: Verdict = "contradicted" if against else "inconclusive"
    if len(verdicts) == 1:
        verdict = found[0].verdict
    each_p = ", ".join(f"{p:.3g} {at}" for p, at in zip(p_values, where, strict=True))
    which = f"contradicted ({where[shown]}), which" if against else "the weakest"
    test = f"{found[shown].test}; at each place p = {each_p}; {which} is shown"
    return found[shown]._replace(verdict=verdict, test=test)


def as_fast(slow: Times, fast: Times, axis: str, within: float = QUARTER) -> Decision:
    """Neither arm is more than a factor `within` faster: an equivalence."""
    over, under = (compare_times(slow, fast, bound, _covers(equivalence=True)) for bound in (within, 1 / within))
    return _equivalence(_time(axis), over, under, within, 1 / within, _members(slow, fast))


def not_ahead(slow: Times, fast: Times, axis: str, within: float = QUARTER) -> Decision:
    """`fast` is not more than a factor `within` ahead (one side of `as_fast`)."""
    c = compare_times(slow, fast, within, _covers())
    return _decision(_time(axis), c, _below(c, within), _members(slow, fast), _p(c, f"below {within:.3g}"))


def wider(narrow: tuple[Times, Times], wide: tuple[Times, Times], axis: str) -> Decision:
    """The gap slow / fast of `wide` exceeds that of `narrow`. If they certainly differ by less than 25 %, the
    difference is `negligible`."""
    c, members = compare_gaps(narrow, wide, 1.0, _covers()), _members(*narrow, *wide)

    def equal() -> Decision:
        under, over = (compare_gaps(narrow, wide, end, _covers(equivalence=True)) for end in SMALL_RATIO)
        return _equivalence(_time(axis), over, under, QUARTER, 1 / QUARTER, members)

    return _unless_small(_decision(_time(axis), c, _above(c, 1.0), members, _p(c)), SMALL_RATIO, equal)


def higher(low: np.ndarray, high: np.ndarray, what: str, small: float | None = None) -> Decision:
    """`high` exceeds `low`. If the mean within-seed difference certainly lies within `small` of 0, it is
    `negligible`."""
    c = compare_values(low, high, _covers())
    found = _decision(what, c, _above(c, 0.0), len(low) + len(high), _p(c))
    if small is None or len(low) != len(high):
        return found
    equal = near(high - low, 0.0, small, f"within-seed difference of {what}")
    return _unless_small(found, (-small, small), lambda: equal._replace(members=found.members))


def below(values: np.ndarray, bound: float, what: str, ratio: bool = False) -> Decision:
    """The mean of `values` lies below `bound`. With `ratio` it is the geometric mean, for positive quantities; if
    `bound` is 1 and that mean certainly lies between .8 and 1.25, the verdict is `negligible`."""
    return _centred(values, bound, what, ratio, _below, "below")


def above(values: np.ndarray, bound: float, what: str, ratio: bool = False) -> Decision:
    """The mean of `values` lies above `bound`. With `ratio` it is the geometric mean, for positive quantities; if
    `bound` is 1 and that mean certainly lies between .8 and 1.25, the verdict is `negligible`."""
    return _centred(values, bound, what, ratio, _above, "above")


def _centred(values: np.ndarray, bound: float, what: str, ratio: bool, side: Side, word: str) -> Decision:
    c = centre(values, bound, _covers(), ratio)
    found = _decision(what, c, side(c, bound), len(values), _p(c, f"{word} {bound:.3g}"))
    if not ratio or bound != 1:
        return found

    def equal() -> Decision:
        over, under = (centre(values, end, _covers(equivalence=True), ratio=True) for end in (QUARTER, 1 / QUARTER))
        return _equivalence(what, over, under, QUARTER, 1 / QUARTER, len(values))

    return _unless_small(found, SMALL_RATIO, equal)


def near(values: np.ndarray, expected: float, within: float, what: str, ratio: bool = False) -> Decision:
    """The mean of `values` (M,) lies within `expected` ± `within`: a test of equivalence.

    With `ratio`, for ratios of positive quantities, the geometric mean lies within a factor 1 + `within` of `expected`.
    The arithmetic mean will not do: those of a / b and of b / a can both exceed 1.
    """
    top, bottom = expected + within, expected - within
    if ratio:
        top, bottom = expected * (1 + within), expected / (1 + within)
    over, under = (centre(values, bound, _covers(equivalence=True), ratio) for bound in (top, bottom))
    return _equivalence(what, over, under, top, bottom, len(values))


def members_above(meets: np.ndarray, bound: float, what: str) -> Decision:
    """More than a share `bound` of all members would meet a criterion, which those here meet or not, (M,) bool."""
    c = share(meets, bound, _covers())
    return _decision(f"members {what}", c, _above(c, bound), len(meets), _p(c, f"above {bound:.3g}"))


def slope_near(law: PowerLaw, expected: float, within: float, of: str) -> Decision:
    """The slope equals `expected` up to `within`: an equivalence."""
    top, bottom = expected + within, expected - within
    over, under = (_of_slope(law, bound, equivalence=True) for bound in (top, bottom))
    return _windowed(_equivalence(f"of {of}", over, under, top, bottom, law.members), law, of)


def slope_below(law: PowerLaw, bound: float, of: str, small: float | None = None) -> Decision:
    """The slope lies below `bound`. If it certainly lies within `small` of it, the difference is `negligible`."""
    return _beside(law, bound, of, _below, f"below {bound:.3g}", small)


def slope_above(law: PowerLaw, bound: float, of: str, small: float | None = None) -> Decision:
    """The slope lies above `bound`. If it certainly lies within `small` of it, the difference is `negligible`."""
    return _beside(law, bound, of, _above, f"above {bound:.3g}", small)


def _beside(law: PowerLaw, bound: float, of: str, side: Side, where: str, small: float | None) -> Decision:
    c = _of_slope(law, bound)
    found = _windowed(_decision(f"of {of}", c, side(c, bound), law.members, _p(c, where)), law, of)
    if small is None:
        return found
    return _unless_small(found, (bound - small, bound + small), lambda: slope_near(law, bound, small, of))


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


def _windowed(found: Decision, law: PowerLaw, of: str) -> Decision:
    """The decision on a slope, with the stretch that the law was fitted on."""
    ends = " to ".join(f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (law.begins, law.ends))
    window = f"from {ends}, {of.rsplit(' against ', 1)[-1]}"
    return found._replace(test=f"{found.test}; power law {window}")


def _equivalence(
    measure: str, over: Comparison, under: Comparison, top: float, bottom: float, members: int
) -> Decision:
    """From comparisons with the two ends of what counts as equal; the p-value is the larger one of the two tests."""
    verdict, said = _equivalent(over, under, top, bottom), _between(over, under, top, bottom)
    return _decision(measure, over, verdict, members, said, max(over.tails.below, under.tails.above))


def _unless_small(found: Decision, small: tuple[float, float], equal: Callable[[], Decision]) -> Decision:
    """`found`, by a test of a difference. If that decides nothing, but the equivalence test `equal` holds, the verdict
    is `negligible`."""
    if found.verdict == "inconclusive" and (closer := equal()).verdict == "holds":
        found = closer._replace(verdict="negligible")
    return found._replace(small=small)


def _decision(
    measure: str, c: Comparison, verdict: Verdict, members: int, test: str, p_value: float | None = None
) -> Decision:
    effect, low, high = (None if not np.isfinite(v) else float(v) for v in (c.effect, c.low, c.high))
    p_value = c.tails.two_sided if p_value is None else p_value
    known = None if np.isnan(p_value) else float(p_value)
    return Decision(f"{c.estimand} {measure}", effect, (low, high), verdict, members, test, known)
