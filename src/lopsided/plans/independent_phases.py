"""Phases over independent subsets: no sample of a phase was in an earlier one (paper C, footnote 2)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import jax.numpy as jnp
import numpy as np

from lopsided.core.keys import Key, below, words
from lopsided.core.plan import Draw
from lopsided.plans._counting import expected_distinct
from lopsided.plans.phases import Phases, current, random_labels


class IndependentPhases(Phases):
    """Mini-batches drawn with replacement from a set of its own in each phase, of the sizes that `phases` has.

    Sample indices of a phase follow those of the phase before, so that the sets share no draw (two draws may be the
    same input all the same, where inputs are few).
    """

    confined: ClassVar[bool] = False
    """Sets do not begin at the first sample, so that their moments are not those of a set that does."""
    name: Literal["independent-phases"] = "independent-phases"  # pyright: ignore[reportIncompatibleVariableOverride]

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        sizes = jnp.stack([jnp.asarray(p.size, jnp.uint32) for p in self.phases])
        before = jnp.cumsum(sizes, dtype=jnp.uint32) - sizes
        now = current(self.phases, step)
        drawn = below(words(key, step, self.batch), sizes[now])
        return Draw(before[now] + drawn, random=random_labels(self.phases, now), subset=now)

    def sizes(self) -> tuple[Any, ...]:
        """Where each phase's indices end."""
        sizes = [0 if p.size is None else p.size for p in self.phases]
        return tuple(sum(sizes[: i + 1]) for i in range(len(sizes)))

    def distinct(self, steps: int) -> float:
        ends = np.cumsum([p.steps or 0 for p in self.phases])
        done = np.diff(np.minimum(steps, [0, *ends])) * self.batch
        return sum(expected_distinct([p.size or 0], [n]) for p, n in zip(self.phases, done.tolist(), strict=True))
