"""Mean loss of a training batch and its gradient; large batches are streamed, so memory stays that of one piece."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lopsided.core.protocols import Sample, SkillLaw
from lopsided.core.spec import Spec
from lopsided.engines.training_stream import Fixed, sample
from lopsided.optim.losses import correct, losses


class Learned(NamedTuple):
    """What a batch says."""

    loss: Float[Array, ""]
    accuracy: Float[Array, ""]
    """Zero unless the plan listens."""
    grads: Any


def training_samples(spec: Spec, fixed: Fixed, law: SkillLaw | None, index: Array, draw: Any, at: Any) -> Sample:
    """Training samples at `index`, whose levels stand at the places `at` of the draw."""
    one = partial(sample, spec, fixed.change, fixed.train)
    top = spec.task.levels - 1
    if top == 0 or not hasattr(spec.plan, "levels"):
        return jax.vmap(lambda i: one(i, law, fixed.world, None, draw.random))(index)
    level = draw.level if at is None else draw.level[at]
    known = jnp.where((level < 0) | (level > top), top, level)
    return jax.vmap(lambda i, j: one(i, law, fixed.world, j, draw.random))(index, known)


def loss_sum(spec: Spec, params: Any, batch: Sample, weight: Array | None) -> tuple[Array, Array]:
    """Sum of the losses, and of right answers if the plan listens."""
    outputs = params(batch.inputs)
    weight = jnp.ones(()) if weight is None else weight
    right = (correct(outputs, batch) * weight).sum() if spec.plan.listens else jnp.float32(0)
    return (losses(spec.loss, outputs, batch) * weight).sum(), right


def learned(spec: Spec, micro: int, params: Any, fixed: Fixed, law: SkillLaw | None, draw: Any) -> Learned:
    """Means over the draw's batch, `micro` samples at a time."""
    grad = jax.value_and_grad(partial(loss_sum, spec), has_aux=True)
    size = spec.plan.batch_size
    count = size if draw.count is None else draw.count
    if micro >= size:
        weight = None if draw.count is None else (jnp.arange(size) < count).astype(jnp.float32)
        total = grad(params, training_samples(spec, fixed, law, draw.index, draw, None), weight)
    else:
        place = jnp.arange(micro, dtype=jnp.int32)

        def add(piece: Any, so_far: Any) -> Any:
            at = jnp.minimum(piece * micro + place, size - 1)
            weight = (piece * micro + place < count).astype(jnp.float32)
            batch = training_samples(spec, fixed, law, draw.index[at], draw, at)
            return jax.tree.map(jnp.add, so_far, grad(params, batch, weight))

        zero = ((jnp.float32(0), jnp.float32(0)), jax.tree.map(jnp.zeros_like, params))
        total = jax.lax.fori_loop(0, (count + micro - 1) // micro, add, zero)
    (loss, right), grads = jax.tree.map(lambda x: x / count, total)
    return Learned(loss, right, grads)
