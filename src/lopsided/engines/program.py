"""One member's training written down once: initialise, take a step, evaluate. Pure functions of (state, dials).

`Program` holds what all members of an ensemble share (the skeleton of their specs); everything in which they differ
arrives as dials, a pytree of numbers. `engines.ensemble` compiles these functions over many members.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from lopsided.core.keys import seed_words, stream
from lopsided.core.protocols import ProbeContext, Sample, SkillLaw
from lopsided.core.spec import Spec
from lopsided.optim.losses import correct, losses
from lopsided.skills.path import SkillPath
from lopsided.skills.ranks import skill_at_rank

MICRO_BATCH_BYTES = 2**20
"""Saved activations of one micro-batch: small enough for a core's own cache."""
STREAM_FROM = 4
"""A batch of at least this many micro-batches is streamed (measured on a small transformer: 10 % faster)."""
LARGEST_BATCH_BYTES = 2**31
"""Saved activations beyond which a batch is streamed in any case."""


class Member(NamedTuple):
    """One seed of one spec."""

    spec: Spec
    seed: int


class Dials(NamedTuple):
    """The numbers in which members differ."""

    seed: Any  # (2,) uint32
    spec: dict[str, Any]
    path: SkillPath | None


class State(NamedTuple):
    """What training changes. `diverged` is the step whose loss was not finite, or -1."""

    params: Any
    optimizer: Any
    diverged: Int[Array, ""]
    loss_sum: Float[Array, ""]
    loss_count: Int[Array, ""]


class Fixed(NamedTuple):
    """What a member's steps have in common, computed once per stretch."""

    train: Any
    plan: Any
    world: Any
    order: Any


def dials_of(members: Sequence[Member]) -> Dials:
    """Stacked dials of members that share a skeleton, every leaf (E, ...) in NumPy."""
    rows = []
    for spec, seed in members:
        path = spec.skills.path(spec.task.n_skills) if spec.task.n_skills else None
        rows.append(Dials(np.array(seed_words(seed), np.uint32), spec.dials(), path))
    return jax.tree.map(lambda *leaves: np.stack([_narrow(leaf) for leaf in leaves]), *rows)


def _narrow(leaf: Any) -> np.ndarray:
    a = np.asarray(leaf)
    return a.astype({"f": np.float32, "i": np.int32, "u": np.uint32, "b": np.bool_}[a.dtype.kind])


def group_key(spec: Spec) -> str:
    """Specs with equal keys run in one ensemble. Skill distributions are numbers, so they never split one."""
    return spec.model_copy(update={"skills": type(spec.evaluation)()}).skeleton()


class Program:
    """Functions of one member; `representative` stands for all specs with its skeleton."""

    def __init__(self, representative: Spec):
        self.representative = representative

    def init(self, dials: Dials) -> State:
        """State before the first step."""
        params = self._params(dials)
        optimizer = self._spec(dials).optimizer.build(self.representative.steps).init(params)
        return State(params, optimizer, jnp.int32(-1), jnp.float32(0), jnp.int32(0))

    def prepare(self, dials: Dials) -> Fixed:
        """Keys, hidden world and rank order of a member."""
        task, seed = self.representative.task, dials.seed
        order = skill_at_rank(self.representative.rank_order, task.n_skills, seed) if task.n_skills else None
        world = task.world(stream(seed, "world"))
        return Fixed(stream(seed, "train"), stream(seed, "plan"), world, order)

    def step(self, state: State, dials: Dials, fixed: Fixed, t: Int[Array, ""]) -> State:
        """One optimizer update. A member whose loss is not finite keeps its parameters from then on."""
        spec = self._spec(dials)
        draw = spec.plan.draw(fixed.plan, t)
        law = self._law(dials, fixed, t / self.representative.steps)
        value, grads = self._value_and_grad(state.params, fixed, law, draw)
        updates, optimizer = spec.optimizer.build(self.representative.steps).update(
            grads, state.optimizer, state.params
        )
        alive = (state.diverged < 0) & jnp.isfinite(value)
        keep = lambda new, old: jnp.where(alive, new, old)  # noqa: E731
        return State(
            jax.tree.map(keep, optax.apply_updates(state.params, updates), state.params),
            jax.tree.map(keep, optimizer, state.optimizer),
            jnp.where((state.diverged < 0) & ~jnp.isfinite(value), t.astype(jnp.int32), state.diverged),
            keep(state.loss_sum + value, state.loss_sum),
            state.loss_count + alive,
        )

    def evaluate(self, state: State, dials: Dials, fixed: Fixed) -> dict[str, Array]:
        """Metrics by name: uniform-skill test loss and accuracy, mean training loss since the last time, probes."""
        n_skills = self.representative.task.n_skills

        def on(probabilities: Array | None, name: str, samples: int) -> dict[str, Array]:
            if probabilities is None:
                probabilities = jnp.full(n_skills, 1.0 / max(n_skills, 1))
            return self._test(state.params, dials, fixed, probabilities, name, samples)

        context = ProbeContext(state.params, self._params(dials), on, n_skills)
        found = {f"test/{k}": v for k, v in on(None, "test", self.representative.evaluation.samples).items()}
        found["train/loss"] = state.loss_sum / state.loss_count
        for probe in self.representative.probes:
            found |= probe.measure(context)
        return {k: jnp.where(state.diverged < 0, v, jnp.nan).astype(jnp.float32) for k, v in found.items()}

    def _spec(self, dials: Dials) -> Spec:
        return self.representative.bind(dials.spec)

    def _params(self, dials: Dials) -> Any:
        task = self.representative.task
        return self._spec(dials).model.init(stream(dials.seed, "init"), task.inputs, task.outputs)

    def _law(self, dials: Dials, fixed: Fixed, progress: Any) -> SkillLaw | None:
        if dials.path is None:
            return None
        return SkillLaw(dials.path.cumulative(progress), fixed.order)

    def _samples(self, key: Any, fixed: Fixed, law: SkillLaw | None, index: Array, level: Array | None) -> Sample:
        task = self.representative.task
        top = task.levels - 1
        if level is None or top == 0:
            return jax.vmap(lambda i: task.sample(key, i, law, fixed.world))(index)
        known = jnp.where((level < 0) | (level > top), top, level)
        return jax.vmap(lambda i, j: task.sample(key, i, law, fixed.world, j))(index, known)

    def _loss_sum(self, params: Any, batch: Sample, weight: Array | None) -> Array:
        each = losses(self.representative.loss, params(batch.inputs), batch)
        return each.sum() if weight is None else (each * weight).sum()

    def _value_and_grad(self, params: Any, fixed: Fixed, law: SkillLaw | None, draw: Any) -> tuple[Array, Any]:
        """Mean loss of the batch and its gradient; large batches are streamed, so memory stays that of one piece."""
        grad = jax.value_and_grad(self._loss_sum)
        size, micro = self.representative.plan.batch_size, self.micro_batch
        level = draw.level if hasattr(self.representative.plan, "levels") else None
        if micro >= size:
            batch = self._samples(fixed.train, fixed, law, draw.index, level)
            total = grad(params, batch, None)
        else:
            pieces = -(-size // micro)
            place = jnp.arange(micro, dtype=jnp.int32)

            def add(so_far: Any, piece: Any) -> tuple[Any, None]:
                at = jnp.minimum(piece * micro + place, size - 1)
                weight = (piece * micro + place < size).astype(jnp.float32)
                batch = self._samples(fixed.train, fixed, law, draw.index[at], None if level is None else level[at])
                return jax.tree.map(jnp.add, so_far, grad(params, batch, weight)), None

            zero = (jnp.float32(0), jax.tree.map(jnp.zeros_like, params))
            total, _ = jax.lax.scan(add, zero, jnp.arange(pieces, dtype=jnp.int32))
        return jax.tree.map(lambda x: x / size, total)

    def _test(
        self, params: Any, dials: Dials, fixed: Fixed, probabilities: Array, name: str, n: int
    ) -> dict[str, Array]:
        """Mean loss and accuracy on the first `n` samples of the member's stream `name`."""
        law = None if fixed.order is None else SkillLaw(jnp.cumsum(probabilities), fixed.order)
        key = stream(dials.seed, name)

        def piece(index: Array) -> tuple[Array, Array]:
            batch = self._samples(key, fixed, law, index, None)
            outputs = params(batch.inputs)
            return losses(self.representative.loss, outputs, batch), correct(outputs, batch)

        size = min(n, max(self.micro_batch, 256))
        index = jnp.arange(-(-n // size) * size, dtype=jnp.uint32).reshape(-1, size)
        loss, right = jax.lax.map(piece, index)
        return {"loss": loss.reshape(-1)[:n].mean(), "accuracy": right.reshape(-1)[:n].mean()}

    @cached_property
    def activation_bytes(self) -> int:
        """Bytes per sample that the backward pass keeps, counted from the traced program (nothing is run)."""

        def residuals(dials: Dials) -> Any:
            fixed = self.prepare(dials)
            law = self._law(dials, fixed, 0.0)
            batch = self._samples(fixed.train, fixed, law, jnp.arange(64, dtype=jnp.uint32), None)
            params = self._params(dials)
            return jax.vjp(lambda p: self._loss_sum(p, batch, None), params)[1], params

        one = jax.tree.map(lambda x: x[0], dials_of([Member(self.representative, 0)]))
        kept, params = jax.eval_shape(residuals, one)
        return max(1, (_bytes(kept) - _bytes(params)) // 64)

    @cached_property
    def state_bytes(self) -> int:
        """Bytes of one member's state."""
        one = jax.tree.map(lambda x: x[0], dials_of([Member(self.representative, 0)]))
        return _bytes(jax.eval_shape(self.init, one))

    @property
    def micro_batch(self) -> int:
        """Samples per micro-batch; the whole batch if it is small. A fixed rule: results never depend on memory."""
        size = self.representative.plan.batch_size
        micro = 2 ** int(math.log2(max(64, MICRO_BATCH_BYTES // self.activation_bytes)))
        stream = size >= STREAM_FROM * micro or size * self.activation_bytes > LARGEST_BATCH_BYTES
        return micro if stream else size


def _bytes(tree: Any) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))
