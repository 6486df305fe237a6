"""Losses and accuracies of one batch. Numbers f, targets y:

square (f - y)^2 / 2 · logistic log(1 + exp(-y f)) · correlation -y f · cross-entropy of each target position.

A mean is over the target positions of a whole batch, weighted (`Batch.weights`): a row with twice the weight counts
twice.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from lopsided.core.batch import Batch, target_weights
from lopsided.core.shapes import Outputs, has_accuracy
from lopsided.core.task import LossName
from lopsided.numerics.means import Count, divided


class Share(NamedTuple):
    """What each sample adds to a mean: the mean is total.sum() / weight.sum()."""

    total: Float[Array, " B"]
    weight: Float[Array, " B"] | None = None
    """None: 1 for every sample."""


def mean(share: Share) -> Float[Array, ""]:
    """The mean; 0 where nothing has weight."""
    if share.weight is None:
        return divided(share.total.sum(), len(share.total))
    weight = share.weight.sum()
    return jnp.where(weight > 0, divided(share.total.sum(), jnp.where(weight > 0, weight, 1.0)), 0.0)


def counted(share: Share) -> Count:
    """The mean of an accuracy, whose totals and weights are whole numbers."""
    right = share.total.astype(jnp.int32)
    asked = jnp.ones_like(right) if share.weight is None else share.weight.astype(jnp.int32)
    return Count(right.sum(), asked.sum())


def loss_share(name: LossName, outputs: Array, batch: Batch) -> Share:
    """Loss of each sample; `outputs` (B, O, C) for cross-entropy, (B,) otherwise."""
    y = batch.targets
    if name == "cross-entropy":
        each = optax.softmax_cross_entropy_with_integer_labels(outputs, y)
    elif name == "square":
        each = 0.5 * jnp.square(outputs - y)
    elif name == "logistic":
        each = jax.nn.softplus(-y * outputs)
    else:
        each = -y * outputs
    if batch.weights is None:
        return Share(each if each.ndim == 1 else each.mean(-1))
    weights = target_weights(batch)
    # A position without weight may hold anything, even what is not a number.
    return Share(_by_sample(jnp.where(weights > 0, each, 0.0) * weights), _by_sample(weights))


def accuracy_shares(outputs: Array, batch: Batch, kind: Outputs) -> dict[str, Share]:
    """Accuracies by name, of each sample; none where targets are real numbers.

    `accuracy`: share of answers that are right at all of their positions (or in sign). Where the batch says which
    positions are answers, also `token-accuracy`, the share of their positions that are right, and
    `document-accuracy`, the share of documents with an answer all of whose answers are right.
    """
    if not has_accuracy(kind):
        return {}
    if outputs.ndim == 1:
        right = (outputs * batch.targets > 0).astype(jnp.float32)
        return {"accuracy": _counted(right, batch)}
    right = outputs.argmax(-1) == batch.targets
    if batch.answer is None:
        right = right if batch.weights is None else right | (target_weights(batch) == 0)
        return {"accuracy": _counted(right.all(-1).astype(jnp.float32), batch)}
    asked = batch.answer > 0
    found = {"accuracy": _by_group(right, asked, batch.answer)}
    found["token-accuracy"] = Share((right & asked).sum(-1).astype(jnp.float32), asked.sum(-1).astype(jnp.float32))
    if batch.segments is not None and batch.segments.shape == asked.shape:
        found["document-accuracy"] = _by_group(right, asked, batch.segments)
    else:
        found["document-accuracy"] = _by_group(right, asked, jnp.ones_like(batch.answer))
    return found


def _counted(right: Float[Array, " B"], batch: Batch) -> Share:
    """Every sample that has any weight counts once."""
    if batch.weights is None:
        return Share(right)
    counts = (_by_sample(target_weights(batch)) > 0).astype(jnp.float32)
    return Share(right * counts, counts)


def _by_group(right: Array, asked: Array, group: Array) -> Share:
    """Share of groups of asked positions, in each row, that are right throughout. Group numbers are at most O."""

    def row(right: Array, asked: Array, group: Array) -> tuple[Array, Array]:
        size = group.shape[0] + 1
        place = jnp.where(asked, group, 0)
        there = jnp.zeros(size, bool).at[place].max(asked)
        wrong = jnp.zeros(size, bool).at[place].max(asked & ~right)
        return (there & ~wrong).sum().astype(jnp.float32), there.sum().astype(jnp.float32)

    return Share(*jax.vmap(row)(right, asked, group))


def _by_sample(each: Array) -> Float[Array, " B"]:
    """Sums over target positions."""
    return each if each.ndim == 1 else each.sum(-1)
