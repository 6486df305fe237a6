"""The transformer's parts: norms, affine maps, attention, the two kinds of feed-forward layer."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from lopsided.numerics.lowering import einsum, matmul
from lopsided.numerics.sums import normalised, plus_bias, softmax


class Norm(eqx.Module):
    """LayerNorm, or RMSNorm where there is no bias."""

    scale: Float[Array, " D"]
    bias: Float[Array, " D"] | None
    eps: float = eqx.field(static=True, default=1e-5)

    def __call__(self, x: Float[Array, "... D"]) -> Float[Array, "... D"]:
        y = normalised(x, self.scale, self.eps, self.bias is not None)
        return y if self.bias is None else plus_bias(y, self.bias)


class Linear(eqx.Module):
    """x W + b; the bias may be missing."""

    weight: Float[Array, "i o"]
    bias: Float[Array, " o"] | None

    def __call__(self, x: Float[Array, "... i"]) -> Float[Array, "... o"]:
        y = matmul(x, self.weight)
        return y if self.bias is None else plus_bias(y, self.bias)


class Where(NamedTuple):
    """Where the positions of a batch are, and which of them see one another."""

    causal: bool
    segments: Int[Array, "B L"] | None
    positions: Int[Array, "B L"] | None

    def places(self, length: int) -> Int[Array, "b L"]:
        """Place of each position inside its document, (1, L) where all rows are alike."""
        return jnp.arange(length)[None] if self.positions is None else self.positions

    def visible(self, length: int, read: tuple[int, ...] | None) -> Bool[Array, "b O L"] | None:
        """Which positions each query sees: those of its own document, not later than itself if `causal`; None: all.
        Padding (segment 0) sees padding, so that every query sees something."""
        allowed = None
        if self.causal:
            queries = jnp.arange(length) if read is None else jnp.array(read)
            allowed = (jnp.arange(length) <= queries[:, None])[None]
        if self.segments is not None:
            same = picked(self.segments, read)[:, :, None] == self.segments[:, None, :]
            allowed = same if allowed is None else allowed & same
        return allowed


class Seen(NamedTuple):
    """Keys and values of some positions."""

    k: Float[Array, "B L G d"]
    v: Float[Array, "B L G d"]


class Attention(eqx.Module):
    """Attention with separate W_q, W_k, W_v, W_o, so that each can be its own parameter group.

    Queries have `heads` heads, keys and values `kv_heads` (grouped-query attention: neighbouring query heads share).
    `q_norm` and `k_norm` normalise every head's queries and keys before positions are rotated in (`rope_base`; None:
    positions are not rotated).
    """

    q: Linear
    k: Linear
    v: Linear
    o: Linear
    q_norm: Norm | None
    k_norm: Norm | None
    heads: int = eqx.field(static=True)
    kv_heads: int = eqx.field(static=True)
    rope_base: float | None = eqx.field(static=True)

    def __call__(self, x_BLD: Array, at: Where, read: tuple[int, ...] | None) -> Float[Array, "B O D"]:
        length = x_BLD.shape[1]
        # The projections of all positions are one product each; queries only where they are read.
        places = at.places(length)
        seen = self.seen(x_BLD, places)
        return self.attend(picked(x_BLD, read), picked(places, read), seen, at.visible(length, read))

    def seen(self, x_BLD: Array, places: Int[Array, "b L"]) -> Seen:
        """What other positions see of these."""
        k = self._split(self.k(x_BLD), self.kv_heads)
        k = k if self.k_norm is None else self.k_norm(k)
        k = k if self.rope_base is None else rotated(k, places, self.rope_base)
        return Seen(k, self._split(self.v(x_BLD), self.kv_heads))

    def attend(
        self, x_BOD: Array, places: Int[Array, "b O"], seen: Seen, allowed: Bool[Array, "c O L"] | None
    ) -> Float[Array, "B O D"]:
        """What these positions gather from those that they are allowed to see."""
        batch, outputs = x_BOD.shape[:2]
        q = self._split(self.q(x_BOD), self.heads)
        if self.q_norm is not None:
            q = self.q_norm(q)
        if self.rope_base is not None:
            q = rotated(q, places, self.rope_base)
        # Query heads that share keys are rows of the same product.
        q = q.reshape(batch, outputs, self.kv_heads, -1, q.shape[-1])
        scores = einsum("bogrd,blgd->bgrol", q, seen.k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = jnp.where(allowed[:, None, None], scores, -jnp.inf)
        mixed = einsum("bgrol,blgd->bogrd", softmax(scores), seen.v)
        return self.o(mixed.reshape(batch, outputs, -1))

    def _split(self, t: Array, heads: int) -> Array:
        return t.reshape(*t.shape[:2], heads, -1)


def picked(x: Array, read: tuple[int, ...] | None) -> Array:
    """The positions in `read` of an array (B, L, ...); None: all of them."""
    return x if read is None or len(read) == x.shape[1] else x[:, jnp.array(read)]


def rotated(t: Float[Array, "B L H d"], position: Array, base: float) -> Float[Array, "B L H d"]:
    """Rotary position embedding: coordinates i and i + d/2 turn by position * base^(-2i/d) (Su et al. 2021, paired as
    in the LLaMA family). `position` is (1, L) or (B, L)."""
    half = t.shape[-1] // 2
    angle = position[..., None] * base ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angle)[..., None, :], jnp.sin(angle)[..., None, :]
    a, b = t[..., :half], t[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


class FeedForward(eqx.Module):
    """down(gelu(up x)), or, with a gate, down(silu(gate x) * up x)."""

    up: Linear
    down: Linear
    gate: Linear | None

    def __call__(self, x: Float[Array, "... D"]) -> Float[Array, "... D"]:
        hidden = jax.nn.gelu(self.up(x)) if self.gate is None else jax.nn.silu(self.gate(x)) * self.up(x)
        return self.down(hidden)


class Block(eqx.Module):
    """Pre-norm residual block: x + attention(norm x), then x + mlp(norm x)."""

    norm_attention: Norm
    attention: Attention
    norm_mlp: Norm
    mlp: FeedForward

    def __call__(self, x_BLD: Array, at: Where, read: tuple[int, ...] | None) -> Float[Array, "B O D"]:
        x_BOD = picked(x_BLD, read) + self.attention(self.norm_attention(x_BLD), at, read)
        return x_BOD + self.mlp(self.norm_mlp(x_BOD))

    def remembering(
        self, x_BLD: Array, places: Int[Array, "B L"], seen: Seen, first: Any, allowed: Bool[Array, "B L M"]
    ) -> tuple[Float[Array, "B L D"], Seen]:
        """The block at L more positions, from `first` on, of M that are kept: outputs, and what is seen of them all."""
        x = self.norm_attention(x_BLD)
        new = self.attention.seen(x, places)
        seen = Seen(*(jax.lax.dynamic_update_slice_in_dim(a, b, first, 1) for a, b in zip(seen, new, strict=True)))
        x_BLD = x_BLD + self.attention.attend(x, places, seen, allowed)
        return x_BLD + self.mlp(self.norm_mlp(x_BLD)), seen
