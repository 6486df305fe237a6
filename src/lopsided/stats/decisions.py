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

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from lopsided.stats.bounded import coarseness, no_finer_than_seen, on_a_grid
from lopsided.stats.compare import Effect, centre, compare_gaps, compare_times, compare_values, share
from lopsided.stats.slopes import LogSlope
from lopsided.stats.times import Times
from lopsided.stats.verdict import Decision, Verdict, Window

LEVEL = 0.05
"""Level of every test that is made once. Claims that are looked at while seeds come in have levels of their own
(`lopsided.stats.sequential`)."""
QUARTER = 1.25
"""Ratios within this factor of 1 are of no difference that would matter."""
SMALL_RATIO = 1 / QUARTER, QUARTER
FIVE_POINTS = 0.05
"""Accuracies, and other shares, within this of one another are of no difference that would matter."""
Side = Literal["above", "below"]


def faster(
    slow: Times,
    fast: Times,
    axis: str,
    at_least: float = 1.0,
    level: float = LEVEL,
    paired: bool = True,
    small: bool = True,
) -> Decision:
    """`fast` learns in less of `axis` than `slow`, by more than a factor `at_least`. Without one, a difference that is
    certainly below 25 % is `negligible` (unless `small` is false: to some, a percent matters)."""
    c = compare_times(slow, fast, at_least, 1 - level, paired)
    if at_least != 1:
        found = _beside(_time(axis), c, at_least, "above", _members(slow, fast), level)
        return on_a_grid(found, coarseness(slow, fast))
    found = _decision(_time(axis), c, _above(c, 1.0, level), _members(slow, fast), 1 - level)
    if small:
        found = _unless_small(found, SMALL_RATIO, lambda: as_fast(slow, fast, axis, level=level, paired=paired))
    return no_finer_than_seen(found, QUARTER, slow, fast)


def of_comparison(what: str, c: Effect, null: float, level: float = LEVEL) -> Decision:
    """The effect of a comparison that was made at `level` lies above `null`."""
    return _decision(what, c, _above(c, null, level), 0, 1 - level)


def everywhere(found: Sequence[Decision], where: Sequence[str]) -> Decision:
    """One claim at several places: it holds, or is negligible, if it does at each of them, and is contradicted if it is
    at one (an intersection-union test, which needs no correction). Effect and interval are those of the place with the
    largest p-value; if the claim is contradicted, of the place with the smallest one among those that say so."""
    if needs := tuple(dict.fromkeys(name for each in found for name in each.needs)):
        return found[0]._replace(verdict="inconclusive", needs=needs)
    p_values = [1.0 if each.p_value is None else each.p_value for each in found]
    against = [i for i, each in enumerate(found) if each.verdict == "contradicted"]
    shown = min(against, key=lambda i: p_values[i]) if against else int(np.argmax(p_values))
    verdicts = {each.verdict for each in found}
    verdict: Verdict = "contradicted" if against else "inconclusive"
    if len(verdicts) == 1:
        verdict = found[0].verdict
    return found[shown]._replace(
        verdict=verdict,
        places=tuple(zip(where, p_values, strict=True)),
        contradicted_at=where[shown] if against else "",
    )


def as_fast(
    slow: Times, fast: Times, axis: str, within: float = QUARTER, level: float = LEVEL, paired: bool = True
) -> Decision:
    """Neither arm is more than a factor `within` faster: an equivalence."""
    over, under = (compare_times(slow, fast, bound, 1 - 2 * level, paired) for bound in (within, 1 / within))
    found = _equivalence(_time(axis), over, under, within, 1 / within, _members(slow, fast), level)
    return no_finer_than_seen(found, within, slow, fast)


def not_ahead(slow: Times, fast: Times, axis: str, within: float = QUARTER, level: float = LEVEL) -> Decision:
    """`fast` is not more than a factor `within` ahead (one side of `as_fast`)."""
    c = compare_times(slow, fast, within, 1 - level)
    found = _beside(_time(axis), c, within, "below", _members(slow, fast), level)
    return no_finer_than_seen(found, within, slow, fast)


def wider(narrow: tuple[Times, Times], wide: tuple[Times, Times], axis: str, level: float = LEVEL) -> Decision:
    """The gap slow / fast of `wide` exceeds that of `narrow`. If they certainly differ by less than 25 %, the
    difference is `negligible`."""
    c, members = compare_gaps(narrow, wide, 1.0, 1 - level), _members(*narrow, *wide)

    def equal() -> Decision:
        under, over = (compare_gaps(narrow, wide, end, 1 - 2 * level) for end in SMALL_RATIO)
        return _equivalence(_time(axis), over, under, QUARTER, 1 / QUARTER, members, level)

    found = _unless_small(_decision(_time(axis), c, _above(c, 1.0, level), members, 1 - level), SMALL_RATIO, equal)
    return no_finer_than_seen(found, QUARTER, *narrow, *wide)


def higher(
    low: np.ndarray,
    high: np.ndarray,
    what: str,
    small: float | None = None,
    level: float = LEVEL,
    paired: bool = True,
) -> Decision:
    """`high` exceeds `low`. If the mean within-seed difference certainly lies within `small` of 0, it is
    `negligible`."""
    c = compare_values(low, high, 1 - level, paired)
    found = _decision(what, c, _above(c, 0.0, level), len(low) + len(high), 1 - level)
    if small is None or not paired or len(low) != len(high):
        return found
    equal = near(high - low, 0.0, small, f"within-seed difference of {what}", level=level)
    return _unless_small(found, (-small, small), lambda: equal._replace(members=found.members))


def below(values: np.ndarray, bound: float, what: str, ratio: bool = False, level: float = LEVEL) -> Decision:
    """The mean of `values` lies below `bound`. With `ratio` it is the geometric mean, for positive quantities; if
    `bound` is 1 and that mean certainly lies between 0.8 and 1.25, the verdict is `negligible`."""
    return _centred(values, bound, what, ratio, "below", level)


def above(values: np.ndarray, bound: float, what: str, ratio: bool = False, level: float = LEVEL) -> Decision:
    """The mean of `values` lies above `bound`. With `ratio` it is the geometric mean, for positive quantities; if
    `bound` is 1 and that mean certainly lies between 0.8 and 1.25, the verdict is `negligible`."""
    return _centred(values, bound, what, ratio, "above", level)


def _centred(values: np.ndarray, bound: float, what: str, ratio: bool, side: Side, level: float) -> Decision:
    found = _beside(what, centre(values, bound, 1 - level, ratio), bound, side, len(values), level)
    if not ratio or bound != 1:
        return found

    def equal() -> Decision:
        over, under = (centre(values, end, 1 - 2 * level, ratio=True) for end in (QUARTER, 1 / QUARTER))
        return _equivalence(what, over, under, QUARTER, 1 / QUARTER, len(values), level)

    return _unless_small(found, SMALL_RATIO, equal)


def near(
    values: np.ndarray, expected: float, within: float, what: str, ratio: bool = False, level: float = LEVEL
) -> Decision:
    """The mean of `values` (M,) lies within `expected` ± `within`: a test of equivalence.

    With `ratio`, for ratios of positive quantities, the geometric mean lies within a factor 1 + `within` of `expected`.
    The arithmetic mean will not do: those of a / b and of b / a can both exceed 1.
    """
    top, bottom = expected + within, expected - within
    if ratio:
        top, bottom = expected * (1 + within), expected / (1 + within)
    over, under = (centre(values, bound, 1 - 2 * level, ratio) for bound in (top, bottom))
    return _equivalence(what, over, under, top, bottom, len(values), level)


def members_above(meets: np.ndarray, bound: float, what: str, level: float = LEVEL) -> Decision:
    """More than a share `bound` of all members would meet a criterion, which those here meet or not, (M,) bool."""
    return _beside(f"members {what}", share(meets, bound, 1 - level), bound, "above", len(meets), level)


def slope_near(law: LogSlope, expected: float, within: float, of: str, level: float = LEVEL) -> Decision:
    """The slope equals `expected` up to `within`: an equivalence."""
    top, bottom = expected + within, expected - within
    over, under = (_of_slope(law, bound, 1 - 2 * level) for bound in (top, bottom))
    return _windowed(_equivalence(of, over, under, top, bottom, law.members, level), law)


def slope_below(law: LogSlope, bound: float, of: str, small: float | None = None, level: float = LEVEL) -> Decision:
    """The slope lies below `bound`. If it certainly lies within `small` of it, the difference is `negligible`."""
    return _slope_beside(law, bound, of, "below", small, level)


def slope_above(law: LogSlope, bound: float, of: str, small: float | None = None, level: float = LEVEL) -> Decision:
    """The slope lies above `bound`. If it certainly lies within `small` of it, the difference is `negligible`."""
    return _slope_beside(law, bound, of, "above", small, level)


def _slope_beside(law: LogSlope, bound: float, of: str, side: Side, small: float | None, level: float) -> Decision:
    found = _windowed(_beside(of, _of_slope(law, bound, 1 - level), bound, side, law.members, level), law)
    if small is None:
        return found
    return _unless_small(found, (bound - small, bound + small), lambda: slope_near(law, bound, small, of, level))


def _of_slope(law: LogSlope, bound: float, covers: float) -> Effect:
    low, high = law.interval(covers)
    test = "bootstrap interval with Student's quantile" + ("; sign flips of members' slopes" if law.flips else "")
    return Effect(law.slope, low, high, law.tails(bound), "slope of", test)


def _above(c: Effect, null: float, level: float) -> Verdict:
    """Whether test and interval agree that the effect lies above `null`, or below; equality up to rounding decides
    nothing."""
    if _rejects(c.tails.above, level / 2) and c.low > null + c.rounding:
        return "holds"
    return "contradicted" if _rejects(c.tails.below, level / 2) and c.high < null - c.rounding else "inconclusive"


def _below(c: Effect, null: float, level: float) -> Verdict:
    reverse: dict[Verdict, Verdict] = {"holds": "contradicted", "contradicted": "holds"}
    found = _above(c, null, level)
    return reverse.get(found, found)


def _equivalent(over: Effect, under: Effect, top: float, bottom: float, level: float) -> Verdict:
    """From comparisons with the two ends, which have one interval."""
    inside = bottom <= over.low and over.high <= top
    if inside and _rejects(over.tails.below, level) and _rejects(under.tails.above, level):
        return "holds"
    beyond = over.low > top and _rejects(over.tails.above, level / 2)
    beneath = over.high < bottom and _rejects(under.tails.below, level / 2)
    return "contradicted" if beyond or beneath else "inconclusive"


def _rejects(p_value: float, level: float) -> bool:
    """Where there is no p-value, the interval decides alone."""
    return bool(np.isnan(p_value) or p_value <= level)


def _time(axis: str) -> str:
    return f"{axis} to learn"


def _members(*arms: Times) -> int:
    return sum(len(times.time) for times in arms)


def _windowed(found: Decision, law: LogSlope) -> Decision:
    """The decision on a slope, with the stretch that the law was fitted on."""
    along = found.unit.rsplit(" against ", 1)[-1]
    return found._replace(window=Window(float(law.begins), float(law.ends), along))


def _beside(what: str, c: Effect, bound: float, side: Side, members: int, level: float) -> Decision:
    """On which side of a bound an effect lies."""
    verdict = (_above if side == "above" else _below)(c, bound, level)
    return _decision(what, c, verdict, members, 1 - level)._replace(bounds=(float(bound),), side=side)


def _equivalence(
    unit: str, over: Effect, under: Effect, top: float, bottom: float, members: int, level: float
) -> Decision:
    """From comparisons with the two ends of what counts as equal; the p-value is the larger one of the two tests."""
    verdict, larger = _equivalent(over, under, top, bottom, level), max(over.tails.below, under.tails.above)
    found = _decision(unit, over, verdict, members, 1 - 2 * level)
    tested = not np.isnan(over.tails.below)
    return found._replace(
        p_value=None if np.isnan(larger) else float(larger),
        p_values=(float(over.tails.below), float(under.tails.above)) if tested else (),
        bounds=(float(top), float(bottom)),
    )


def _unless_small(found: Decision, small: tuple[float, float], equal: Callable[[], Decision]) -> Decision:
    """`found`, by a test of a difference. If that decides nothing, but the equivalence test `equal` holds, the verdict
    is `negligible`; if only its evaluations are too far apart for that, this is the reason."""
    if found.verdict == "inconclusive":
        closer = equal()
        if closer.verdict == "holds":
            found = closer._replace(verdict="negligible")
        elif closer.reason == "grid":
            found = found._replace(reason="grid")
    return found._replace(small=small)


def _decision(unit: str, c: Effect, verdict: Verdict, members: int, coverage: float) -> Decision:
    effect, low, high = (None if not np.isfinite(v) else float(v) for v in (c.effect, c.low, c.high))
    known = None if np.isnan(c.tails.two_sided) else float(c.tails.two_sided)
    return Decision(
        c.estimand,
        unit,
        effect,
        (low, high),
        verdict,
        members,
        c.test,
        known,
        ratio=c.ratio,
        coverage=coverage,
        p_values=() if known is None else (known,),
        reason="grid" if c.coarse else "diverged" if c.missing else "",
    )
