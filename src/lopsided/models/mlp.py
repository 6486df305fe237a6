"""Multi-layer perceptron without residuals (paper C), in PyTorch's default initialisation unless told otherwise."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array
from pydantic import Field

from lopsided.core.batch import Batch
from lopsided.core.errors import InputError
from lopsided.core.groups import ParamGroup
from lopsided.core.keys import Key
from lopsided.core.model import Model
from lopsided.core.shapes import Classes, Inputs, Scalar, Vector
from lopsided.models._parts import Linear

ACTIVATIONS = {"relu": jax.nn.relu, "gelu": jax.nn.gelu, "sigmoid": jax.nn.sigmoid}


class Perceptron(eqx.Module):
    """`layers` affine maps with the activation between them."""

    layers: tuple[Linear, ...]
    activation: str = eqx.field(static=True)
    scalar: bool = eqx.field(static=True)

    def __call__(self, batch: Batch) -> Array:
        act = ACTIVATIONS[self.activation]
        h = batch.inputs
        for layer in self.layers[:-1]:
            h = act(layer(h))
        last = self.layers[-1]
        return last(h)[:, 0] if self.scalar else last(h)[:, None, :]


class MLP(Model):
    """`depth` counts weight layers: depth 2 is one hidden layer.

    `initialisation`: `torch-default` draws weights and biases from Unif[+-1/sqrt(fan_in)]; `gaussian` draws weights
    from N(0, 1/fan_in) and sets biases to zero. `parameterization` "mup" is the maximal-update one (Yang et al. 2022,
    table 3): the last layer's weights start 1/sqrt(fan_in) times as large, and learning rates are multiplied, for SGD,
    by the width for the first layer's weights and all hidden biases and by 1/width for the last layer's weights; for
    Adam, by 1/width for all weights that read hidden units. It is not relative to a base width.
    """

    later: ClassVar[frozenset[str]] = frozenset({"parameterization"})

    name: Literal["mlp"] = "mlp"
    width: Annotated[int, Field(ge=1, le=65536)] = 64
    depth: Annotated[int, Field(ge=1, le=64)] = 2
    activation: Literal["relu", "gelu", "sigmoid"] = "relu"
    initialisation: Literal["torch-default", "gaussian"] = "torch-default"
    parameterization: Literal["standard", "mup"] = "standard"

    def init(self, key: Key, inputs: Inputs, outputs: Classes | Scalar) -> Perceptron:
        if not isinstance(inputs, Vector):
            raise InputError("model 'mlp': only for tasks with vector inputs; token tasks take 'transformer'")
        scalar = isinstance(outputs, Scalar)
        sizes = [inputs.dimension, *[self.width] * (self.depth - 1), 1 if scalar else outputs.count]
        keys = jax.random.split(key, self.depth)
        layers = tuple(self._layer(*pair) for pair in zip(keys, sizes[:-1], sizes[1:], strict=True))
        if self.parameterization == "mup" and self.depth > 1:
            last = layers[-1]
            layers = (*layers[:-1], Linear(last.weight * self.width**-0.5, last.bias))
        return Perceptron(layers, self.activation, scalar)

    def rates(self, inputs: Inputs, outputs: Classes | Scalar, adaptive: bool) -> tuple[ParamGroup, ...]:
        if self.parameterization == "standard" or self.depth == 1:
            return ()
        last, wide = self.depth - 1, float(self.width)
        if adaptive:
            return tuple(ParamGroup(match=f"layers.{i}.weight", lr=1 / wide) for i in range(1, self.depth))
        hidden_biases = [ParamGroup(match=f"layers.{i}.bias", lr=wide) for i in range(last)]
        return (
            ParamGroup(match="layers.0.weight", lr=wide),
            *hidden_biases,
            ParamGroup(match=f"layers.{last}.weight", lr=1 / wide),
        )

    def _layer(self, key: Key, i: int, o: int) -> Linear:
        k_weight, k_bias = jax.random.split(key)
        if self.initialisation == "gaussian":
            return Linear(jax.random.normal(k_weight, (i, o)) * i**-0.5, jnp.zeros(o))
        unit = i**-0.5
        return Linear(
            jax.random.uniform(k_weight, (i, o), minval=-unit, maxval=unit),
            jax.random.uniform(k_bias, (o,), minval=-unit, maxval=unit),
        )
