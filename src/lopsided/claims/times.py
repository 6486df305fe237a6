"""Claims about times to learn. Coordinates stand for the best arm there, at its best setting, and the members that it
is judged by; then a verdict has to hold at every other setting of the side that it speaks against, too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from lopsided.claims.kind import UNITS, Kind, Reading
from lopsided.claims.places import At
from lopsided.claims.readings import Best, reading
from lopsided.results.every_setting import Adverse, at_every_setting
from lopsided.results.stored import Axis, Results
from lopsided.stats import decisions
from lopsided.stats.decisions import LEVEL, QUARTER
from lopsided.stats.times import Times
from lopsided.stats.verdict import Decision

AHEAD: Adverse = {"holds": (0,), "contradicted": (1,)}
"""Verdict -> index in (slow, fast) of the arm whose other settings must give the same verdict."""
BEHIND: Adverse = {"holds": (1,), "contradicted": (0,)}


@dataclass(frozen=True, eq=False)
class Ahead(Kind):
    """`fast` learns with less of the axis than `of`, by more than a factor `at_least`. `unit` is the name of what times
    count that a function measured."""

    kind: ClassVar[str] = "ahead"
    fast: At | Reading
    of: At | Reading
    axis: Axis = "steps"
    at_least: float = 1.0
    unit: str = ""

    @property
    def readings(self) -> tuple[Reading, ...]:
        return reading(self.of), reading(self.fast)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        faster = partial(decisions.faster, axis=self.unit or UNITS[self.axis], at_least=self.at_least, level=level)
        return _compared(results, self.readings, faster, AHEAD, self.axis)


@dataclass(frozen=True, eq=False)
class AheadThroughout(Kind):
    """`fast` reaches each value `at` of the metric that says when a member has learned in fewer steps than `of`."""

    kind: ClassVar[str] = "ahead-throughout"
    fast: At
    of: At
    at: tuple[float, ...]

    @property
    def readings(self) -> tuple[Reading, ...]:
        return Best(self.of), Best(self.fast)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        faster = partial(decisions.faster, axis="steps", level=level)
        found = [at_every_setting(results, (self.of, self.fast), faster, AHEAD, at=value) for value in self.at]
        return decisions.everywhere(found, [f"at {value:g}" for value in self.at])


@dataclass(frozen=True, eq=False)
class Level(Kind):
    """Neither arm needs more than `within` times what the other needs: an equivalence."""

    kind: ClassVar[str] = "level"
    one: At | Reading
    other: At | Reading
    within: float = QUARTER
    axis: Axis = "steps"
    unit: str = ""

    @property
    def readings(self) -> tuple[Reading, ...]:
        return reading(self.one), reading(self.other)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        one, other = _times(results, self.readings, self.axis)
        return decisions.as_fast(other, one, self.unit or UNITS[self.axis], self.within, level)


@dataclass(frozen=True, eq=False)
class NotAhead(Kind):
    """`of` needs at most `within` times what `fast` needs."""

    kind: ClassVar[str] = "not-ahead"
    fast: At | Reading
    of: At | Reading
    within: float = QUARTER
    axis: Axis = "steps"
    unit: str = ""

    @property
    def readings(self) -> tuple[Reading, ...]:
        return reading(self.of), reading(self.fast)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        behind = partial(decisions.not_ahead, axis=self.unit or UNITS[self.axis], within=self.within, level=level)
        return _compared(results, self.readings, behind, BEHIND, self.axis, large=False)


@dataclass(frozen=True, eq=False)
class WiderGap(Kind):
    """The ratio of steps, `slow` over `fast`, is larger at the coordinates `wide` than at `narrow`."""

    kind: ClassVar[str] = "wider-gap"
    wide: At
    narrow: At
    slow: At
    fast: At

    @property
    def arms(self) -> tuple[At, ...]:
        """The narrow gap's slow and fast side, then the wide gap's."""
        return tuple({**at, **which} for at in (self.narrow, self.wide) for which in (self.slow, self.fast))

    @property
    def readings(self) -> tuple[Reading, ...]:
        return tuple(map(Best, self.arms))

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        def wider(*times: Times) -> Decision:
            return decisions.wider((times[0], times[1]), (times[2], times[3]), "steps", level)

        return at_every_setting(results, self.arms, wider, {"holds": (1, 2), "contradicted": (0, 3)})


def _compared(
    results: Results, sides: tuple[Reading, ...], decide: partial, adverse: Adverse, axis: Axis, large: bool = True
) -> Decision:
    """At every setting where both sides are best arms, else of the times as they are."""
    places = [side.at for side in sides if isinstance(side, Best)]
    if len(places) == len(sides):
        return at_every_setting(results, places, decide, adverse, axis, large=large)
    return decide(*_times(results, sides, axis))


def _times(results: Results, sides: tuple[Reading, ...], axis: Axis) -> list[Times]:
    return [side.read(results, axis) for side in sides]
