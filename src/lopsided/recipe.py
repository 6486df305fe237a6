"""Everything that a recipe file is written with, in one import; and tests of arms at their best settings.

    from lopsided.recipe import Recipe, Statement, ahead, arm, swept

Tests that take coordinates (`ahead`, `level`, `not_ahead`, `wider_gap`) compare the best arms there, judged members
only. For anything else a statement's test is a function of the results: see `lopsided.stats.decisions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from lopsided.results.stored import Arm, Axis, Results
from lopsided.results.sweeps import Tuned, best, bests
from lopsided.stats import decisions
from lopsided.stats.decisions import above, below, higher, members_above, near, slope_above, slope_below, slope_near
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Decision, Statement

Arms = Iterator[ArmSpec]
At = Mapping[str, Any]
"""Coordinates of arms."""
Test = Callable[[Results], Decision]
UNITS: dict[Axis, str] = {"steps": "steps", "samples": "compute", "distinct": "distinct samples"}


def ahead(fast: At, *, of: At, axis: Axis = "steps") -> Test:
    """The arm `fast` learns with less of the axis than the arm `of`."""
    return lambda r: decisions.faster(_times(r, of, axis), _times(r, fast, axis), UNITS[axis])


def ahead_throughout(fast: At, *, of: At, at: Sequence[float]) -> Test:
    """The arm `fast` reaches each value `at` of the metric that says when a member has learned in fewer steps than the
    arm `of`."""

    def test(r: Results) -> Decision:
        slow_arm, fast_arm = best(r, **of), best(r, **fast)
        found = [decisions.faster(slow_arm.times(at=value), fast_arm.times(at=value), "steps") for value in at]
        return decisions.everywhere(found, [f"at {value:g}" for value in at])

    return test


def level(one: At, other: At, *, within: float = 1.25) -> Test:
    """Neither arm needs more than `within` times the steps of the other."""
    return lambda r: decisions.as_fast(_times(r, other), _times(r, one), "steps", within)


def not_ahead(fast: At, *, of: At, within: float = 1.25) -> Test:
    """The arm `of` needs at most `within` times the steps of the arm `fast`."""
    return lambda r: decisions.not_ahead(_times(r, of), _times(r, fast), "steps", within)


def wider_gap(wide: At, narrow: At, *, slow: At, fast: At) -> Test:
    """The ratio of steps, `slow` over `fast`, is larger at the coordinates `wide` than at `narrow`."""

    def gap(r: Results, at: At) -> tuple[Times, Times]:
        return _times(r, {**at, **slow}), _times(r, {**at, **fast})

    return lambda r: decisions.wider(gap(r, narrow), gap(r, wide), "steps")


def _times(r: Results, at: At, axis: Axis = "steps") -> Times:
    return best(r, **at).times(axis)


__all__ = [
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
