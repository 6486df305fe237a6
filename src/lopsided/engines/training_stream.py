"""What a member trains on: its task's samples, changed as `TrainingSet` says, with random labels where the plan asks.

Test samples never pass through here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array

from lopsided.core.keys import Key, shuffled, stream, unit, words
from lopsided.core.protocols import Sample, SkillLaw, Task
from lopsided.core.spec import Spec
from lopsided.core.training_set import GROUP

PIECE = 1024


class Change(NamedTuple):
    """What has to be known before one of the samples can be changed."""

    mean: Any = None  # (D,): to take away (whitened), or to put in (biased)
    rotation: Any = None  # (D, D): inverse of the Cholesky factor of the set's covariance
    key: Any = None  # stream of the biased coordinates, or two words for the order of all inputs
    labels: Any = None  # stream of random labels


class Fixed(NamedTuple):
    """What a member's steps have in common, computed once per stretch."""

    train: Any
    plan: Any
    world: Any
    order: Any
    change: Change
    feeds: tuple[tuple[Any, Any], ...] = ()
    """Streams (of samples, of the plan's draws) of each of the plan's feeds."""


def change_of(spec: Spec, seed: Any, train: Key, world: Any) -> Change:
    """Pure function of the member; the set is gone through in pieces, never stored."""
    shape = spec.training_set
    change = Change(labels=stream(seed, "labels") if spec.plan.relabels else None)
    if shape.biased_by is not None:
        mean, _ = _moments(spec.task, stream(seed, "bias"), shape.biased_by, world)
        return change._replace(mean=mean, key=stream(seed, "biased"))
    if shape.remove == "whitened":
        mean, second = _moments(spec.task, train, spec.plan.sizes()[0], world)
        factor = jnp.linalg.cholesky(second - jnp.outer(mean, mean))
        rotation = solve_triangular(factor, jnp.eye(len(mean), dtype=mean.dtype), lower=True)
        return change._replace(mean=mean, rotation=rotation)
    if shape.remove == "repeats":
        return change._replace(key=words(stream(seed, "order"), 0))
    return change


def sample(
    spec: Spec, change: Change, train: Key, index: Any, law: SkillLaw | None, world: Any, level: Any, random: Any
) -> Sample:
    """The training sample at `index`; its label is random where `random` (() bool, or None for never)."""
    true = _with_true_label(spec, change, train, index, law, world, level)
    if random is None:
        return true
    return true._replace(
        targets=jnp.where(random, spec.task.random_target(change.labels, index, true.inputs), true.targets)
    )


def _with_true_label(
    spec: Spec, change: Change, train: Key, index: Any, law: SkillLaw | None, world: Any, level: Any
) -> Sample:
    task, remove = spec.task, spec.training_set.remove
    if spec.training_set.biased_by is not None:
        x = jnp.where(unit(words(change.key, index, len(change.mean))) < (1 + change.mean) / 2, 1.0, -1.0)
        return task.of_inputs(x, world)
    if remove == "whitened":
        x = change.rotation @ (task.coordinates(train, index, world) - change.mean)
        return task.of_inputs(x, world)
    if remove == "repeats":
        space = 2 ** round(task.entropy_bits)
        return task.of_inputs(task.enumerated(shuffled(change.key, index % space, space)), world)
    if remove != "none":
        group = GROUP[remove]
        x, place = task.coordinates(train, index // group, world), index % group
        x = jnp.where(place % 2 == 1, -x, x)
        return task.of_inputs(jnp.where(place >= 2, task.label_flipped(x), x) if group > 2 else x, world)
    return task.sample(train, index, law, world) if level is None else task.sample(train, index, law, world, level)


def _moments(task: Task, key: Key, size: Any, world: Any) -> tuple[Array, Array]:
    """Mean (D,) and second moment (D, D) of the inputs with indices below `size`."""
    place = jnp.arange(PIECE, dtype=jnp.uint32)
    one = lambda i: task.coordinates(key, i, world)  # noqa: E731
    (d,) = jax.eval_shape(one, jnp.uint32(0)).shape

    def add(piece: Any, so_far: tuple[Array, Array]) -> tuple[Array, Array]:
        index = jnp.uint32(PIECE) * piece.astype(jnp.uint32) + place
        x = jax.vmap(one)(index)
        x = x * (index < jnp.asarray(size).astype(jnp.uint32))[:, None]
        return so_far[0] + x.sum(0), so_far[1] + x.T @ x

    pieces = (jnp.asarray(size, jnp.int32) + PIECE - 1) // PIECE
    total, second = jax.lax.fori_loop(0, pieces, add, (jnp.zeros(d), jnp.zeros((d, d))))
    return total / size, second / size
