"""Phases over independent subsets: no sample of a phase was in an earlier one (paper C, footnote 2)."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, ClassVar, Literal

import jax.numpy as jnp
import numpy as np
from pydantic import model_validator

from lopsided.core.errors import InputError
from lopsided.core.keys import Key, below, words
from lopsided.core.plan import Draw
from lopsided.plans._counting import expected_distinct
from lopsided.plans.phases import Phases, current, random_labels


class IndependentPhases(Phases):
    """Mini-batches whose training set is exchanged for a new one, drawn independently, when a phase begins (in `Phases`
    the old set is kept and grows).

    `phases` gives the size of each set; batches are drawn from it with replacement. Sets share no sample, but where a
    task has few inputs, two samples may be the same input.
    """

    confined: ClassVar[bool] = False
    """Sets do not begin at the first sample, so that their moments are not those of a set that does."""
    name: Literal["independent-phases"] = "independent-phases"  # pyright: ignore[reportIncompatibleVariableOverride]

    @model_validator(mode="after")
    def _countable(self) -> IndependentPhases:
        """Refuse 2^31 samples and more in all sets together: an index would overflow, and name one of the first set."""
        if (total := self.sizes()[-1]) >= 2**31:
            raise InputError(f"independent-phases: {total} samples in all; fewer than 2^31")
        return self

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        sizes = jnp.stack([jnp.asarray(p.size, jnp.uint32) for p in self.phases])
        before = jnp.cumsum(sizes, dtype=jnp.uint32) - sizes
        now = current(self.phases, step)
        drawn = below(words(key, step, self.batch), sizes[now])
        return Draw(before[now] + drawn, random=random_labels(self.phases, now), subset=now)

    def sizes(self) -> tuple[Any, ...]:
        """Where each phase's indices end."""
        return tuple(accumulate(super().sizes()))

    def distinct(self, steps: int) -> float:
        ends = np.cumsum([p.steps or 0 for p in self.phases])
        done = np.diff(np.minimum(steps, [0, *ends])) * self.batch
        return sum(expected_distinct([p.size or 0], [n]) for p, n in zip(self.phases, done.tolist(), strict=True))
