"""When and on how much a run is evaluated, and when a member is done early."""

from __future__ import annotations

from math import log10
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from lopsided.core.config import Config
from lopsided.core.errors import InputError
from lopsided.core.rounding import reaches


class Evaluation(Config):
    """When and on how much the test metric is measured (uniform skills, the member's test stream)."""

    every: Annotated[int, Field(ge=1, le=10**9)] = 100
    samples: Annotated[int, Field(ge=1, le=2**24)] = 1024

    def after(self, step: int, steps: int) -> int:
        """The first step after `step` at which a run of `steps` steps is evaluated; the last one always is."""
        return min((step // self.every + 1) * self.every, steps)

    def points(self, steps: int) -> list[int]:
        """All steps at which a run of `steps` steps is evaluated."""
        found = [self.after(0, steps)]
        while found[-1] < steps:
            found.append(self.after(found[-1], steps))
        return found


class Geometric(Evaluation):
    """Evaluations at every * 10^(i / per_decade), rounded to whole steps: what happens on many time scales is seen on
    all of them. The first is at step `every`."""

    per_decade: Annotated[int, Field(ge=1, le=10_000)]

    def after(self, step: int, steps: int) -> int:
        i = 0 if step < self.every else int(self.per_decade * log10(step / self.every))
        while (point := round(self.every * 10 ** (i / self.per_decade))) <= step:
            i += 1
        return min(point, steps)


def evaluation_of(data: Any) -> Any:
    """A dictionary with `per_decade` describes a `Geometric` evaluation."""
    return Geometric.parse(data) if isinstance(data, dict) and "per_decade" in data else data


class Until(Config):
    """When a member is done before its last step: its metric was at least (or at most) a value at two evaluations in a
    row. It leaves the ensemble then, as does a member that diverged, and another takes its place."""

    metric: Literal["test/accuracy", "test/loss"] = "test/accuracy"
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Until:
        if (self.at_least is None) == (self.at_most is None):
            raise InputError("until: takes either at_least or at_most")
        if (self.metric == "test/loss") != (self.at_most is not None):
            raise InputError("until: an accuracy takes at_least, a loss at_most")
        return self

    def reached(self, value: Any) -> Any:
        """Whether a value of the metric is good enough (elementwise; NaN never is), as `stats.times` judges later."""
        if self.at_least is not None:
            return reaches(value, self.at_least)
        return reaches(-value, -(self.at_most or 0.0))
