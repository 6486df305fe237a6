"""The 2-homogeneous student f(x) = sum_k |v_k|² sigma(<v_k, x> / |v_k|) (paper B, equation 2)."""

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
from lopsided.core.hermite import Link, evaluate
from lopsided.core.keys import Key
from lopsided.core.lowering import matmul
from lopsided.core.model import Model, RidgeModel
from lopsided.core.shapes import Classes, Inputs, Scalar, Vector


class Neurons(eqx.Module):
    """m neurons v_k; with `unit`, only their directions count: f(x) = sum_k sigma(<v_k, x> / |v_k|)."""

    v: Float[Array, "m d"]
    link: Link = eqx.field(static=True)
    unit: bool = eqx.field(static=True)

    def ridges(self) -> tuple[Float[Array, " m"], Float[Array, "m d"], Link]:
        """Strengths (m,), unit directions (m, d) and the link of f as a sum of ridge functions."""
        square = (self.v**2).sum(1)
        directions = self.v / jnp.sqrt(square)[:, None]
        return (jnp.ones_like(square) if self.unit else square), directions, self.link

    def __call__(self, batch: Batch) -> Float[Array, " B"]:
        strengths, directions, link = self.ridges()
        return (strengths * evaluate(link, matmul(batch.inputs, directions.T))).sum(-1)


class Student(Model, RidgeModel):
    """`width` neurons, each uniform on the sphere of radius `sigma_0`.

    `norm` = `unit` fixes every strength at 1: only directions are learned. `hemisphere` flips neurons so that their
    first coordinate is not negative: a link of odd information exponent >= 3 is learned from that side only.
    """

    name: Literal["student"] = "student"
    width: Annotated[int, Field(ge=1, le=2**20)] = 64
    sigma_0: Annotated[TracedFloat, Field(gt=0, le=10)] = 1e-3
    link: Link = ((4, 1.0),)
    norm: Literal["free", "unit"] = "free"
    hemisphere: bool = False

    def init(self, key: Key, inputs: Inputs, outputs: Classes | Scalar) -> Neurons:
        if not isinstance(inputs, Vector) or not isinstance(outputs, Scalar):
            raise InputError("model 'student': only for tasks with vector inputs and one number as output")
        v = jax.random.normal(key, (self.width, inputs.dimension))
        v = self.sigma_0 * v / jnp.sqrt((v**2).sum(1, keepdims=True))
        if self.hemisphere:
            v = jnp.where(v[:, :1] < 0, -v, v)
        return Neurons(v, self.link, self.norm == "unit")
