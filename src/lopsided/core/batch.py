"""What a network is called on and judged by: inputs, targets, weights, and how packed rows are divided."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Batch(NamedTuple):
    """B samples (rows). Every field but the first may be None. Lengths L and O may differ between batches.

    A row may hold several documents: `segments` numbers them from 1, 0 is padding. Positions of different segments do
    not see one another, and `positions` starts again at 0 in each. What the loss counts (`weights`) and what counts as
    the answer (`answer`) are two things: a worked solution has weights on all of its tokens and ends in an answer.
    """

    inputs: Array
    """(B, L) int32 tokens, (B, D) float32, or (B, L, D) float32."""
    targets: Any = None
    """(B, O) int32 classes, or (B,) float32."""
    weights: Any = None
    """(B, O) or (B,) float32: weight of each target in the loss; 0 for padding. None: 1 everywhere."""
    answer: Any = None
    """(B, O) int32: number of the answer that a position belongs to, from 1 in each row; 0: to none.
    None: all positions of a row are one answer."""
    segments: Any = None
    """(B, L) int32: document of each position, from 1; 0: padding. None: one document a row."""
    positions: Any = None
    """(B, L) int32: place of each position inside its document. None: 0, ..., L - 1."""
    skills: Any = None
    """(B, K) int32: ids of the skills that a sample needs, -1 where there are fewer. None where a task has none."""


Sample: TypeAlias = Batch
"""One sample: the fields of a `Batch` without the axis B."""


def target_weights(batch: Batch) -> Array:
    """The weights written out, with the shape of the targets."""
    ones = jnp.ones(batch.targets.shape, jnp.float32)
    return ones if batch.weights is None else jnp.broadcast_to(batch.weights, batch.targets.shape)


def included(batch: Batch, which: Float[Array, " B"]) -> Batch:
    """The batch with the weights of its samples multiplied by `which`: 0 leaves a sample out."""
    weights = target_weights(batch)
    return batch._replace(weights=weights * which.reshape(-1, *[1] * (weights.ndim - 1)))


def stacked(samples: list[Sample]) -> Batch:
    """One batch of samples with equal shapes."""
    return jax.tree.map(lambda *x: jnp.stack(x), *samples)
