"""One optimizer update: the only place where parameters change in engines that take steps."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Int

from lopsided.core import groups
from lopsided.core.plan import Remembers, streams_of
from lopsided.core.spec import Spec
from lopsided.core.task import HasChance, Task, n_skills
from lopsided.engines import looking_back
from lopsided.engines.gradient import AnyBatch, loss_and_grad
from lopsided.engines.members import BoundMember, State
from lopsided.skills.listening import Told


def train_step(
    state: State,
    batch: AnyBatch,
    member: BoundMember,
    step: Int[Array, ""],
    others: Sequence[AnyBatch] = (),
    order: Array | None = None,
) -> State:
    """The state after one update on `batch`, and on a batch for each of the plan's further streams (`others`). `order`,
    (R,): the skill that holds each rank, for laws that hear of ranks.

    Pure. A member whose loss is not finite keeps its parameters from then on.
    """
    spec, listens = member.spec, member.listens
    remembers = spec.plan if isinstance(spec.plan, Remembers) else None
    heeded = n_skills(spec.task) if listens is not None and listens.hears_skills else 0
    found = loss_and_grad(spec, state.params, batch, remembers is not None or listens is not None, heeded)
    value, grads = found.loss, found.grads
    for stream, other in zip(streams_of(spec.plan), others, strict=True):
        its = loss_and_grad(spec, state.params, other)
        value, grads = value + its.loss, groups.chosen(grads, its.grads, stream.match)
    updates, optimizer = spec.optimizer.build(spec.steps).update(grads, state.optimizer, state.params)
    updates = groups.scaled(updates, (*_rates(spec), *spec.groups), "lr")
    alive = (state.diverged < 0) & jnp.isfinite(value)
    keep = lambda new, old: jnp.where(alive, new, old)
    params = jax.tree.map(keep, optax.apply_updates(state.params, updates), state.params)
    memory = () if remembers is None else jax.tree.map(keep, remembers.update(state.plan, found.accuracy), state.plan)
    apart = found.by_skill
    if heeded and listens is not None and not listens.by_skill:
        apart = tuple(sums[order] for sums in apart)
    told = Told(above_chance(spec.task, found.accuracy), *apart)
    heard = () if listens is None else listens.after(state.heard, told)
    return State(
        params,
        jax.tree.map(keep, optimizer, state.optimizer),
        jnp.where((state.diverged < 0) & ~jnp.isfinite(value), step.astype(jnp.int32), state.diverged),
        jax.tree.map(keep, state.loss.plus(value), state.loss),
        looking_back.record(spec, state.kept, params, step),
        memory,
        jax.tree.map(keep, heard, state.heard),
    )


def above_chance(task: Task, accuracy: Array) -> Array:
    """Accuracy as a share of the way from chance to 1."""
    chance = task.chance if isinstance(task, HasChance) else 0.0
    return (accuracy - chance) / (1 - chance)


def _rates(spec: Spec) -> tuple[groups.ParamGroup, ...]:
    """Learning rates of the model's parameterization."""
    return spec.model.rates(spec.task.inputs, spec.task.outputs, spec.optimizer.adaptive)
