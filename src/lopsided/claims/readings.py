"""What tests read: times to learn at the best of swept settings, times to a value, final values, or any function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lopsided.claims.as_text import ONLY_OPENS
from lopsided.claims.kind import End, Reading
from lopsided.claims.places import Arms, At, arms_at, best_names, the_arm_at
from lopsided.results.stored import Axis, Results
from lopsided.results.sweeps import Tuned, best
from lopsided.stats.times import Times

EVERY: At = {}
"""All arms of the recipe."""


@dataclass(frozen=True, eq=False)
class Best(Reading):
    """Times to learn, by the arm's own rule, of the best arm at these coordinates."""

    at: At

    @property
    def places(self) -> tuple[At, ...]:
        return (self.at,)

    def reads(self, arms: Arms, frozen: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(best_names(arms, self.at, frozen))

    def chosen(self, results: Results) -> list[Tuned]:
        return [best(results, **self.at)]

    def read(self, results: Results, axis: Axis = "steps") -> Times:
        return best(results, **self.at).times(axis)


@dataclass(frozen=True, eq=False)
class Reaches(Reading):
    """Times at which the one arm at these coordinates reaches a value of a metric, and holds it at the next
    evaluation."""

    at: At
    metric: str
    value: float

    @property
    def places(self) -> tuple[At, ...]:
        return (self.at,)

    @property
    def metrics(self) -> tuple[tuple[At, str], ...]:
        return ((self.at, self.metric),)

    def reads(self, arms: Arms, frozen: Sequence[str] = ()) -> tuple[str, ...]:
        return (the_arm_at(arms, self.at),)

    def read(self, results: Results, axis: Axis = "steps") -> Times:
        return results.arm(**self.at).times(self.metric, self.value, axis)


@dataclass(frozen=True, eq=False)
class Final(Reading):
    """(M,) values of a metric at the end of training, of the one arm at these coordinates."""

    at: At
    metric: str = "test/accuracy"

    @property
    def places(self) -> tuple[At, ...]:
        return (self.at,)

    @property
    def metrics(self) -> tuple[tuple[At, str], ...]:
        return ((self.at, self.metric),)

    @property
    def ends(self) -> tuple[End, ...]:
        return (End(self.at, self.metric),)

    def reads(self, arms: Arms, frozen: Sequence[str] = ()) -> tuple[str, ...]:
        return (the_arm_at(arms, self.at),)

    def read(self, results: Results, axis: Axis = "steps") -> Any:
        return results.arm(**self.at).final(self.metric)


@dataclass(frozen=True, eq=False)
class Measured(Reading):
    """What a function makes of results: (M,) numbers, `Times`, or a law. `of` are coordinates of the arms that it may
    read; it is given no others. `level_of` names the metric whose level at the end of training it measures, if it does.
    `grid`, where numbers are made of times: how far apart evaluations lie, as a share of these times (for example by
    `evaluations_apart`).
    """

    function: Callable[[Results], Any]
    of: tuple[At, ...] | At = (EVERY,)
    level_of: str = ""
    grid: Callable[[Results], float] | None = field(default=None, metadata={ONLY_OPENS: True})

    @property
    def places(self) -> tuple[At, ...]:
        return self.of if isinstance(self.of, tuple) else (self.of,)

    @property
    def ends(self) -> tuple[End, ...]:
        return tuple(End(at, self.level_of) for at in self.places) if self.level_of else ()

    def read(self, results: Results, axis: Axis = "steps") -> Any:
        return self.function(only(results, self.places))

    def apart(self, results: Results) -> float:
        """How far apart evaluations lie, as a share of the times that the numbers are made of; 0 where that is not
        known. (`Times` know it by themselves.)"""
        return self.grid(only(results, self.places)) if self.grid else 0.0


def reading(of: At | Reading) -> Reading:
    """Coordinates stand for the best arm there."""
    return of if isinstance(of, Reading) else Best(of)


def only(results: Results, places: Sequence[At]) -> Results:
    """The results of the arms at these places; the same object if these are all."""
    names = {name for at in places for name in arms_at(results.arms, at)}
    return results if len(names) == len(results.arms) else results.of(names)
