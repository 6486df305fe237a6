"""Claims about power laws: the slope of one on log axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lopsided.claims.kind import Kind, Reading
from lopsided.results.stored import Results
from lopsided.stats import decisions
from lopsided.stats.decisions import LEVEL
from lopsided.stats.verdict import Decision


@dataclass(frozen=True, eq=False)
class SlopeNear(Kind):
    """The slope of a law equals `expected` up to `within`: an equivalence. `what`: "log loss against steps"."""

    kind: ClassVar[str] = "slope-near"
    law: Reading
    expected: float
    within: float
    what: str

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.law,)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.slope_near(self.law.read(results), self.expected, self.within, self.what, level)


@dataclass(frozen=True, eq=False)
class SlopeBelow(Kind):
    """The slope of a law lies below a bound. One that certainly lies within `small` of it is negligibly so."""

    kind: ClassVar[str] = "slope-below"
    law: Reading
    bound: float
    what: str
    small: float | None = None

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.law,)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.slope_below(self.law.read(results), self.bound, self.what, self.small, level)


@dataclass(frozen=True, eq=False)
class SlopeAbove(Kind):
    """The slope of a law lies above a bound. One that certainly lies within `small` of it is negligibly so."""

    kind: ClassVar[str] = "slope-above"
    law: Reading
    bound: float
    what: str
    small: float | None = None

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.law,)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.slope_above(self.law.read(results), self.bound, self.what, self.small, level)
