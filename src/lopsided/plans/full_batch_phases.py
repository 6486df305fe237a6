"""Gradient descent on nested subsets, one after the other: every step of a phase uses all of the phase's samples."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import jax.numpy as jnp
from pydantic import Field, model_validator

from lopsided.core.config import Config, TracedInt
from lopsided.core.keys import Key
from lopsided.core.plan import Draw, FixedSets, MayRelabel, SameDraws, SampledPlan
from lopsided.plans.phases import Labels, add_up, current, nested, random_labels
from lopsided.plans.simple import Size


class FullPhase(Config):
    """`steps` steps on all of the first `size` samples."""

    steps: Annotated[TracedInt, Field(ge=1)]
    size: Size
    labels: Labels = "true"


class FullBatchPhases(SampledPlan, FixedSets, MayRelabel, SameDraws):
    """Full-batch gradient descent on a set that grows from phase to phase (paper C: 100 steps on 8,000 samples, then
    900 on 64,000), or whose first phase has random labels."""

    positions: ClassVar[bool] = False
    name: Literal["full-batch-phases"] = "full-batch-phases"
    phases: Annotated[tuple[FullPhase, ...], Field(min_length=1, max_length=64)]

    @model_validator(mode="after")
    def _nested(self) -> FullBatchPhases:
        nested([p.size for p in self.phases])
        return self

    @property
    def batch_size(self) -> int:
        return max(p.size for p in self.phases)

    @property
    def relabels(self) -> bool:
        return any(p.labels == "random" for p in self.phases)

    @property
    def fresh(self) -> bool:
        return False

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        now = current(self.phases, step)
        count = jnp.array([p.size for p in self.phases], jnp.int32)[now]
        index = jnp.arange(self.batch_size, dtype=jnp.uint32)
        return Draw(index, count=count, random=random_labels(self.phases, now), subset=now)

    def seen(self, steps: int) -> int:
        return sum(done * p.size for done, p in zip(self._done(steps), self.phases, strict=True))

    def sizes(self) -> tuple[int, ...]:
        return tuple(p.size or 0 for p in self.phases)

    def distinct(self, steps: int) -> float:
        return float(max((p.size for done, p in zip(self._done(steps), self.phases, strict=True) if done), default=0))

    def check_steps(self, steps: int) -> None:
        add_up(self.phases, steps)

    def _done(self, steps: int) -> list[int]:
        """Steps taken in each phase among the first `steps`."""
        done = []
        for phase in self.phases:
            done.append(min(phase.steps, steps))
            steps -= done[-1]
        return done
