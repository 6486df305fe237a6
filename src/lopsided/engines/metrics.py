"""What an evaluation measures of one member: test metrics, training loss, probes. Functions of its own spec."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from lopsided.core.batch import Batch, Sample
from lopsided.core.keys import stream
from lopsided.core.plan import Remembers, sizes_of, streams_of
from lopsided.core.probe import ProbeContext, Trained
from lopsided.core.spec import Spec
from lopsided.core.task import ExactLoss, SampleContext, SkillLaw, n_skills
from lopsided.engines.gradient import exact_loss, loss_and_grad, uniform
from lopsided.engines.members import State
from lopsided.engines.sampling import MemberContext, test_sample, training_sample
from lopsided.numerics.lowering import gathered, spread
from lopsided.numerics.means import Count
from lopsided.optim.losses import Share, accuracy_shares, counted, loss_share, mean

LEAST_PIECE = 256
"""Samples of an evaluation that are in memory at once, at least where their activations allow it."""


def evaluate(member: MemberContext, state: State, initial: Any, micro: int) -> dict[str, Any]:
    """Metrics by name, accuracies as counts; NaN for a member that has diverged."""
    spec = member.spec
    skills = n_skills(spec.task)

    def one(probabilities: Array | None, name: str) -> Callable[[Any], Sample]:
        if probabilities is None:
            probabilities = jnp.full(skills, 1.0 / max(skills, 1))
        law = None if member.order is None else SkillLaw(jnp.cumsum(probabilities), member.order)
        key = stream(member.seed, name)
        return lambda i: test_sample(member, key, i, law)

    def on(probabilities: Array | None, name: str, samples: int) -> dict[str, Array]:
        return mean_metrics(spec, state.params, one(probabilities, name), samples, micro)

    def drawn(probabilities: Array | None, name: str, samples: int) -> Batch:
        return jax.vmap(one(probabilities, name))(jnp.arange(samples, dtype=jnp.uint32))

    exact = partial(exact_loss, spec, state.params, member.latent, uniform(skills, jnp.float32))
    context = ProbeContext(
        state.params,
        initial,
        on,
        skills,
        member.latent,
        exact if isinstance(spec.task, ExactLoss) else None,
        partial(_on_training_set, member, state.params, micro),
        spec.task,
        drawn,
        partial(_mean_gradient, member, state.params, micro) if skills else None,
    )
    shares = totals(spec, state.params, one(None, "test"), spec.evaluation.samples, micro)
    found: dict[str, Any] = {f"test/{k}": mean(v) if k == "loss" else counted(v) for k, v in shares.items()}
    found["train/loss"] = state.loss.mean / (1 + len(streams_of(spec.plan)))
    for probe in spec.probes:
        found |= probe.measure(context)
    known = while_alive(state, found, jnp.float32)
    known |= spec.plan.metrics(state.plan) if isinstance(spec.plan, Remembers) else {}
    listens = member.bound.listens
    return known | ({} if listens is None else listens.metrics(state.heard))


def conclude(member: MemberContext, state: State, micro: int) -> dict[str, Array]:
    """Metrics of the probes that look back over training, by name."""
    spec, law = member.spec, member.law(1.0, state.heard)
    key = stream(member.seed, "looking-back")
    context = SampleContext(member.latent, law, None, "train")
    one = lambda i: spec.task.sample(key, i, context)
    trained = Trained(
        state.kept,
        ravel_pytree(state.params)[1],
        lambda params, n: mean_metrics(spec, params, one, n, micro)["loss"],
    )
    found: dict[str, Array] = {}
    for probe in spec.probes:
        found |= probe.conclude(trained) if probe.n_checkpoints else {}
    return while_alive(state, found, jnp.float32)


def while_alive(state: State, found: dict[str, Any], float_type: Any) -> dict[str, Any]:
    """The metrics of a member that has not diverged; otherwise NaN, or a count of what nobody knows."""
    alive = state.diverged < 0

    def known(value: Any) -> Any:
        if isinstance(value, Count):
            return value._replace(asked=jnp.where(alive, value.asked, -1))
        return jnp.where(alive, value, jnp.nan).astype(float_type)

    return {name: known(value) for name, value in found.items()}


def mean_metrics(spec: Spec, params: Any, one: Callable[[Any], Sample], n: int, micro: int) -> dict[str, Array]:
    """Mean loss (and accuracies) over the samples `one(index)`, index < n."""
    return {name: mean(share) for name, share in totals(spec, params, one, n, micro).items()}


def totals(spec: Spec, params: Any, one: Callable[[Any], Sample], n: int, micro: int) -> dict[str, Share]:
    """What each of the samples `one(index)`, index < n, adds to the mean loss and to the accuracies."""

    def piece(index: Array) -> dict[str, Share]:
        batch = jax.vmap(one)(spread(index))
        outputs = gathered(params)(batch)
        return {"loss": loss_share(spec.loss, outputs, batch)} | accuracy_shares(outputs, batch, spec.task.outputs)

    size = min(n, max(micro, LEAST_PIECE) if micro >= 64 else micro)
    index = jnp.arange(-(-n // size) * size, dtype=jnp.uint32).reshape(-1, size)
    return {name: _first(share, n) for name, share in jax.lax.map(piece, index).items()}


def _first(share: Share, n: int) -> Share:
    """The first n samples of pieces one after the other."""
    return jax.tree.map(lambda x: x.reshape(-1)[:n], share)


def _mean_gradient(member: MemberContext, params: Any, micro: int, one: Array, others: Array, name: str, n: int) -> Any:
    """Gradient of the mean loss on `n` samples of the member's stream `name`, a multiple of the micro-batch rounded up;
    one skill of each from `one` (R,), the others from `others`."""
    law = SkillLaw(jnp.cumsum(others), member.order, jnp.cumsum(one))
    key = stream(member.seed, name)
    size = min(n, micro)
    pieces = -(-n // size)
    draw = jax.vmap(lambda i: test_sample(member, key, i, law))

    def add(piece: Any, so_far: Any) -> Any:
        index = (piece * size + jnp.arange(size)).astype(jnp.uint32)
        return jax.tree.map(jnp.add, so_far, loss_and_grad(member.spec, params, draw(index)).grads)

    total = jax.lax.fori_loop(0, pieces, add, jax.tree.map(jnp.zeros_like, params))
    return jax.tree.map(lambda x: x / pieces, total)


def _on_training_set(member: MemberContext, params: Any, micro: int, n: int) -> dict[str, Array]:
    """Mean metrics on the first `n` training samples (a smaller set, or first phase, again and again), true labels."""
    law = member.law(0.0)
    size = next(iter(sizes_of(member.spec.plan)), None)

    def one(index: Any) -> Sample:
        index = index if size is None else index % jnp.asarray(size).astype(jnp.uint32)
        return training_sample(member, index, law)

    return mean_metrics(member.spec, params, one, n, micro)


def residuals(spec: Spec, params: Any, batch: Batch) -> Any:
    """What the backward pass of the batch's loss keeps, weights included."""
    return jax.vjp(lambda p: loss_share(spec.loss, p(batch), batch).total.sum(), params)[1]
