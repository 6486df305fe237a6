"""A recipe is a falsifiable statement as data: which arms are trained, what is claimed of them, how it is drawn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lopsided.core.errors import InputError

if TYPE_CHECKING:
    from lopsided.core.spec import Spec

ScaleName = Literal["smoke", "laptop", "paper"]
SCALES: tuple[ScaleName, ...] = ("smoke", "laptop", "paper")

FILE_MODULE = "lopsided_recipe_"
"""Modules made of recipe files are called this and the file's name."""
PAPERS = {
    "A": "A: The Power of Power Law",
    "B": "B: Emergence and scaling laws in SGD learning of shallow neural networks",
    "C": "C: Less Data, Faster Training",
}
"""Titles by the letter that recipes give."""


class Scale(NamedTuple):
    """What a scale costs: seeds per arm, and seconds of computing measured on `on`; infinite where nobody measured
    them (`lopsided cost` counts operations)."""

    seeds: int
    seconds: float = inf
    on: str = "2 CPU cores"


class ArmSpec(NamedTuple):
    """An arm before it is trained: its spec, and where it lies among the recipe's arms.

    `coordinates` say what is compared: `{"data": "fresh", "lr": 0.003}`. Those in `swept` are not compared: of the arms
    that differ in nothing else, the best one stands for all (`lopsided.results.sweeps`).
    """

    spec: Spec
    coordinates: Mapping[str, Any]
    swept: tuple[str, ...] = ()
    make: Callable[..., Spec] | None = None
    """The spec at any values of the swept settings."""

    @property
    def name(self) -> str:
        """`fresh, lr = 0.003`."""
        return name_of(self.coordinates)

    def moved(self, point: Mapping[str, float]) -> ArmSpec | None:
        """The same arm at other values of its swept settings; None if it is not swept."""
        if self.make is None:
            return None
        return ArmSpec(self.make(**point), {**self.coordinates, **point}, self.swept, self.make)


def name_of(coordinates: Mapping[str, Any]) -> str:
    """Texts as they are, numbers as `key = value`."""
    return ", ".join(v if isinstance(v, str) else f"{k} = {_number(v)}" for k, v in coordinates.items())


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def arm(spec: Spec, **coordinates: Any) -> ArmSpec:
    """One arm."""
    return ArmSpec(spec, coordinates)


def swept(make: Callable[..., Spec], grid: Mapping[str, Sequence[float]], **coordinates: Any) -> Iterator[ArmSpec]:
    """One arm at every point of a grid of settings, `{"lr": (1.0, 2.0)}`, with which `make` is called by name."""
    for values in itertools.product(*grid.values()):
        point = dict(zip(grid, map(float, values), strict=True))
        yield ArmSpec(make(**point), {**coordinates, **point}, tuple(grid), make)


def multiplied(swept: Sequence[str]) -> list[str]:
    """Of swept settings, those that can be multiplied by any factor. (AdamW's beta_2 lies between 0 and 1.)"""
    return [key for key in swept if key != "b2"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Recipe:
    """What `lopsided run NAME` trains, decides and draws."""

    name: str
    paper: str
    """A letter of `PAPERS`, or words."""
    figure_number: str
    question: str
    about: str | None
    """The module's docstring: what the paper says, and what each scale changes."""
    scales: Mapping[ScaleName, Any]
    """`Scale`, or its fields as a tuple, by name."""
    arms: Callable[[ScaleName], Iterable[ArmSpec]]
    claims: Sequence[Any]
    """`lopsided.stats.verdict.Statement` each."""
    figure: Callable[[Any], Any]
    """`lopsided.results.stored.Results` to `lopsided.report.panels.Figure`."""
    measure: Callable[[Any], Any] | None = None
    """Computes from `Results` what several claims' tests need; the tests are then given that in place of `Results`."""
    shown: Callable[[Any], Sequence[str]] | None = None
    """Names of the arms that tables list; without it all, those of a sweep at their best settings."""
    metric: str = "test/accuracy"
    threshold: float = 0.95
    """An arm has learned when `metric` reaches this, where its spec has no rule of its own (`until`)."""
    least_evaluations: int = 2
    """With fewer evaluations than this in any arm, no claim is decided and plain curves are drawn."""
    least_seeds: int = 1
    """With fewer seeds, no claim is decided."""

    def __post_init__(self) -> None:
        for field in ("name", "paper", "figure_number", "question", "metric"):
            self._require(field, isinstance(getattr(self, field), str), "text")
        for field in ("arms", "figure"):
            self._require(field, callable(getattr(self, field)), "a function")
        for field in ("measure", "shown"):
            self._require(field, getattr(self, field) is None or callable(getattr(self, field)), "a function or None")
        self._require("threshold", isinstance(self.threshold, (int, float)), "a number")
        claims = self.claims if isinstance(self.claims, Sequence) else [None]
        self._require("claims", all(hasattr(each, "decide") for each in claims), "a list of Statements")
        scales = dict(self.scales) if isinstance(self.scales, Mapping) else {}
        known = bool(scales) and set(scales) <= set(SCALES) and all(map(_is_cost, scales.values()))
        self._require("scales", known, f"(seeds, seconds) or (seeds,) for some of {', '.join(SCALES)}")
        object.__setattr__(self, "scales", {name: Scale(*cost) for name, cost in scales.items()})
        object.__setattr__(self, "paper", PAPERS.get(self.paper, self.paper))

    def _require(self, field: str, sound: bool, valid: str) -> None:
        if not sound:
            raise InputError(f"recipe {str(self.name)[:80]!r}: {field} has to be {valid}")

    def arms_at(self, scale: ScaleName) -> Mapping[str, ArmSpec]:
        """Arms by name. Raises `InputError` if two have one name, or if one has no spec."""
        return _arms_at(self, scale)

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        """Specs by the arm's name."""
        return {name: each.spec for name, each in self.arms_at(scale).items()}


def _is_cost(cost: Any) -> bool:
    if not isinstance(cost, tuple) or len(cost) not in (1, 2, 3):
        return False
    seeds, seconds, *_ = *cost, inf
    return isinstance(seeds, int) and seeds >= 1 and isinstance(seconds, (int, float))


@cache
def _arms_at(recipe: Recipe, scale: ScaleName) -> Mapping[str, ArmSpec]:
    from lopsided.core.spec import Spec

    arms = list(recipe.arms(scale))
    if not arms or not all(isinstance(each, ArmSpec) and isinstance(each.spec, Spec) for each in arms):
        raise InputError(f"recipe {recipe.name!r}: arms({scale!r}) has to give arms with a Spec each")
    found = {each.name: each for each in arms}
    if len(found) < len(arms):
        names = [each.name for each in arms]
        double = next(name for name in names if names.count(name) > 1)
        raise InputError(f"recipe {recipe.name!r}: two arms are {double!r}; their coordinates have to differ")
    return found
