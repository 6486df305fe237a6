"""Arms before they are trained: their specs, and where they lie among the arms of their recipe."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from lopsided.core.spec import Spec

ScaleName = Literal["smoke", "laptop", "overnight", "paper"]
SCALES: tuple[ScaleName, ...] = ("smoke", "laptop", "overnight", "paper")
"""From the smallest to the largest. `overnight`: up to eight hours of two cores, for what a laptop's scale is too small
for."""
LEARNED_ACCURACY = 0.95
"""An arm has learned at this accuracy where neither its spec nor its recipe says otherwise."""


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
        """This arm at other values of its swept settings; None if it is not swept."""
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
    """Swept settings on a log axis: all but AdamW's beta_2, which lies between 0 and 1."""
    return [key for key in swept if key != "b2"]


def kept_name(coordinates: Mapping[str, Any], swept: Sequence[str]) -> str:
    """Name of the coordinates that are not swept."""
    return name_of({key: value for key, value in coordinates.items() if key not in swept})


def lies(at: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether an arm `at` these coordinates is one that is `asked` for. A function says which values will do; None asks
    for arms without that coordinate."""

    def fits(key: str, value: Any) -> bool:
        if value is None or key not in at:
            return value is None and key not in at
        return bool(value(at[key]) if callable(value) else at[key] == value)

    return all(fits(key, value) for key, value in asked.items())
