"""Plans with one rule for the whole run: every sample fresh, or a fixed set used again and again."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, UInt32
from pydantic import Field

from lopsided.core.config import TracedInt
from lopsided.core.keys import Key, below, shuffled, words
from lopsided.core.plan import Draw, FixedSets, SameDraws, SampledPlan
from lopsided.plans._counting import expected_distinct

Batch = Annotated[int, Field(ge=1, le=2**24)]
Size = Annotated[int, Field(ge=1, lt=2**31)]
TracedSize = Annotated[TracedInt, Field(ge=1, lt=2**31)]


def consecutive(step: Any, batch: int) -> UInt32[Array, " B"]:
    """Positions step * batch ... of the run's one long sequence of draws."""
    return jnp.asarray(step).astype(jnp.uint32) * batch + jnp.arange(batch, dtype=jnp.uint32)


class MiniBatches(SampledPlan):
    """Every step draws `batch` samples."""

    batch: Batch

    @property
    def batch_size(self) -> int:
        return self.batch

    def seen(self, steps: int) -> int:
        return steps * self.batch


class Online(MiniBatches):
    """Every sample is fresh."""

    name: Literal["online"] = "online"

    @property
    def fresh(self) -> bool:
        return True

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        return Draw(consecutive(step, self.batch))

    def distinct(self, steps: int) -> float:
        return float(steps * self.batch)


class FixedSet(MiniBatches, FixedSets):
    """Mini-batches from a fixed set of `size` samples, drawn with replacement or reshuffled every epoch without."""

    name: Literal["fixed"] = "fixed"
    size: TracedSize
    replacement: bool = True

    @property
    def fresh(self) -> bool:
        return False

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        position = consecutive(step, self.batch)
        if self.replacement:
            return Draw(below(words(key, step, self.batch), self.size))
        size = jnp.asarray(self.size).astype(jnp.uint32)
        epoch, place = position // size, position % size
        return Draw(jax.vmap(lambda e, p: shuffled(words(key, e), p, size))(epoch, place))

    def sizes(self) -> tuple[Any, ...]:
        return (self.size,)

    def distinct(self, steps: int) -> float:
        if not self.replacement:
            return float(min(self.size, steps * self.batch))
        return expected_distinct([self.size], [steps * self.batch])


class FullBatch(SampledPlan, FixedSets, SameDraws):
    """Every step uses all `size` samples (gradient descent)."""

    positions: ClassVar[bool] = False
    name: Literal["full-batch"] = "full-batch"
    size: Size

    @property
    def batch_size(self) -> int:
        return self.size

    @property
    def fresh(self) -> bool:
        return False

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        return Draw(jnp.arange(self.size, dtype=jnp.uint32))

    def sizes(self) -> tuple[Any, ...]:
        return (self.size,)

    def seen(self, steps: int) -> int:
        return steps * self.size

    def distinct(self, steps: int) -> float:
        return float(self.size if steps else 0)
