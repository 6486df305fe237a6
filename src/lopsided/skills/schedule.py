"""The common form of all skill-frequency distributions, so that they can share one compiled program.

    log p_r(t)  =  -alpha(t) * log(bin_r) - log(size_r) + const,
    alpha(t)    =  start + (end - start) * clip((t/steps - begin) / (finish - begin), 0, 1).

A plain power law has bin_r = r and size_r = 1; the binned one has bin_r = the number of r's bin; uniform has alpha = 0.
Everything here is a number to the compiled program: arms that differ only in their distribution run as one ensemble.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class SkillSchedule(NamedTuple):
    """A distribution over ranks 1..R that may move during training; its exponents are floats or traced."""

    start: Any
    end: Any
    begin: Any
    finish: Any
    log_bin: Any  # (R,)
    log_size: Any  # (R,)

    @property
    def constant(self) -> bool:
        """True if the distribution does not move (host values only)."""
        return bool(self.start == self.end)

    def exponent(self, progress: Any) -> Any:
        """alpha at `progress` = step / steps in [0, 1]."""
        moved = (progress - self.begin) / (self.finish - self.begin)
        return self.start + (self.end - self.start) * jnp.clip(moved, 0.0, 1.0)

    def cumulative(self, progress: Any, heard: Any = ()) -> Float[Array, " R"]:
        """The cumulative distribution over ranks at `progress`, in the precision of the path's numbers; `heard` matters
        only to laws that listen."""
        logits = -self.exponent(progress) * self.log_bin - self.log_size
        p = jnp.exp(logits - logits.max())
        total = jnp.cumsum(p)
        return total / total[-1]

    def frequency(self, progress: Any, heard: Any = ()) -> Float[Array, " R"]:
        """The probability of each rank at `progress`, in the precision of the path's numbers."""
        return jax.nn.softmax(-self.exponent(progress) * self.log_bin - self.log_size)

    def probabilities(self, progress: float = 0.0) -> np.ndarray:
        """p over ranks in float64 on the host, (R,)."""
        moved = np.clip((progress - self.begin) / (self.finish - self.begin), 0.0, 1.0)
        logits = -(self.start + (self.end - self.start) * moved) * np.asarray(self.log_bin) - np.asarray(self.log_size)
        p = np.exp(logits - logits.max())
        return p / p.sum()


def plain(n: int, start: float, end: float | None = None, begin: float = 0.0, finish: float = 1.0) -> SkillSchedule:
    """p_r proportional to r^-alpha(t)."""
    ranks = np.arange(1, n + 1, dtype=np.float64)
    return SkillSchedule(start, start if end is None else end, begin, finish, np.log(ranks), np.zeros(n))
