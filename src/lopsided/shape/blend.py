"""From one law to another while a model trains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.shape.laws import STAGES, require_law, require_way, steps
from lopsided.shape.path import Path, between
from lopsided.shape.shape import Shape, Skilled


@dataclass(frozen=True)
class Blend(Shape):
    """From one law to another between two shares of the run: p ∝ a^(1 - f) b^f, in 64 steps.

    f goes from 0 to 1 linearly; `course`, a function of how much of the way is gone (0 to 1), says otherwise. So
    `Blend(PowerLaw(1.5), Uniform())` is a power law whose exponent falls, and `Blend(AsIs(), Uniform())` the data with
    a temperature that rises: re-balancing that is deferred. With `linear`, p = (1 - f) a + f b, a and b summing to 1:
    a skill that only b has comes from the beginning of the blend on. Raises `InputError` for laws that are none.

    >>> import lopsided.data as ld
    >>> late = ld.Blend(ld.AsIs(), ld.Uniform(), begin=0.8, finish=0.81)
    >>> stream = ld.Stream(ld.Groups(["a"] * 90 + ["b"] * 10), late, total=1000)
    >>> int((stream.at(range(100)) >= 90).sum()), int((stream.at(range(900, 1000)) >= 90).sum())
    (10, 50)
    """

    a: Shape
    b: Shape
    begin: float = 0.0
    finish: float = 1.0
    course: Callable[[float], float] | Sequence[float] | None = None
    linear: bool = False

    def __post_init__(self) -> None:
        require_law(self.a)
        require_law(self.b)
        require_way(self.begin, self.finish)
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
        return sorted({*steps(self.begin, self.finish), *self.a.edges(), *self.b.edges()})

    def weights(self, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray:
        a, b = (_summing_to_one(law, groups, begin, end, seed) for law in (self.a, self.b))
        f = self._moved((begin + end) / 2)
        if self.linear:
            return (1 - f) * a + f * b
        return a if f == 0 else b if f == 1 else a ** (1 - f) * b**f

    def _require_straight(self) -> None:
        if self.linear or self.course is not None:
            raise InputError("blend: in a spec, p ∝ a^(1 - f) b^f with f from 0 to 1 along a straight line")

    def path(self, n_skills: int) -> Path:
        self._require_straight()
        return between(self.a.path(n_skills), self.b.path(n_skills), self.begin, self.finish)

    def in_spec(self) -> dict[str, Any]:
        self._require_straight()
        laws = {"a": self.a.in_spec(), "b": self.b.in_spec()}
        return {"name": "blend", **laws, "begin": self.begin, "finish": self.finish}

    def _moved(self, at: float) -> float:
        way = float(np.clip((at - self.begin) / (self.finish - self.begin), 0, 1))
        if self.course is None or way in (0.0, 1.0):
            return way
        return float(np.asarray(self.course)[min(STAGES - 1, int(way * STAGES))])


def _summing_to_one(law: Shape, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray:
    found = law.weights(groups, begin, end, seed)
    found = groups.size.astype(float) if found is None else np.asarray(found, float)
    found = np.where(groups.size > 0, found, 0.0)
    if not (np.isfinite(found).all() and (found >= 0).all() and found.max() > 0):
        raise InputError(f"blend: {law!r} leaves no skill that has examples a weight")
    found = found / found.max()
    return found / found.sum()
