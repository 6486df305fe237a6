"""Means that come out exactly: of counts as whole numbers, of many terms with the rounding that a sum loses."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int


class Count(NamedTuple):
    """A share of what was asked, as two whole numbers; `asked` is -1 where nobody knows (a member that has diverged).

    A program returns counts, and the host divides: 9 / 10 is then the double 0.9, which a threshold of 0.9 reaches.
    """

    right: Int[Array, "*b"]
    asked: Int[Array, "*b"]


def on_host(metrics: dict[str, Any]) -> dict[str, np.ndarray]:
    """Metrics that were fetched from the devices, counts as shares in double precision: 0 of 0 is 0."""
    return {name: _share(value) if isinstance(value, Count) else value for name, value in metrics.items()}


def _share(count: Count) -> np.ndarray:
    right, asked = np.asarray(count.right), np.asarray(count.asked)
    return np.where(asked < 0, np.nan, right / np.maximum(asked, 1))


def divided(total: Array, by: Array | float) -> Array:
    """total / by, correctly rounded.

    A compiler that knows `by` multiplies by its reciprocal instead, which is one step of float32 too low for 610 of the
    whole numbers below 5,000: 41 right of 41 were 0.99999994. So it is not to know: where the total is NaN, the number
    is another one. (`jax.lax.optimization_barrier` is taken away before that step on a CPU.)
    """
    return total / jnp.where(jnp.isnan(total), jnp.ones_like(total), jnp.asarray(by, total.dtype))


class RunningMean(NamedTuple):
    """A mean of terms that come one by one, summed with compensation (W. Kahan, 1965): in single precision a plain sum
    of equal terms is 0.6 % off after a million of them, and stands still from 2^24 on."""

    total: Float[Array, ""]
    rest: Float[Array, ""]
    """What the total has too much, by rounding."""
    count: Int[Array, ""]

    @classmethod
    def nothing(cls, float_type: Any = np.float32) -> RunningMean:
        return cls(jnp.zeros((), float_type), jnp.zeros((), float_type), jnp.int32(0))

    def plus(self, term: Array) -> RunningMean:
        """With one more term."""
        missing = term - self.rest
        total = self.total + missing
        return RunningMean(total, (total - self.total) - missing, self.count + 1)

    @property
    def sum(self) -> Array:
        return self.total - self.rest

    @property
    def mean(self) -> Array:
        """NaN of nothing."""
        return self.sum / self.count
