"""Batches mixed from a small set, repeated, and fresh samples (Charton & Kempe 2024; paper C, section 2)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from lopsided.core.config import TracedFloat
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, below, unit, words
from lopsided.core.plan import Draw, FixedSets
from lopsided.plans._counting import expected_distinct
from lopsided.plans.simple import MiniBatches, TracedSize, consecutive


class TwoSet(MiniBatches, FixedSets):
    """Every sample of a batch comes from a fixed set of `size` samples with probability `repeated`, and is fresh
    otherwise; fresh samples lie outside the set."""

    confined: ClassVar[bool] = False
    name: Literal["two-set"] = "two-set"
    size: TracedSize
    repeated: Annotated[TracedFloat, Field(ge=0, le=1)] = 0.5

    @property
    def fresh(self) -> bool:
        return False

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        bits = words(key, step, 2 * self.batch)
        known = below(bits[: self.batch], self.size)
        fresh = consecutive(step, self.batch) + jnp.asarray(self.size).astype(jnp.uint32)
        return Draw(jnp.where(unit(bits[self.batch :]) < self.repeated, known, fresh))

    def sizes(self) -> tuple[Any, ...]:
        return (self.size,)

    def distinct(self, steps: int) -> float:
        """An index of the set stays unseen with probability (1 - repeated / size)^draws."""
        draws = steps * self.batch
        if self.repeated == 1:
            return expected_distinct([self.size], [draws])
        seen = -np.expm1(draws * np.log1p(-self.repeated / self.size)) * self.size
        return float(seen) + (1 - self.repeated) * draws

    def check_steps(self, steps: int) -> None:
        if self.size + steps * self.batch > 2**32:
            raise InputError(f"plan 'two-set': size + steps x batch = {self.size + steps * self.batch}: at most 2^32")
