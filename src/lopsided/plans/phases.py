"""Phases over nested subsets: S_1 within S_2 within ... (paper C, multi-phase training)."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator

from lopsided.core.config import DIAL, Config, DialInt
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, below, words
from lopsided.core.protocols import Draw, Plan
from lopsided.plans._counting import expected_distinct
from lopsided.plans.simple import Batch, Size, plain


class Phase(Config):
    """`steps` steps on the first `size` samples; `share` instead of `size` is a fraction of what online would see."""

    steps: Annotated[DialInt, Field(ge=1)]
    size: Annotated[Size | None, DIAL] = None
    share: Annotated[float, Field(gt=0, le=1)] | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Phase:
        if (self.size is None) == (self.share is None):
            raise InputError("a phase takes either size or share")
        return self


class Phases(Plan):
    """Mini-batches drawn with replacement from a subset that grows from phase to phase."""

    name: Literal["phases"] = "phases"
    batch: Batch
    phases: Annotated[tuple[Phase, ...], Field(min_length=1, max_length=64)]

    @model_validator(mode="after")
    def _sized_and_nested(self) -> Phases:
        """Shares become sizes once, here, so that a spec has one canonical form."""
        seen = self.batch * sum(phase.steps for phase in self.phases)
        sized = tuple(
            Phase(steps=p.steps, size=max(1, round(p.share * seen)) if p.size is None and p.share else p.size)
            for p in self.phases
        )
        sizes = [p.size or 0 for p in sized]
        if any(a > b for a, b in pairwise(sizes)):
            raise InputError(f"phases: sizes never shrink (each subset contains the one before), got {sizes}")
        object.__setattr__(self, "phases", sized)
        return self

    @property
    def batch_size(self) -> int:
        return self.batch

    def draw(self, key: Key, step: Any) -> Draw:
        ends = jnp.cumsum(jnp.stack([jnp.asarray(p.steps, jnp.int32) for p in self.phases]))
        sizes = jnp.stack([jnp.asarray(p.size, jnp.uint32) for p in self.phases])
        now = jnp.minimum(jnp.searchsorted(ends, step, side="right"), len(self.phases) - 1)
        bits = words(key, step, self.batch)
        return plain(below(bits, sizes[now]))

    def distinct(self, steps: int) -> float:
        ends = np.cumsum([p.steps for p in self.phases])
        done = np.diff(np.minimum(steps, [0, *ends])) * self.batch
        return expected_distinct([p.size or 0 for p in self.phases], done.tolist())

    def declared(self, steps: int) -> None:
        total = sum(p.steps for p in self.phases)
        if total != steps:
            raise InputError(f"phases: their steps add up to {total}, but steps = {steps}")
