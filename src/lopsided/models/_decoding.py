"""Greedy decoding with a cache of keys and values: the prompts at once, then a token at a time, in one loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from lopsided.core.batch import Batch
from lopsided.models._parts import Block, Seen

if TYPE_CHECKING:
    from lopsided.models.transformer import Network


def greedy(network: Network, prompts: Batch, count: int) -> Int[Array, "B T"]:
    """See `lopsided.core.model.Continues`; jittable, and under `vmap` over members. `count` is at least 1."""
    batch, length = prompts.inputs.shape
    new = jnp.arange(1, count + 1)
    if prompts.positions is None:
        place = jnp.broadcast_to(jnp.arange(length + count), (batch, length + count))
    else:
        place = jnp.concatenate([prompts.positions, prompts.positions[:, -1:] + new], axis=1)
    if prompts.segments is None:
        real = jnp.ones((batch, length + count), bool)
    else:  # what stands before the prompt sees and is seen by nothing else
        last = prompts.segments[:, -1:]
        real = jnp.concatenate([(prompts.segments == last) & (last > 0), jnp.ones((batch, count), bool)], axis=1)
    seen = [_nothing(block, batch, length + count) for block in _blocks(network)]

    def at(tokens: Array, first: Any, seen: list[Seen]) -> tuple[Array, list[Seen]]:
        """The likeliest token after `tokens` (B, n), which stand at columns first, ..."""
        assert network.embedding is not None
        column = first + jnp.arange(tokens.shape[1])
        places = place[:, column]
        h = network.embedding[tokens]
        if network.position is not None:
            # Beyond the positions that it has learned, a network has nothing to say.
            h = h + network.position[jnp.minimum(places, len(network.position) - 1)]
        every = jnp.arange(length + count)
        allowed = (every <= column[:, None])[None] & (real[:, None, :] | ~real[:, column][:, :, None])
        kept = []
        for block, one in zip(_blocks(network), seen, strict=True):
            h, new = block.remembering(h, places, one, first, allowed)
            kept.append(new)
        return network.logits(h[:, -1:])[:, 0].argmax(-1).astype(jnp.int32), kept

    token, seen = at(prompts.inputs, 0, seen)

    def step(carry: Any, i: Array) -> Any:
        token, seen = carry
        following, seen = at(token[:, None], length + i, seen)
        return (following, seen), following

    _, following = jax.lax.scan(step, (token, seen), jnp.arange(count - 1))
    return jnp.concatenate([token[:, None], following.T], axis=1)


def _blocks(network: Network) -> list[Block]:
    """The blocks one by one, also where they are stacked."""
    return [network.blocks[i] for i in range(len(network.blocks))]


def _nothing(block: Block, batch: int, length: int) -> Seen:
    """An empty cache."""
    attention = block.attention
    width = attention.k.weight.shape[-1] // attention.kv_heads
    empty = jnp.zeros((batch, length, attention.kv_heads, width), attention.k.weight.dtype)
    return Seen(empty, empty)
