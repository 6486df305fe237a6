"""Multi-layer perceptron without residuals (paper C), in PyTorch's default initialisation unless told otherwise."""

from __future__ import annotations

from typing import Annotated, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.protocols import Classes, Model, Scalar, Tokens, Vector
from lopsided.models._linear import matmul

ACTIVATIONS = {"relu": jax.nn.relu, "gelu": jax.nn.gelu, "sigmoid": jax.nn.sigmoid}


class Layer(eqx.Module):
    """x W + b."""

    weight: Float[Array, "i o"]
    bias: Float[Array, " o"]

    def __call__(self, x: Float[Array, "B i"]) -> Float[Array, "B o"]:
        return matmul(x, self.weight) + self.bias


class Perceptron(eqx.Module):
    """`layers` affine maps with the activation between them."""

    layers: tuple[Layer, ...]
    activation: str = eqx.field(static=True)
    scalar: bool = eqx.field(static=True)

    def __call__(self, x_BD: Float[Array, "B D"]) -> Array:
        act = ACTIVATIONS[self.activation]
        h = x_BD
        for layer in self.layers[:-1]:
            h = act(layer(h))
        last = self.layers[-1]
        return last(h)[:, 0] if self.scalar else last(h)[:, None, :]


class MLP(Model):
    """`depth` counts weight layers: depth 2 is one hidden layer.

    `init`: `torch-default` draws weights and biases from Unif[+-1/sqrt(fan_in)]; `gaussian` draws weights from
    N(0, 1/fan_in) and sets biases to zero.
    """

    name: Literal["mlp"] = "mlp"
    width: Annotated[int, Field(ge=1, le=65536)] = 64
    depth: Annotated[int, Field(ge=1, le=64)] = 2
    activation: Literal["relu", "gelu", "sigmoid"] = "relu"
    initialisation: Literal["torch-default", "gaussian"] = "torch-default"

    def init(self, key: Key, inputs: Tokens | Vector, outputs: Classes | Scalar) -> Perceptron:
        if not isinstance(inputs, Vector):
            raise InputError("model 'mlp': only for tasks with vector inputs; token tasks take 'transformer'")
        scalar = isinstance(outputs, Scalar)
        sizes = [inputs.dimension, *[self.width] * (self.depth - 1), 1 if scalar else outputs.count]
        keys = jax.random.split(key, self.depth)
        layers = tuple(self._layer(*pair) for pair in zip(keys, sizes[:-1], sizes[1:], strict=True))
        return Perceptron(layers, self.activation, scalar)

    def _layer(self, key: Key, i: int, o: int) -> Layer:
        k_weight, k_bias = jax.random.split(key)
        if self.initialisation == "gaussian":
            return Layer(jax.random.normal(k_weight, (i, o)) * i**-0.5, jnp.zeros(o))
        unit = i**-0.5
        return Layer(
            jax.random.uniform(k_weight, (i, o), minval=-unit, maxval=unit),
            jax.random.uniform(k_bias, (o,), minval=-unit, maxval=unit),
        )
