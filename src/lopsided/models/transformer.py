"""One configurable pre-norm transformer, from a small encoder to the architectures of GPT-2 and Qwen3.

Only the positions that the task reads are computed in the last block and in the head (keys and values still cover
every position): same function, a quarter to a half of the work on short sequences.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import Field, model_validator

from lopsided.core.batch import Batch
from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.model import ContinuesText, Model
from lopsided.core.shapes import Classes, Inputs, Scalar, Tokens, Vector
from lopsided.models._decoding import greedy
from lopsided.models._parts import Attention, Block, FeedForward, Linear, Norm, Where
from lopsided.numerics.lowering import gathered, layer, product, through_layers
from lopsided.numerics.stack import Stack

SMALL = 0.02
"""Standard deviation of initial weights, GPT-2's."""
UNROLLED = 2
"""Up to so many layers are unrolled: a loop of one turn would save no compile time."""


class Network(eqx.Module):
    """Tokens (B, L), numbers (B, L) or vectors (B, L, D) -> logits (B, O, C) at the positions that the task reads, or
    one number each (B,)."""

    embedding: Float[Array, "vocabulary D"] | None
    read_in: Linear | None
    position: Float[Array, "L D"] | None
    blocks: Stack | tuple[Block, ...]
    norm: Norm
    head: Linear | None
    read: tuple[int, ...] | None = eqx.field(static=True)
    causal: bool = eqx.field(static=True)
    scalar: bool = eqx.field(static=True)

    def __call__(self, batch: Batch) -> Array:
        h = self._embedded(batch)
        at = Where(self.causal, batch.segments, batch.positions)
        one = layer(lambda h, block: block(h, at, None))
        # The layers before the last see every position, and so does the last where every position is read.
        alike = len(self.blocks) if self.read is None else len(self.blocks) - 1
        if isinstance(self.blocks, Stack):  # scanned: compile time does not grow with depth
            h = through_layers(one, h, self.blocks[:alike])
        else:
            for block in self.blocks[:alike]:
                h = one(h, block)
        if self.read is not None:
            h = layer(lambda h, block: block(h, at, self.read))(h, gathered(self.blocks[-1]))
        y = self.logits(h)
        return y[:, 0, 0] if self.scalar else y

    def greedy(self, prompts: Batch, count: int) -> Array:
        """See `lopsided.core.model.Continues`."""
        return greedy(self, prompts, count)

    def logits(self, h: Float[Array, "B O D"]) -> Float[Array, "B O C"]:
        """Logits of the next token, or of the answer's classes."""
        h = self.norm(h)
        if self.head is not None:
            return self.head(h)
        assert self.embedding is not None
        return product(h, self.embedding.T)

    def _embedded(self, batch: Batch) -> Float[Array, "B L D"]:
        x = batch.inputs
        if self.embedding is not None:
            h = self.embedding[x]
        else:
            assert self.read_in is not None
            h = self.read_in(x if x.ndim == 3 else x[..., None])
        if self.position is None:
            return h
        length = h.shape[1]
        if batch.positions is not None:
            return h + self.position[batch.positions]
        return h + (self.position if length == len(self.position) else self.position[:length])


class Transformer(Model, ContinuesText):
    """Pre-norm transformer. Of a task with vector inputs every coordinate is a position, read in by an affine map.

    `attention`: `encoder` (every position sees all) or `causal`. `norm`: LayerNorm or RMSNorm, `eps` inside the root.
    `positions`: a learned vector each, or rotary embeddings of base `rope_base`. `kv_heads`: heads of keys and values
    (grouped-query attention; as many as `heads` if not given); `head_width`: numbers of one head (width / heads if
    not given). `qk_norm`: RMSNorm with a learnable scale over each head's queries and keys. `mlp`: GELU or SwiGLU, with
    `hidden` units (expansion * width if not given). `tied`: the token embedding is the output map, too. `bias`: whether
    affine maps have one (keys never do, see below).

    `initialisation`: `torch-attention` is that of PyTorch's attention and linear layers, with embeddings N(0, 0.02^2);
    `torch-default` that of a network of PyTorch's linear layers and embeddings alone (weights and biases
    Unif[+-1/sqrt(fan_in)], embeddings N(0, 1); paper C); `normal` draws all weights from N(0, 0.02^2), biases 0 (as
    in GPT-2).

    With `layers` 12, `heads` 12, `width` 768, `attention` causal and `tied` it is GPT-2 small; with `norm` rms,
    `positions` rope, `qk_norm`, `mlp` swiglu, no `bias` and `tied` it is Qwen3's architecture.
    """

    later: ClassVar[frozenset[str]] = frozenset(
        {"positions", "rope_base", "kv_heads", "head_width", "qk_norm", "mlp", "hidden", "tied", "bias", "eps"}
        | {"initialisation"}
    )

    name: Literal["transformer"] = "transformer"
    layers: Annotated[int, Field(ge=1, le=64)] = 2
    width: Annotated[int, Field(ge=1, le=8192)] = 64
    heads: Annotated[int, Field(ge=1, le=128)] = 4
    attention: Literal["encoder", "causal"] = "encoder"
    norm: Literal["layer", "rms"] = "layer"
    expansion: Annotated[int, Field(ge=1, le=16)] = 4
    positions: Literal["learned", "rope"] = "learned"
    rope_base: Annotated[float, Field(gt=1, le=1e9)] = 10_000.0
    kv_heads: Annotated[int, Field(ge=1, le=128)] | None = None
    head_width: Annotated[int, Field(ge=1, le=1024)] | None = None
    qk_norm: bool = False
    mlp: Literal["gelu", "swiglu"] = "gelu"
    hidden: Annotated[int, Field(ge=1, le=65536)] | None = None
    tied: bool = False
    bias: bool = True
    eps: Annotated[float, Field(gt=0, le=1e-2)] = 1e-5
    initialisation: Literal["torch-attention", "torch-default", "normal"] = "torch-attention"

    @model_validator(mode="after")
    def _heads_divide(self) -> Transformer:
        if self.head_width is None and self.width % self.heads:
            raise InputError(f"heads = {self.heads}: must divide width = {self.width}")
        if self.heads % (self.kv_heads or self.heads):
            raise InputError(f"kv_heads = {self.kv_heads}: must divide heads = {self.heads}")
        if self.positions == "rope" and self._of_one_head % 2:
            raise InputError(f"positions = 'rope': takes heads of an even width, here {self._of_one_head}")
        return self

    @property
    def continues(self) -> bool:
        return self.attention == "causal"

    @property
    def _of_one_head(self) -> int:
        return self.head_width or self.width // self.heads

    def init(self, key: Key, inputs: Inputs, outputs: Classes | Scalar) -> Network:
        keys = jax.random.split(key, 3 + self.layers)
        k_embed, k_position, k_head = keys[:3]
        tokens = isinstance(inputs, Tokens)
        scalar = isinstance(outputs, Scalar)
        classes = 1 if isinstance(outputs, Scalar) else outputs.count
        if self.tied and (not tokens or classes != inputs.vocabulary):
            raise InputError("model.tied: only for tasks whose answers are tokens of their inputs")
        length = inputs.dimension if isinstance(inputs, Vector) else inputs.length
        size = 1.0 if self.initialisation == "torch-default" else SMALL
        normal = lambda k, rows: size * jax.random.normal(k, (rows, self.width))
        of_one = 1 if isinstance(inputs, Vector) else getattr(inputs, "dimension", 0)
        return Network(
            embedding=normal(k_embed, inputs.vocabulary) if tokens else None,
            read_in=None if tokens else self._linear(k_embed, of_one, self.width),
            position=normal(k_position, length) if self.positions == "learned" else None,
            blocks=Stack(jax.vmap(self._block)(keys[3:]))
            if self.layers > UNROLLED
            else tuple(map(self._block, keys[3:])),
            norm=self._norm(self.width),
            head=None if self.tied else self._linear(k_head, self.width, classes),
            read=(length - 1,) if isinstance(outputs, Scalar) else outputs.read,
            causal=self.attention == "causal",
            scalar=scalar,
        )

    def _norm(self, width: int) -> Norm:
        return Norm(jnp.ones(width), jnp.zeros(width) if self.norm == "layer" else None, self.eps)

    def _block(self, key: Key) -> Block:
        k = jax.random.split(key, 6)
        w, one, kv_heads = self.width, self._of_one_head, self.kv_heads or self.heads
        hidden = self.hidden or self.expansion * w
        # PyTorch initialises the stacked (3w, w) projection as one matrix.
        xavier = (6 / (4 * w)) ** 0.5 if self.initialisation == "torch-attention" else None
        scale = lambda: Norm(jnp.ones(one), None, self.eps) if self.qk_norm else None
        attention = Attention(
            q=self._linear(k[0], w, self.heads * one, xavier),
            # No bias on keys: it adds the same number to all scores of a query, which the softmax removes. Its exact
            # gradient is zero, and Adam would blow the rounding noise around that zero up to full-size steps. (With
            # QK norm or rotary positions a bias would act; there is none then either, as in Qwen3.)
            k=Linear(self._linear(k[1], w, kv_heads * one, xavier).weight, None),
            v=self._linear(k[2], w, kv_heads * one, xavier),
            o=self._linear(k[3], self.heads * one, w, zero_bias=self.initialisation == "torch-attention"),
            q_norm=scale(),
            k_norm=scale(),
            heads=self.heads,
            kv_heads=kv_heads,
            rope_base=self.rope_base if self.positions == "rope" else None,
        )
        gate = self._linear(jax.random.fold_in(k[4], 1), w, hidden) if self.mlp == "swiglu" else None
        mlp = FeedForward(self._linear(k[4], w, hidden), self._linear(k[5], hidden, w), gate)
        return Block(self._norm(w), attention, self._norm(w), mlp)

    def _linear(self, key: Key, i: int, o: int, bound: float | None = None, zero_bias: bool = False) -> Linear:
        """`bound` given: Unif[+-bound] and a zero bias; otherwise as `initialisation` says."""
        k_weight, k_bias = jax.random.split(key)
        unit = bound or i**-0.5
        if self.initialisation == "normal":
            weight = SMALL * jax.random.normal(k_weight, (i, o))
        else:
            weight = jax.random.uniform(k_weight, (i, o), minval=-unit, maxval=unit)
        if not self.bias:
            return Linear(weight, None)
        if bound is not None or zero_bias or self.initialisation == "normal":
            return Linear(weight, jnp.zeros(o))
        return Linear(weight, jax.random.uniform(k_bias, (o,), minval=-unit, maxval=unit))
