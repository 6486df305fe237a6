"""A recipe is a falsifiable statement: one file whose docstring carries paper, figure, claim, number and time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

ScaleName = Literal["smoke", "laptop", "paper"]
SCALES: tuple[ScaleName, ...] = ("smoke", "laptop", "paper")


FILE_MODULE = "lopsided_recipe_"
"""Modules made of recipe files are called this and the file's name."""


class Scale(NamedTuple):
    """What a scale costs: seeds per arm, and seconds of computing measured (or, for `paper`, estimated) on `on`."""

    seeds: int
    seconds: float
    on: str


class Recipe(ABC):
    """Base of all recipes; the folder scan finds the concrete ones by existence."""

    name: ClassVar[str]
    paper: ClassVar[str]
    figure_number: ClassVar[str]
    question: ClassVar[str]
    scales: ClassVar[Mapping[ScaleName, Scale]]
    metric: ClassVar[str] = "test/accuracy"
    threshold: ClassVar[float]
    least_evaluations: ClassVar[int] = 2
    """With fewer evaluations than this in any arm, no claim is decided and plain curves are drawn."""

    @abstractmethod
    def specs(self, scale: ScaleName) -> dict[str, Any]:
        """Arms by name: `lopsided.core.spec.Spec` each."""

    @abstractmethod
    def statements(self) -> Sequence[Any]:
        """The claims' fixed parts, `lopsided.stats.verdict.Statement` each, in the order of `claims`."""

    @abstractmethod
    def claims(self, results: Any) -> list[Any]:
        """The claims decided from `lopsided.store.results.Results`."""

    def shown(self, results: Any) -> Sequence[str]:
        """Arms that tables list; a recipe that sweeps a number lists the best."""
        return list(results.arms)

    @abstractmethod
    def figure(self, results: Any) -> Any:
        """A `lopsided.report.panels.Figure` drawn from the same results."""
