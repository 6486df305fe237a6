"""Laws over ranks as the compiled program has them: the formula is that of `lopsided.shape.path`, in NumPy or in JAX.

All numbers are inputs of the program: arms that differ only in their law run as one ensemble.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lopsided.shape.path import Path


class SkillSchedule(Path):
    """A law over ranks 1..R that may move during training; its exponents are floats or traced."""

    def cumulative(self, progress: Any, heard: Any = ()) -> Float[Array, " R"]:
        """The cumulative distribution over ranks at `progress`, in the precision of the path's numbers; `heard` matters
        only to laws that listen."""
        logits = self.logits(progress)
        p = jnp.exp(logits - logits.max())
        total = jnp.cumsum(p)
        return total / total[-1]

    def frequency(self, progress: Any, heard: Any = ()) -> Float[Array, " R"]:
        """The probability of each rank at `progress`, in the precision of the path's numbers."""
        return jax.nn.softmax(self.logits(progress))
