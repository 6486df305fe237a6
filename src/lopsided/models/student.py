"""The 2-homogeneous student f(x) = sum_k |v_k|² sigma(<v_k, x> / |v_k|) (paper B, equation 2)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

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
from lopsided.numerics.hermite import Link, evaluate
from lopsided.numerics.lowering import matmul


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

    `ambient`: the weights are drawn in R^ambient, however many inputs n < ambient the task has. Neurons keep their
    first n - width coordinates and their norm; the rest is expressed in a basis of what the neurons span there. A
    gradient of the expected loss stays in the span of the neurons and the teacher's directions, and sees inner products
    alone: with at most n - width directions the run is one in R^ambient, at the price of R^n. Samples are of R^n.
    """

    later: ClassVar[frozenset[str]] = frozenset({"ambient"})

    name: Literal["student"] = "student"
    width: Annotated[int, Field(ge=1, le=2**20)] = 64
    sigma_0: Annotated[TracedFloat, Field(gt=0, le=10)] = 1e-3
    link: Link = ((4, 1.0),)
    norm: Literal["free", "unit"] = "free"
    hemisphere: bool = False
    ambient: Annotated[int | None, Field(ge=1, le=2**20)] = None

    def init(self, key: Key, inputs: Inputs, outputs: Classes | Scalar) -> Neurons:
        if not isinstance(inputs, Vector) or not isinstance(outputs, Scalar):
            raise InputError("model 'student': only for tasks with vector inputs and one number as output")
        v = jax.random.normal(key, (self.width, self.ambient or inputs.dimension))
        v = self.sigma_0 * v / jnp.sqrt((v**2).sum(1, keepdims=True))
        if self.hemisphere:
            v = jnp.where(v[:, :1] < 0, -v, v)
        if self.ambient is not None:
            if not self.width < inputs.dimension <= self.ambient:
                sizes = f"{self.width}, {inputs.dimension} and {self.ambient}"
                raise InputError(f"ambient: takes width < the task's inputs <= ambient; they are {sizes}")
            v = _spanned(v, kept=inputs.dimension - self.width)
        return Neurons(v, self.link, self.norm == "unit")


def _spanned(v: Float[Array, "m N"], kept: int) -> Float[Array, "m n"]:
    """Random neurons in n = kept + m coordinates whose inner products have the same distribution as those of `v`.

    The first `kept` coordinates are copied. The other N - kept are replaced by m coordinates in a basis of the space
    that the m neurons span there: the basis that Gram-Schmidt would build, neuron by neuron. By Bartlett's
    decomposition the coordinates of a normal vector along the earlier basis vectors are independent and normal, and the
    last one is what is left of its norm. Both are read off `v`, so no matrix is decomposed.
    """
    rest = v[:, kept:]
    column = jnp.arange(rest.shape[1])
    before = column < jnp.arange(len(v))[:, None]
    left = jnp.sqrt(jnp.where(before, 0.0, rest**2).sum(1))
    spanned = jnp.where(before, rest, 0.0)[:, : len(v)] + jnp.diag(left)
    return jnp.concatenate([v[:, :kept], spanned], 1)
