"""Everything that a recipe file is written with, in one import; and tests of arms at their best settings.

    from lopsided.recipe import Recipe, Statement, ahead, arm, swept

Tests that take coordinates (`ahead`, `level`, `not_ahead`, `wider_gap`) compare the best arms there, judged members
only; a verdict of all but `level` stands only if it is the same at every setting of the losing side's sweep. For
anything else a statement's test is a function of the results: see `lopsided.stats.decisions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from lopsided.core.recipe import SCALES, ArmSpec, Recipe, Scale, ScaleName, arm, name_of, swept
from lopsided.core.spec import Spec
from lopsided.report.panels import (
    PALETTE,
    Contour,
    Figure,
    Heat,
    Line,
    Panel,
    curves,
    over_members,
    slope_line,
    theory_line,
)
from lopsided.report.sweeps import chosen_rates, tuned_curves, tuned_times
from lopsided.results.every_setting import at_every_setting
from lopsided.results.stored import Arm, Axis, Results
from lopsided.results.sweeps import Tuned, best, bests
from lopsided.stats import decisions
from lopsided.stats.decisions import (
    FIVE_POINTS,
    above,
    below,
    higher,
    members_above,
    near,
    slope_above,
    slope_below,
    slope_near,
)
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Decision, Statement

Arms = Iterator[ArmSpec]
At = Mapping[str, Any]
"""Coordinates of arms."""
Test = Callable[[Results], Decision]
UNITS: dict[Axis, str] = {"steps": "steps", "samples": "compute", "distinct": "distinct samples"}


AHEAD = {"holds": (0,), "contradicted": (1,)}
"""Of (slow, fast): whose other settings speak against a verdict that `fast` is ahead, or is not."""


def ahead(fast: At, *, of: At, axis: Axis = "steps") -> Test:
    """The arm `fast` learns with less of the axis than the arm `of`."""
    faster = partial(decisions.faster, axis=UNITS[axis])
    return lambda r: at_every_setting(r, (of, fast), faster, AHEAD, axis)


def ahead_throughout(fast: At, *, of: At, at: Sequence[float]) -> Test:
    """The arm `fast` reaches each value `at` of the metric that says when a member has learned in fewer steps than the
    arm `of`."""

    def test(r: Results) -> Decision:
        faster = partial(decisions.faster, axis="steps")
        found = [at_every_setting(r, (of, fast), faster, AHEAD, at=value) for value in at]
        return decisions.everywhere(found, [f"at {value:g}" for value in at])

    return test


def level(one: At, other: At, *, within: float = 1.25) -> Test:
    """Neither arm needs more than `within` times the steps of the other."""
    return lambda r: decisions.as_fast(_times(r, other), _times(r, one), "steps", within)


def not_ahead(fast: At, *, of: At, within: float = 1.25) -> Test:
    """The arm `of` needs at most `within` times the steps of the arm `fast`."""
    behind = partial(decisions.not_ahead, axis="steps", within=within)
    return lambda r: at_every_setting(r, (of, fast), behind, {"holds": (1,), "contradicted": (0,)}, large=False)


def wider_gap(wide: At, narrow: At, *, slow: At, fast: At) -> Test:
    """The ratio of steps, `slow` over `fast`, is larger at the coordinates `wide` than at `narrow`."""

    arms = [{**at, **which} for at in (narrow, wide) for which in (slow, fast)]

    def wider(*times: Times) -> Decision:
        return decisions.wider((times[0], times[1]), (times[2], times[3]), "steps")

    return lambda r: at_every_setting(r, arms, wider, {"holds": (1, 2), "contradicted": (0, 3)})


def _times(r: Results, at: At, axis: Axis = "steps") -> Times:
    return best(r, **at).times(axis)


__all__ = [
    "AHEAD",
    "FIVE_POINTS",
    "PALETTE",
    "SCALES",
    "Arm",
    "ArmSpec",
    "Arms",
    "Axis",
    "Claim",
    "Contour",
    "Decision",
    "Figure",
    "Heat",
    "Line",
    "Panel",
    "Recipe",
    "Results",
    "Scale",
    "ScaleName",
    "Spec",
    "Statement",
    "Times",
    "Tuned",
    "above",
    "ahead",
    "ahead_throughout",
    "arm",
    "at_every_setting",
    "below",
    "best",
    "bests",
    "chosen_rates",
    "curves",
    "decisions",
    "higher",
    "level",
    "members_above",
    "name_of",
    "near",
    "not_ahead",
    "over_members",
    "slope_above",
    "slope_below",
    "slope_line",
    "slope_near",
    "swept",
    "theory_line",
    "tuned_curves",
    "tuned_times",
    "wider_gap",
]
