"""Curriculum over a task's levels (for example hops k = 1..4): stages, each a mixture (paper A, appendix C.3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jax.numpy as jnp
from pydantic import Field, model_validator

from lopsided.core.config import Config, TracedInt
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, unit, words
from lopsided.core.plan import Draw, MixesLevels
from lopsided.plans.simple import MiniBatches, consecutive

Weight = Annotated[float, Field(ge=0)]


class Stage(Config):
    """`steps` steps on levels mixed in proportion to `weights` (lowest level first)."""

    steps: Annotated[TracedInt, Field(ge=1)]
    weights: Annotated[tuple[Weight, ...], Field(min_length=1, max_length=64)]

    @model_validator(mode="after")
    def _some_weight(self) -> Stage:
        if sum(self.weights) <= 0:
            raise InputError(f"weights = {self.weights}: at least one above 0")
        return self


class Curriculum(MiniBatches, MixesLevels):
    """Fresh samples whose level is drawn from the current stage's mixture."""

    name: Literal["curriculum"] = "curriculum"
    stages: Annotated[tuple[Stage, ...], Field(min_length=1, max_length=64)]

    @property
    def fresh(self) -> bool:
        return True

    @property
    def levels(self) -> int:
        """Levels that the stages speak of."""
        return max(len(s.weights) for s in self.stages)

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        ends = jnp.cumsum(jnp.stack([jnp.asarray(s.steps, jnp.int32) for s in self.stages]))
        padded = [list(s.weights) + [0.0] * (self.levels - len(s.weights)) for s in self.stages]
        mixture = jnp.cumsum(jnp.array(padded), axis=1)
        now = jnp.minimum(jnp.searchsorted(ends, step, side="right"), len(self.stages) - 1)
        u = unit(words(key, step, self.batch)) * mixture[now, -1]
        level = jnp.searchsorted(mixture[now], u, side="right", method="compare_all")
        return Draw(consecutive(step, self.batch), jnp.minimum(level, self.levels - 1).astype(jnp.int32))

    def distinct(self, steps: int) -> float:
        return float(steps * self.batch)

    def check_steps(self, steps: int) -> None:
        total = sum(s.steps for s in self.stages)
        if total != steps:
            raise InputError(f"stages: their steps add up to {total}, but steps = {steps}")
