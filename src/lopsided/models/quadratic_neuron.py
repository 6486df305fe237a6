"""One quadratic neuron, f(x) = a (w.x)² / 2 (paper C, section 4.2; the constant it adds there changes no gradient)."""

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
from lopsided.core.model import Model
from lopsided.core.shapes import Classes, Inputs, Scalar, Vector
from lopsided.numerics.lowering import product


class Neuron(eqx.Module):
    """Outer weight a and inner weights w."""

    a: Float[Array, ""]
    w: Float[Array, " d"]

    def __call__(self, batch: Batch) -> Float[Array, " B"]:
        return 0.5 * self.a * jnp.square(product(batch.inputs, self.w))


class QuadraticNeuron(Model):
    """w uniform on the unit sphere, a ~ N(0, 1/m): one of the m neurons of a network, which do not meet under the
    correlation loss."""

    name: Literal["quadratic-neuron"] = "quadratic-neuron"
    m: Annotated[TracedFloat, Field(ge=1, le=1e12)] = 1024.0

    def init(self, key: Key, inputs: Inputs, outputs: Classes | Scalar) -> Neuron:
        if not isinstance(inputs, Vector) or not isinstance(outputs, Scalar):
            raise InputError("model 'quadratic-neuron': only for tasks with vector inputs and one number as output")
        k_a, k_w = jax.random.split(key)
        w = jax.random.normal(k_w, (inputs.dimension,))
        return Neuron(jax.random.normal(k_a) / jnp.sqrt(jnp.float32(self.m)), w / jnp.sqrt(jnp.square(w).sum()))
