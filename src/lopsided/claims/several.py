"""One claim at several places, and claims that no other kind says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lopsided.claims.kind import Kind, Reading
from lopsided.claims.places import At
from lopsided.claims.readings import EVERY, Measured, only
from lopsided.results.stored import Results
from lopsided.stats import decisions
from lopsided.stats.decisions import LEVEL
from lopsided.stats.verdict import Decision


@dataclass(frozen=True, eq=False)
class Everywhere(Kind):
    """Each of several tests, by the name of its place: the claim holds if each of them does, and is contradicted if one
    of them is (an intersection-union test, which needs no correction)."""

    kind: ClassVar[str] = "everywhere"
    tests: Mapping[str, Kind]

    @property
    def readings(self) -> tuple[Reading, ...]:
        return tuple(each for test in self.tests.values() for each in test.readings)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.everywhere([test.decide(results, level) for test in self.tests.values()], list(self.tests))


@dataclass(frozen=True, eq=False)
class Custom(Kind):
    """What a function of results and level decides, by the functions of `lopsided.stats.decisions`. `of` are
    coordinates of the arms that it may read; it is given no others. `level_of` names the metric whose level at the end
    of training it rests on, if it does."""

    kind: ClassVar[str] = "custom"
    function: Callable[[Results, float], Decision]
    of: tuple[At, ...] | At = (EVERY,)
    level_of: str = ""

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (Measured(_nothing, self.of, self.level_of),)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return self.function(only(results, self.readings[0].places), level)


def _nothing(results: Results) -> Any:
    """A custom test reads by itself."""
