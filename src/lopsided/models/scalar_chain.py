"""The smallest deep network: f(x) = w_1 w_2 ... w_k x, or w^k x with tied weights (the toy losses of paper B's slides).

With x ~ N(0, 1) and target x its expected square loss is (1 - w^k)² / 2: deeper chains learn later and more sharply.
"""

from __future__ import annotations

from typing import Annotated, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.batch import Batch
from lopsided.core.config import TracedFloat
from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.model import Model, RidgeModel
from lopsided.core.shapes import Classes, Inputs, Scalar, Vector
from lopsided.numerics.hermite import Link


class Chain(eqx.Module):
    """One weight with `power` k (tied), or k weights with power 1."""

    w: Float[Array, " n"]
    power: int = eqx.field(static=True)

    def slope(self) -> Float[Array, ""]:
        """f(x) / x."""
        return self.w.prod() ** self.power

    def ridges(self) -> tuple[Float[Array, " 1"], Float[Array, "1 1"], Link]:
        """The slope along the only direction of a one-dimensional input, link h_1(z) = z."""
        slope = self.slope()[None]
        return slope, jnp.ones_like(slope)[:, None], ((1, 1.0),)

    def __call__(self, batch: Batch) -> Float[Array, " B"]:
        return self.slope() * batch.inputs[:, 0]


class ScalarChain(Model, RidgeModel):
    """k weights in a row, tied (one number, `depth` times) or not; each starts at start * exp(N(0, 1) / 4)."""

    name: Literal["scalar-chain"] = "scalar-chain"
    depth: Annotated[int, Field(ge=1, le=16)] = 3
    tied: bool = True
    start: Annotated[TracedFloat, Field(gt=0, le=1)] = 0.1

    def init(self, key: Key, inputs: Inputs, outputs: Classes | Scalar) -> Chain:
        if inputs != Vector(1) or not isinstance(outputs, Scalar):
            raise InputError("model 'scalar-chain': only for tasks with one number as input and one as output")
        w = self.start * jnp.exp(0.25 * jax.random.normal(key, (1 if self.tied else self.depth,)))
        return Chain(w, self.depth if self.tied else 1)
