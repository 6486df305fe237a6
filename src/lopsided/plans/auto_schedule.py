"""Phases over nested subsets that end when the model has learned them (paper C, figure 19)."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int
from pydantic import Field, model_validator

from lopsided.core.config import TracedFloat, TracedInt
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, below, words
from lopsided.core.model import Model
from lopsided.core.optimizer import Optimizer
from lopsided.core.plan import Draw, FixedSets, Remembers
from lopsided.core.shapes import has_accuracy
from lopsided.core.task import LossName, Task
from lopsided.numerics.means import RunningMean
from lopsided.plans.simple import MiniBatches, Size
from lopsided.shape.candidates import LARGEST, SMALLEST
from lopsided.shape.rules import subset_over


class Memory(NamedTuple):
    """Where a member is."""

    phase: Int[Array, ""]
    steps: Int[Array, ""]
    """Steps taken in this phase."""
    right: RunningMean
    """Accuracy of this epoch's batches."""
    taken: Int[Array, " P"]
    """Steps taken in each phase."""


class AutoSchedule(MiniBatches, FixedSets, Remembers):
    """Mini-batches with replacement from `phases` nested subsets, sizes geometric from `first` to `last`. A member goes
    on to the next at the end of an epoch in which it was right on a share `accuracy` of what it trained on, or after
    `epochs` epochs; it stays in the last. An epoch is as many steps as the subset has batches, rounded up.

    With `online_steps` instead of sizes, they are 1/320 and 1/50 of the data that an online run of that length sees.
    """

    name: Literal["auto-schedule"] = "auto-schedule"
    first: Size | None = None
    last: Size | None = None
    online_steps: Annotated[int, Field(ge=1, le=10**9)] | None = None
    phases: Annotated[int, Field(ge=1, le=64)] = 6
    accuracy: Annotated[TracedFloat, Field(gt=0, le=1)] = 0.75
    epochs: Annotated[TracedInt, Field(ge=1, le=10**6)] = 50

    @model_validator(mode="after")
    def _sized(self) -> AutoSchedule:
        if self.online_steps is not None:
            if self.first is not None or self.last is not None:
                raise InputError("plan 'auto-schedule': takes either online_steps or first and last")
            online = self.online_steps * self.batch
            object.__setattr__(self, "first", max(1, round(SMALLEST * online)))
            object.__setattr__(self, "last", max(1, round(LARGEST * online)))
            object.__setattr__(self, "online_steps", None)
        if self.first is None or self.last is None:
            raise InputError("plan 'auto-schedule': takes either online_steps or first and last")
        if max(self.first, self.last) >= 2**31:
            raise InputError(f"plan 'auto-schedule': subsets have fewer than 2^31 samples, here {self.last}")
        if self.first > self.last:
            raise InputError(f"plan 'auto-schedule': first = {self.first} is larger than last = {self.last}")
        return self

    def sizes(self) -> tuple[int, ...]:
        return tuple(np.round(np.geomspace(self.first or 1, self.last or 1, self.phases)).astype(int).tolist())

    def check(self, task: Task, model: Model, optimizer: Optimizer, loss: LossName) -> None:
        """Raise `InputError` if no answer of the task is right or wrong."""
        if not has_accuracy(task.outputs):
            raise InputError("plan 'auto-schedule': only for tasks whose answers are right or wrong")

    def init_state(self) -> Memory:
        zero = jnp.int32(0)
        return Memory(zero, zero, RunningMean.nothing(), jnp.zeros(self.phases, jnp.int32))

    @property
    def fresh(self) -> bool:
        return False

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        size = jnp.array(self.sizes(), jnp.uint32)[memory.phase]
        return Draw(below(words(key, step, self.batch), size), subset=memory.phase)

    def update(self, memory: Memory, accuracy: Array) -> Memory:
        epoch = jnp.array([-(-n // self.batch) for n in self.sizes()], jnp.int32)[memory.phase]
        steps, right = memory.steps + 1, memory.right.plus(accuracy)
        over = steps % epoch == 0
        on = subset_over(steps, epoch, right.mean, self.accuracy, self.epochs) & (memory.phase < self.phases - 1)
        return Memory(
            memory.phase + on,
            jnp.where(on, 0, steps),
            jax.tree.map(lambda x: jnp.where(over, jnp.zeros_like(x), x), right),
            memory.taken.at[memory.phase].add(1),
        )

    def metrics(self, memory: Memory) -> dict[str, Array]:
        """Phase (from 1), and expected distinct samples: an index of the shell between two subsets stays unseen with
        probability prod (1 - 1/N)^draws over the subsets that contain it."""
        sizes = np.array(self.sizes(), np.float64)
        draws = memory.taken.astype(jnp.float32) * self.batch
        # A set of one sample is seen after one draw; -50 stands for log 0.
        each = jnp.asarray(np.where(sizes > 1, np.log1p(-1 / np.maximum(sizes, 2)), -50.0), jnp.float32)
        log_unseen = jnp.cumsum((draws * each)[::-1])[::-1]
        shells = np.array([b - a for a, b in pairwise([0, *self.sizes()])], np.float32)
        return {"plan/phase": memory.phase + 1.0, "plan/distinct": (-jnp.expm1(log_unseen) * shells).sum()}

    def distinct(self, steps: int) -> float:
        return float("nan")
