"""Laws that move from one to another while a model trains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.shapes import By, PowerLaw, Shape, require_exponent, require_ranks

STAGES = 64
"""A law that moves does so in so many steps."""


@dataclass(frozen=True)
class Blend(Shape):
    """From one law to another between two shares of the run: p ∝ a^(1 - f) b^f, in 64 steps.

    f goes from 0 to 1 linearly; `course`, a function of how much of the way is gone (0 to 1), says otherwise. So
    `Blend(PowerLaw(1.5), Uniform())` is a power law whose exponent falls, and `Blend(AsIs(), Uniform())` the data with
    a temperature that rises: re-balancing that is deferred. With `linear`, p = (1 - f) a + f b, a and b summing to 1:
    a skill that only b has comes from the beginning of the blend on. Raises `InputError` for laws that are none.
    """

    a: Shape
    b: Shape
    begin: float = 0.0
    finish: float = 1.0
    course: Callable[[float], float] | Sequence[float] | None = None
    linear: bool = False

    def __post_init__(self) -> None:
        for law in (self.a, self.b):
            if not isinstance(law, Shape) or law.has_subsets:
                raise InputError(f"blend: {law!r} is no law over skills; subsets are joined with &")
        _require_way(self.begin, self.finish)
        if self.course is not None:  # kept as numbers, so that a stream's name is of them
            middles = (np.arange(STAGES) + 0.5) / STAGES
            try:
                found = [float(self.course(float(x))) for x in middles] if callable(self.course) else list(self.course)
                sound = len(found) == STAGES and all(0 <= f <= 1 for f in found)
            except (TypeError, ValueError):
                sound = False
            if not sound:
                raise InputError(f"course = {self.course!r}: valid is a function of 0 to 1 whose values lie there, too")
            object.__setattr__(self, "course", tuple(found))

    @property
    def reads_sizes(self) -> bool:
        return self.a.reads_sizes or self.b.reads_sizes

    def edges(self) -> Sequence[float]:
        own = {0.0, *np.linspace(self.begin, self.finish, STAGES + 1).tolist()} - {1.0}
        return sorted({*own, *self.a.edges(), *self.b.edges()})

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        a, b = (_summing_to_one(law, groups, begin, end, seed) for law in (self.a, self.b))
        f = self._moved((begin + end) / 2)
        if self.linear:
            return (1 - f) * a + f * b
        return a if f == 0 else b if f == 1 else a ** (1 - f) * b**f

    def _moved(self, at: float) -> float:
        way = float(np.clip((at - self.begin) / (self.finish - self.begin), 0, 1))
        if self.course is None or way in (0.0, 1.0):
            return way
        return float(np.asarray(self.course)[min(STAGES - 1, int(way * STAGES))])


def _summing_to_one(law: Shape, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
    found = law.weights(groups, begin, end, seed)
    found = groups.size.astype(float) if found is None else np.asarray(found, float)
    found = np.where(groups.size > 0, found, 0.0)
    if not (np.isfinite(found).all() and (found >= 0).all() and found.max() > 0):
        raise InputError(f"blend: {law!r} leaves no skill that has examples a weight")
    found = found / found.max()
    return found / found.sum()


@dataclass(frozen=True)
class Anneal(Shape):
    """A power law whose exponent moves linearly from `start` to `end` between two shares of the run: a `Blend` of two
    power laws."""

    start: float = 1.5
    end: float = 0.0
    begin: float = 0.2
    finish: float = 0.9
    by: By = "frequency"

    reads_sizes = property(lambda self: self.by == "frequency")

    def __post_init__(self) -> None:
        require_exponent("start", self.start)
        require_exponent("end", self.end)
        require_ranks(self.by)
        _require_way(self.begin, self.finish)

    @property
    def _blend(self) -> Blend:
        return Blend(PowerLaw(self.start, self.by), PowerLaw(self.end, self.by), self.begin, self.finish)

    def edges(self) -> Sequence[float]:
        return self._blend.edges()

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        return self._blend.weights(groups, begin, end, seed)


def _require_way(begin: float, finish: float) -> None:
    if not 0 <= begin < finish <= 1:
        raise InputError(f"begin = {begin}, finish = {finish}: valid is 0 <= begin < finish <= 1")
