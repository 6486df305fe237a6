"""What a test of a claim is: frozen data that says which arms it reads, and decides from results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from lopsided.claims.places import Arms, At, group_names, groups_at
from lopsided.results.stored import Axis, Results
from lopsided.results.sweeps import Tuned, bests
from lopsided.stats.decisions import LEVEL
from lopsided.stats.verdict import Decision

UNITS: dict[Axis, str] = {"steps": "steps", "samples": "compute", "distinct": "distinct samples"}
"""What an axis counts, in words."""


class End(NamedTuple):
    """A level at the end of training: what it says depends on how long the runs were."""

    at: At
    metric: str


class Reading(ABC):
    """Something that a test reads of some arms. Each reading is a frozen dataclass."""

    @property
    @abstractmethod
    def places(self) -> tuple[At, ...]:
        """Coordinates of the arms that are read."""

    @abstractmethod
    def read(self, results: Results, axis: Axis = "steps") -> Any:
        """What is read: `Times` along `axis`, (M,) numbers, or a law."""

    def reads(self, arms: Arms, frozen: Sequence[str] = ()) -> tuple[str, ...]:
        """Names of the arms that are read: those at `places`; of a sweep whose best arm is in `frozen`, that one alone.
        Raises `InputError` where no arm lies at a place."""
        return tuple(name for at in self.places for name in group_names(arms, at, frozen))

    def chosen(self, results: Results) -> list[Tuned]:
        """The best arm of each sweep, of more than one arm, that is read."""
        every = [group for at in self.places for group in groups_at(results.arms, at) if len(group) > 1]
        return [tuned for group in every for tuned in bests(results.of(group))]

    @property
    def metrics(self) -> tuple[tuple[At, str], ...]:
        """Metrics that are named, and of which arms."""
        return ()

    @property
    def ends(self) -> tuple[End, ...]:
        """Levels at the end of training that it rests on."""
        return ()


class Kind(ABC):
    """How a claim is decided. Each kind is a frozen dataclass; its fields are all that it knows."""

    kind: ClassVar[str]
    """Name in results files."""

    @property
    @abstractmethod
    def readings(self) -> tuple[Reading, ...]:
        """What it compares."""

    @abstractmethod
    def decide(self, results: Results, level: float = LEVEL) -> Decision:
        """The decision from results that have the arms that it reads. `level` is that of the test, two-sided."""

    def reads(self, arms: Arms, frozen: Sequence[str] = ()) -> tuple[str, ...]:
        """Names of the arms without which it cannot be decided (`Reading.reads`)."""
        return tuple(dict.fromkeys(name for each in self.readings for name in each.reads(arms, frozen)))

    def chosen(self, results: Results) -> list[Tuned]:
        """The best arm of each sweep, of more than one arm, that it reads."""
        return [tuned for each in self.readings for tuned in each.chosen(results) if len(tuned.group) > 1]

    @property
    def metrics(self) -> tuple[tuple[At, str], ...]:
        """Metrics that it names, and of which arms."""
        return tuple(named for each in self.readings for named in each.metrics)

    @property
    def ends(self) -> tuple[End, ...]:
        """Levels at the end of training that it rests on."""
        return tuple(end for each in self.readings for end in each.ends)
