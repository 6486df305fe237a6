"""Mean loss of a batch and its gradient. A batch may come whole, in pieces (then memory stays that of one piece), or as
the whole distribution, where the expectation has a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lopsided.core.batch import Batch
from lopsided.core.spec import Spec
from lopsided.core.task import ExactLoss
from lopsided.numerics.lowering import gathered
from lopsided.numerics.means import divided
from lopsided.optim.losses import Share, accuracy_shares, loss_share


class BatchGrad(NamedTuple):
    """Mean loss and accuracy of a batch, and the gradient of the mean loss."""

    loss: Float[Array, ""]
    accuracy: Float[Array, ""]
    """Share of right answers; 0 unless it was asked for."""
    grads: Any
    by_skill: tuple[Any, ...] = ()
    """(R,) sums of the losses of the samples that need each skill, and (R,) how many do; nothing unless asked for."""


class Pieces(NamedTuple):
    """A batch given piece by piece."""

    number: Any
    """How many pieces, perhaps traced."""
    piece: Callable[[Any], Batch]
    """Piece i; all have equal shapes, samples that only fill the last one up have weight 0."""
    axis: str | None = None
    """The mesh axis whose devices each have pieces of their own; None: this device has all of them."""


class Population(NamedTuple):
    """All samples at once, for tasks with an exact loss."""

    latent: Any
    frequency: Array | None
    """(n_skills,) how often each skill occurs; None for tasks without skills."""


AnyBatch = Batch | Pieces | Population


def loss_and_grad(spec: Spec, params: Any, batch: AnyBatch, accuracy: bool = False, skills: int = 0) -> BatchGrad:
    """The batch's mean loss and its gradient; its accuracy, and the losses of that many skills, if asked for."""
    if isinstance(batch, Population):
        value, grads = jax.value_and_grad(exact_loss, argnums=1)(spec, params, *batch)
        return BatchGrad(value, jnp.zeros_like(value), grads)

    def one(p: Any, piece: Batch) -> tuple[Array, Any]:
        outputs = gathered(p)(piece)
        share = loss_share(spec.loss, outputs, piece)
        right = accuracy_shares(outputs, piece, spec.task.outputs)["accuracy"] if accuracy else Share(jnp.zeros(1))
        apart = _by_skill(share, piece.skills, skills) if skills else ()
        return share.total.sum(), (_weight(share), (right.total.sum(), _weight(right)), apart)

    grad = jax.value_and_grad(one, has_aux=True)
    if isinstance(batch, Batch):
        total = grad(params, batch)
    else:
        nothing = jnp.float32(0)
        apart = (jnp.zeros(skills), jnp.zeros(skills)) if skills else ()
        zero = ((nothing, (nothing, (nothing, nothing), apart)), jax.tree.map(jnp.zeros_like, params))
        add = lambda i, so_far: jax.tree.map(jnp.add, so_far, grad(params, batch.piece(i)))
        total = jax.lax.fori_loop(0, batch.number, add, zero)
        if batch.axis is not None:
            total = jax.lax.psum(total, batch.axis)
    (loss, (weight, (right, asked), apart)), grads = total
    loss, grads = jax.tree.map(lambda x: x / _positive(weight), (loss, grads))
    return BatchGrad(loss, divided(right, _positive(asked)), grads, apart)


def _by_skill(share: Share, needed: Array, skills: int) -> tuple[Array, Array]:
    """Sums over the samples (B,) that need each of the skills (B, K), where -1 is none; a sample counts once for every
    place at which it needs the skill."""
    weight = jnp.ones_like(share.total) if share.weight is None else share.weight
    counts = jnp.where((needed >= 0) & (weight > 0)[:, None], 1.0, 0.0)
    loss = jnp.where(weight > 0, share.total / jnp.where(weight > 0, weight, 1.0), 0.0)
    at = jnp.where(needed >= 0, needed, 0)
    nothing = jnp.zeros(skills)
    return nothing.at[at].add(jax.lax.stop_gradient(loss)[:, None] * counts), nothing.at[at].add(counts)


def _weight(share: Share) -> Any:
    """The weight of a mean: a plain number where every sample counts once."""
    return float(len(share.total)) if share.weight is None else share.weight.sum()


def _positive(weight: Any) -> Any:
    """A weight to divide by: a batch without any has loss 0 and no gradient."""
    return weight if isinstance(weight, float) else jnp.where(weight > 0, weight, 1.0)


def exact_loss(spec: Spec, params: Any, latent: Any, frequency: Array | None) -> Array:
    """The exact expected loss of a task that knows it; `frequency` (n_skills,) of its skills, None if it has none."""
    return cast(ExactLoss, spec.task).exact_loss(params, latent, spec.loss, frequency)


def uniform(n_skills: int, float_type: Any) -> Array | None:
    """(n_skills,) equal frequencies, or None."""
    return jnp.full(n_skills, 1.0 / n_skills, float_type) if n_skills else None
