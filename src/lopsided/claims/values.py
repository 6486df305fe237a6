"""Claims about numbers of members: one arm against another, or all against a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lopsided.claims.kind import Kind, Reading
from lopsided.results.stored import Results
from lopsided.stats import decisions
from lopsided.stats.decisions import LEVEL
from lopsided.stats.verdict import Decision


@dataclass(frozen=True, eq=False)
class Higher(Kind):
    """The values `high` exceed those of `than`. A mean difference that certainly lies within `small` of 0 is
    negligible."""

    kind: ClassVar[str] = "higher"
    high: Reading
    than: Reading
    what: str
    small: float | None = None

    @property
    def readings(self) -> tuple[Reading, ...]:
        return self.than, self.high

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.higher(self.than.read(results), self.high.read(results), self.what, self.small, level)


@dataclass(frozen=True, eq=False)
class Lower(Kind):
    """The values `low` lie below those of `than`; the effect is by how much. A mean difference that certainly lies
    within `small` of 0 is negligible."""

    kind: ClassVar[str] = "lower"
    low: Reading
    than: Reading
    what: str
    small: float | None = None

    @property
    def readings(self) -> tuple[Reading, ...]:
        return self.low, self.than

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.higher(self.low.read(results), self.than.read(results), self.what, self.small, level)


@dataclass(frozen=True, eq=False)
class Above(Kind):
    """The mean of the values lies above a bound; with `ratio` their geometric mean, for positive quantities."""

    kind: ClassVar[str] = "above"
    of: Reading
    bound: float
    what: str
    ratio: bool = False

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.of,)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.above(self.of.read(results), self.bound, self.what, self.ratio, level)


@dataclass(frozen=True, eq=False)
class Below(Kind):
    """The mean of the values lies below a bound; with `ratio` their geometric mean, for positive quantities."""

    kind: ClassVar[str] = "below"
    of: Reading
    bound: float
    what: str
    ratio: bool = False

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.of,)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.below(self.of.read(results), self.bound, self.what, self.ratio, level)


@dataclass(frozen=True, eq=False)
class Near(Kind):
    """The mean of the values lies within `expected` ± `within`; with `ratio` their geometric mean lies within a factor
    1 + `within` of it."""

    kind: ClassVar[str] = "near"
    of: Reading
    expected: float
    within: float
    what: str
    ratio: bool = False

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.of,)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.near(self.of.read(results), self.expected, self.within, self.what, self.ratio, level)


@dataclass(frozen=True, eq=False)
class MembersAbove(Kind):
    """More than a share `bound` of all members would meet a criterion, which those read meet or not, (M,) bool."""

    kind: ClassVar[str] = "members-above"
    of: Reading
    bound: float
    what: str

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.of,)

    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        return decisions.members_above(self.of.read(results), self.bound, self.what, level)
