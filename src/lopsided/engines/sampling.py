"""What a member trains and is tested on: its streams, its latent, its task's samples, changed as `TrainingSet` says.

Test samples are never changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array

from lopsided.core.batch import Sample
from lopsided.core.keys import Key, shuffled, stream, unit, words
from lopsided.core.plan import relabels, sizes_of, streams_of
from lopsided.core.spec import Spec
from lopsided.core.task import (
    EditableInputs,
    HasSkills,
    RandomLabels,
    SampleContext,
    SignInputs,
    SkillLaw,
    latent_of,
)
from lopsided.core.training_set import GROUP
from lopsided.engines.members import BoundMember
from lopsided.numerics import linalg
from lopsided.skills.listening import Listening
from lopsided.skills.ranks import skill_at_rank

PIECE = 1024
"""Samples whose moments are summed at once: the set itself would not fit the memory of every member."""


class Change(NamedTuple):
    """What has to be known before one of the samples can be changed."""

    mean: Any = None  # (S, D): to take away from each fixed set (whitened), or (D,): to put in (biased)
    rotation: Any = None  # (S, D, D): inverse of the Cholesky factor of each set's covariance
    key: Any = None  # stream of the biased coordinates, or two words for the order of all inputs
    labels: Any = None  # stream of random labels


class MemberContext(NamedTuple):
    """A member, and what its steps have in common, computed once per call of a compiled program."""

    bound: BoundMember
    train: Any
    plan: Any
    latent: Any
    order: Any  # (R,) the skill that holds each rank; None where the task has no skills
    change: Change
    streams: tuple[tuple[Any, Any], ...] = ()
    """Keys (of samples, of the plan's draws) of each of the plan's further streams."""

    @property
    def spec(self) -> Spec:
        """The member's own spec."""
        return self.bound.spec

    @property
    def seed(self) -> Any:
        """The two words of the member's seed."""
        return self.bound.seed

    def law(self, progress: Any, heard: Any = ()) -> SkillLaw | None:
        """Training's skill frequencies at `progress` = step / steps. `heard`: the law's feedback state; () before the
        first step."""
        law = self.bound.law
        if self.order is None or law is None:
            return None
        order = jnp.arange(len(self.order)) if isinstance(law, Listening) and law.by_skill else self.order
        return SkillLaw(law.cumulative(progress, heard), order)


def context_of(bound: BoundMember) -> MemberContext:
    """The member with its keys, latent and rank order."""
    spec, seed = bound.spec, bound.seed
    task, train = spec.task, stream(seed, "train")
    order = skill_at_rank(spec.rank_order, task.n_skills, seed) if isinstance(task, HasSkills) else None
    latent = latent_of(task, stream(seed, "world"))
    names = [f"feed-{i}" for i in range(len(streams_of(spec.plan)))]
    streams = tuple((stream(seed, "train", name), stream(seed, "plan", name)) for name in names)
    change = change_of(spec, seed, train, latent)
    return MemberContext(bound, train, stream(seed, "plan"), latent, order, change, streams)


def change_of(spec: Spec, seed: Any, train: Key, latent: Any) -> Change:
    """Pure function of the member; the set is gone through in pieces, never stored."""
    shape = spec.training_set
    change = Change(labels=stream(seed, "labels") if relabels(spec.plan) else None)
    if shape.biased_by is not None:
        mean, _ = _moments(_editable(spec), stream(seed, "bias"), shape.biased_by, latent)
        return change._replace(mean=mean, key=stream(seed, "biased"))
    if shape.remove == "whitened":
        sets = [_moments(_editable(spec), train, size, latent) for size in sizes_of(spec.plan)]
        rotations = [linalg.whitening(second - jnp.outer(mean, mean)) for mean, second in sets]
        return change._replace(mean=jnp.stack([mean for mean, _ in sets]), rotation=jnp.stack(rotations))
    if shape.remove == "repeats":
        return change._replace(key=words(stream(seed, "order"), 0))
    return change


def training_sample(
    member: MemberContext,
    index: Any,
    law: SkillLaw | None,
    level: Any = None,
    random: Any = None,
    subset: Any = None,
) -> Sample:
    """The training sample at `index`, as `subset` has it (() int, or None for the plan's first set); its label is
    random where `random` (() bool, or None for never)."""
    true = _with_true_label(member, index, law, level, 0 if subset is None else subset)
    if random is None:
        return true
    task = cast(RandomLabels, member.spec.task)
    label = task.random_target(member.change.labels, index, true.inputs)
    return true._replace(targets=jnp.where(random, label, true.targets))


def test_sample(member: MemberContext, key: Key, index: Any, law: SkillLaw | None) -> Sample:
    """The sample that the member is tested on, at `index` of the stream `key`."""
    return member.spec.task.sample(key, index, SampleContext(member.latent, law, None, "test"))


def _editable(spec: Spec) -> EditableInputs:
    return cast(EditableInputs, spec.task)


def _with_true_label(member: MemberContext, index: Any, law: SkillLaw | None, level: Any, subset: Any) -> Sample:
    spec, change, train, latent = member.spec, member.change, member.train, member.latent
    remove = spec.training_set.remove
    if spec.training_set.biased_by is None and remove == "none":
        return spec.task.sample(train, index, SampleContext(latent, law, level, "train"))
    task = cast(SignInputs, spec.task)  # `TrainingSet.check` made sure of what each change needs
    if spec.training_set.biased_by is not None:
        x = jnp.where(unit(words(change.key, index, len(change.mean))) < (1 + change.mean) / 2, 1.0, -1.0)
        return task.of_coordinates(x, latent)
    if remove == "whitened":
        centred = task.coordinates(train, index, latent) - change.mean[subset]
        return task.of_coordinates(change.rotation[subset] @ centred, latent)
    if remove == "repeats":
        space = 2 ** round(task.entropy_bits)
        return task.of_coordinates(task.enumerated(shuffled(change.key, index % space, space)), latent)
    group = GROUP[remove]
    x, place = task.coordinates(train, index // group, latent), index % group
    x = jnp.where(place % 2 == 1, -x, x)
    return task.of_coordinates(jnp.where(place >= 2, task.label_flipped(x), x) if group > 2 else x, latent)


def _moments(task: EditableInputs, key: Key, size: Any, latent: Any) -> tuple[Array, Array]:
    """Mean (D,) and second moment (D, D) of the inputs with indices below `size`."""
    place = jnp.arange(PIECE, dtype=jnp.uint32)
    one = lambda i: task.coordinates(key, i, latent)
    (d,) = jax.eval_shape(one, jnp.uint32(0)).shape

    def add(piece: Any, so_far: tuple[Array, Array]) -> tuple[Array, Array]:
        index = jnp.uint32(PIECE) * piece.astype(jnp.uint32) + place
        x = jax.vmap(one)(index)
        x = x * (index < jnp.asarray(size).astype(jnp.uint32))[:, None]
        return so_far[0] + x.sum(0), so_far[1] + x.T @ x

    pieces = (jnp.asarray(size, jnp.int32) + PIECE - 1) // PIECE
    total, second = jax.lax.fori_loop(0, pieces, add, (jnp.zeros(d), jnp.zeros((d, d))))
    return total / size, second / size
