"""Losses and accuracies of one batch. Numbers f, targets y:

square (f - y)^2 / 2 · logistic log(1 + exp(-y f)) · correlation -y f · cross-entropy, averaged over masked positions.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from lopsided.core.protocols import LossName, Sample


def losses(name: LossName, outputs: Array, batch: Sample) -> Float[Array, " B"]:
    """Loss of each sample; `outputs` (B, O, C) for cross-entropy, (B,) otherwise."""
    y = batch.targets
    if name == "cross-entropy":
        per_position = optax.softmax_cross_entropy_with_integer_labels(outputs, y)
        return (per_position * batch.mask).sum(-1) / batch.mask.sum(-1)
    if name == "square":
        return 0.5 * jnp.square(outputs - y) * batch.mask
    if name == "logistic":
        return jax.nn.softplus(-y * outputs) * batch.mask
    return -y * outputs * batch.mask


def correct(outputs: Array, batch: Sample) -> Float[Array, " B"]:
    """1 where every masked position is right (classes), or where the sign is right (numbers)."""
    if outputs.ndim == 3:
        right = (outputs.argmax(-1) == batch.targets) | (batch.mask == 0)
        return right.all(-1).astype(jnp.float32)
    return (outputs * batch.targets > 0).astype(jnp.float32)
