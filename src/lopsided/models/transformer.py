"""One configurable pre-norm transformer: encoder or causal, learned positions, LayerNorm or RMSNorm, GELU.

Only the positions that the task reads are computed in the last block and in the head (keys and values still cover
every position): same function, a quarter to a half of the work on short sequences.
"""

from __future__ import annotations

from typing import Annotated, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int
from pydantic import Field, model_validator

from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.protocols import Classes, Model, Scalar, Tokens, Vector
from lopsided.models._linear import matmul


class Norm(eqx.Module):
    """LayerNorm, or RMSNorm where there is no bias."""

    scale: Float[Array, " D"]
    bias: Float[Array, " D"] | None
    eps: float = eqx.field(static=True, default=1e-5)

    def __call__(self, x: Float[Array, "... D"]) -> Float[Array, "... D"]:
        if self.bias is not None:
            x = x - x.mean(-1, keepdims=True)
        x = x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + self.eps) * self.scale
        return x if self.bias is None else x + self.bias


class Linear(eqx.Module):
    """x W + b; the bias may be missing."""

    weight: Float[Array, "i o"]
    bias: Float[Array, " o"] | None

    def __call__(self, x: Float[Array, "... i"]) -> Float[Array, "... o"]:
        y = matmul(x, self.weight)
        return y if self.bias is None else y + self.bias


class Attention(eqx.Module):
    """Multi-head attention with separate W_q, W_k, W_v, W_o, so that each can be its own parameter group."""

    q: Linear
    k: Linear
    v: Linear
    o: Linear
    heads: int = eqx.field(static=True)

    def __call__(self, x_BLD: Array, read: tuple[int, ...], causal: bool) -> Float[Array, "B O D"]:
        batch, length, width = x_BLD.shape
        split = lambda t: t.reshape(batch, -1, self.heads, width // self.heads)  # noqa: E731
        # The projections of all positions are one product each; queries only where they are read.
        x_BOD = x_BLD if len(read) == length else x_BLD[:, jnp.array(read)]
        q, k, v = split(self.q(x_BOD)), split(self.k(x_BLD)), split(self.v(x_BLD))
        scores = jnp.einsum("bohd,blhd->bhol", q, k) * (width // self.heads) ** -0.5
        if causal:
            allowed = jnp.arange(length) <= jnp.array(read)[:, None]
            scores = jnp.where(allowed, scores, -jnp.inf)
        mixed = jnp.einsum("bhol,blhd->bohd", jax.nn.softmax(scores, axis=-1), v)
        return self.o(mixed.reshape(batch, len(read), width))


class Block(eqx.Module):
    """Pre-norm residual block: x + attention(norm x), then x + mlp(norm x)."""

    norm_attention: Norm
    attention: Attention
    norm_mlp: Norm
    up: Linear
    down: Linear

    def __call__(self, x_BLD: Array, read: tuple[int, ...], causal: bool) -> Float[Array, "B O D"]:
        x_BOD = x_BLD if len(read) == x_BLD.shape[1] else x_BLD[:, jnp.array(read)]
        x_BOD = x_BOD + self.attention(self.norm_attention(x_BLD), read, causal)
        return x_BOD + self.down(jax.nn.gelu(self.up(self.norm_mlp(x_BOD))))


class Network(eqx.Module):
    """Tokens (B, L) -> logits (B, O, C) at the positions that the task reads."""

    embedding: Float[Array, "vocabulary D"]
    position: Float[Array, "L D"]
    blocks: tuple[Block, ...]
    norm: Norm
    head: Linear
    read: tuple[int, ...] = eqx.field(static=True)
    causal: bool = eqx.field(static=True)
    scalar: bool = eqx.field(static=True)

    def __call__(self, x_BL: Int[Array, "B L"]) -> Array:
        h = self.embedding[x_BL] + self.position
        everywhere = tuple(range(x_BL.shape[1]))
        for i, block in enumerate(self.blocks):
            h = block(h, self.read if i == len(self.blocks) - 1 else everywhere, self.causal)
        y = self.head(self.norm(h))
        return y[:, 0, 0] if self.scalar else y


class Transformer(Model):
    """Embeddings N(0, 0.02^2); every matrix Unif[+-1/sqrt(fan_in)] (PyTorch's default), attention's q, k, v Xavier."""

    name: Literal["transformer"] = "transformer"
    layers: Annotated[int, Field(ge=1, le=64)] = 2
    width: Annotated[int, Field(ge=1, le=8192)] = 64
    heads: Annotated[int, Field(ge=1, le=128)] = 4
    attention: Literal["encoder", "causal"] = "encoder"
    norm: Literal["layer", "rms"] = "layer"
    expansion: Annotated[int, Field(ge=1, le=16)] = 4

    @model_validator(mode="after")
    def _heads_divide(self) -> Transformer:
        if self.width % self.heads:
            raise InputError(f"heads = {self.heads}: must divide width = {self.width}")
        return self

    def init(self, key: Key, inputs: Tokens | Vector, outputs: Classes | Scalar) -> Network:
        if not isinstance(inputs, Tokens):
            raise InputError("model 'transformer': only for tasks with token inputs; vector tasks take 'mlp'")
        k_embed, k_position, k_head, *k_blocks = jax.random.split(key, 3 + self.layers)
        scalar = isinstance(outputs, Scalar)
        read = (inputs.length - 1,) if scalar else outputs.read
        return Network(
            embedding=0.02 * jax.random.normal(k_embed, (inputs.vocabulary, self.width)),
            position=0.02 * jax.random.normal(k_position, (inputs.length, self.width)),
            blocks=tuple(self._block(k) for k in k_blocks),
            norm=self._norm(),
            head=_linear(k_head, self.width, 1 if scalar else outputs.count),
            read=read,
            causal=self.attention == "causal",
            scalar=scalar,
        )

    def _norm(self) -> Norm:
        return Norm(jnp.ones(self.width), jnp.zeros(self.width) if self.norm == "layer" else None)

    def _block(self, key: Key) -> Block:
        k = jax.random.split(key, 6)
        w = self.width
        xavier = (6 / (4 * w)) ** 0.5  # PyTorch initialises the stacked (3w, w) projection as one matrix
        attention = Attention(
            q=_linear(k[0], w, w, xavier),
            # No bias on keys: it adds the same number to all scores of a query, which the softmax removes. Its exact
            # gradient is zero, and Adam would blow the rounding noise around that zero up to full-size steps.
            k=Linear(_linear(k[1], w, w, xavier).weight, None),
            v=_linear(k[2], w, w, xavier),
            o=_linear(k[3], w, w, zero_bias=True),
            heads=self.heads,
        )
        up, down = _linear(k[4], w, self.expansion * w), _linear(k[5], self.expansion * w, w)
        return Block(self._norm(), attention, self._norm(), up, down)


def _linear(key: Key, i: int, o: int, bound: float | None = None, zero_bias: bool = False) -> Linear:
    """`bound` given: Unif[+-bound] and a zero bias; otherwise PyTorch's default."""
    k_weight, k_bias = jax.random.split(key)
    unit = bound or i**-0.5
    weight = jax.random.uniform(k_weight, (i, o), minval=-unit, maxval=unit)
    if bound is not None or zero_bias:
        return Linear(weight, jnp.zeros(o))
    return Linear(weight, jax.random.uniform(k_bias, (o,), minval=-unit, maxval=unit))
