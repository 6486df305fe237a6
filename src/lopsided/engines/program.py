"""One member's training on samples written down once: initialise, advance, evaluate. Pure functions of (state, dials).

`Program` holds what all members of an ensemble share (the skeleton of their specs); everything in which they differ
arrives as dials, a pytree of numbers. `engines.ensemble` compiles these functions over many members.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Int

from lopsided.core import groups
from lopsided.core.keys import stream
from lopsided.core.probe import ProbeContext, Trained
from lopsided.core.protocols import Sample, SkillLaw, judged
from lopsided.core.spec import Spec
from lopsided.engines import looking_back
from lopsided.engines.gradient import learned, loss_sum, training_samples
from lopsided.engines.members import Dials, Member, State, dials_of, state_shape, tree_bytes
from lopsided.engines.training_stream import Fixed, change_of, sample
from lopsided.optim.losses import correct, losses
from lopsided.skills.ranks import skill_at_rank

MICRO_BATCH_BYTES = 2**20
"""Saved activations of one micro-batch: small enough for a core's own cache."""
STREAM_FROM = 4
"""A batch of at least this many micro-batches is streamed (measured on a small transformer: 10 % faster)."""
LARGEST_BATCH_BYTES = 2**31
"""Saved activations beyond which a batch is streamed in any case."""


class Program:
    """Functions of one member; `representative` stands for all specs with its skeleton."""

    float_type = np.float32
    cuttable = True

    def __init__(self, representative: Spec):
        self.representative = representative

    def precision(self) -> AbstractContextManager[Any]:
        """The context in which these functions are compiled and called."""
        return nullcontext()

    def init(self, dials: Dials) -> State:
        """State before the first step."""
        params = self._params(dials)
        optimizer = self._spec(dials).optimizer.build(self.representative.steps).init(params)
        kept = looking_back.begin(self.representative, params)
        memory = self._spec(dials).plan.begin()
        return State(params, optimizer, jnp.int32(-1), jnp.float32(0), jnp.int32(0), kept, memory)

    def prepare(self, dials: Dials) -> Fixed:
        """Keys, hidden world and rank order of a member."""
        spec, seed = self._spec(dials), dials.seed
        task, train = spec.task, stream(seed, "train")
        order = skill_at_rank(self.representative.rank_order, task.n_skills, seed) if task.n_skills else None
        world = task.world(stream(seed, "world"))
        names = [f"feed-{i}" for i in range(len(spec.plan.feeds))]
        feeds = tuple((stream(seed, "train", name), stream(seed, "plan", name)) for name in names)
        return Fixed(train, stream(seed, "plan"), world, order, change_of(spec, seed, train, world), feeds)

    def advance(self, state: State, dials: Dials, start: Int[Array, ""], stop: Int[Array, ""]) -> State:
        """Take the steps start, ..., stop - 1."""
        fixed = self.prepare(dials)
        return jax.lax.fori_loop(start, stop, lambda t, s: self.step(s, dials, fixed, t), state)

    def advance_by(self, state: State, dials: Dials, start: Int[Array, ""], count: int) -> State:
        """Take `count` steps from `start` on; under `vmap`, members may start at different steps."""
        fixed = self.prepare(dials)
        return jax.lax.fori_loop(0, count, lambda i, s: self.step(s, dials, fixed, start + i), state)

    def step(self, state: State, dials: Dials, fixed: Fixed, t: Int[Array, ""]) -> State:
        """One optimizer update. A member whose loss is not finite keeps its parameters from then on."""
        spec = self._spec(dials)
        draw = spec.plan.draw(fixed.plan, t, state.plan)
        law = self._law(dials, fixed, t / self.representative.steps)
        value, accuracy, grads = learned(spec, self.micro_batch, state.params, fixed, law, draw)
        for feed, (train, key) in zip(spec.plan.feeds, fixed.feeds, strict=True):
            own = fixed._replace(train=train)
            other = learned(spec, self.micro_batch, state.params, own, law, feed.plan.draw(key, t))
            value, grads = value + other.loss, groups.chosen(grads, other.grads, feed.match)
        updates, optimizer = spec.optimizer.build(self.representative.steps).update(
            grads, state.optimizer, state.params
        )
        updates = groups.scaled(updates, (*self._rates, *spec.groups), "lr")
        alive = (state.diverged < 0) & jnp.isfinite(value)
        keep = lambda new, old: jnp.where(alive, new, old)  # noqa: E731
        params = jax.tree.map(keep, optax.apply_updates(state.params, updates), state.params)
        return State(
            params,
            jax.tree.map(keep, optimizer, state.optimizer),
            jnp.where((state.diverged < 0) & ~jnp.isfinite(value), t.astype(jnp.int32), state.diverged),
            keep(state.loss_sum + value, state.loss_sum),
            state.loss_count + alive,
            looking_back.record(self.representative, state.kept, params, t),
            jax.tree.map(keep, spec.plan.heard(state.plan, accuracy), state.plan),
        )

    def evaluate(self, state: State, dials: Dials) -> dict[str, Array]:
        """Metrics by name: uniform-skill test loss and accuracy, mean training loss since the last time, probes."""
        fixed = self.prepare(dials)
        n_skills = self.representative.task.n_skills

        def on(probabilities: Array | None, name: str, samples: int) -> dict[str, Array]:
            if probabilities is None:
                probabilities = jnp.full(n_skills, 1.0 / max(n_skills, 1))
            return self._test(state.params, dials, fixed, probabilities, name, samples)

        exact = partial(exact_loss, self.representative, state.params, fixed.world, uniform(n_skills, jnp.float32))
        population = exact if self.representative.task.has_population_loss else None
        initial = self._params(dials)
        training = partial(self._on_training_set, state.params, dials, fixed)
        gradient = partial(self._gradient, state.params, dials, fixed) if n_skills else None
        context = ProbeContext(state.params, initial, on, n_skills, fixed.world, population, training, gradient)
        found = {f"test/{k}": v for k, v in on(None, "test", self.representative.evaluation.samples).items()}
        found["train/loss"] = state.loss_sum / state.loss_count / (1 + len(self.representative.plan.feeds))
        for probe in self.representative.probes:
            found |= probe.measure(context)
        known = {k: jnp.where(state.diverged < 0, v, jnp.nan).astype(jnp.float32) for k, v in found.items()}
        return known | self._spec(dials).plan.told(state.plan)

    def conclude(self, state: State, dials: Dials) -> dict[str, Array]:
        """Metrics of the probes that look back over training, by name."""
        fixed = self.prepare(dials)
        law = self._law(dials, fixed, 1.0)
        one = partial(self.representative.task.sample, stream(dials.seed, "looking-back"), law=law, world=fixed.world)
        trained = Trained(
            state.kept,
            ravel_pytree(state.params)[1],
            lambda params, n: self._mean(params, lambda i: one(i), n)["loss"],
        )
        found: dict[str, Array] = {}
        for probe in self.representative.probes:
            found |= probe.conclude(trained) if probe.stretches else {}
        return {k: jnp.where(state.diverged < 0, v, jnp.nan).astype(jnp.float32) for k, v in found.items()}

    def _spec(self, dials: Dials) -> Spec:
        return self.representative.bind(dials.spec)

    def _params(self, dials: Dials) -> Any:
        task, spec = self.representative.task, self._spec(dials)
        params = spec.model.init(stream(dials.seed, "init"), task.inputs, task.outputs)
        return groups.scaled(params, spec.groups, "init")

    @cached_property
    def _rates(self) -> tuple[groups.Group, ...]:
        """Learning rates of the model's parameterization."""
        spec = self.representative
        return spec.model.rates(spec.task.inputs, spec.task.outputs, spec.optimizer.adaptive)

    def _law(self, dials: Dials, fixed: Fixed, progress: Any) -> SkillLaw | None:
        if dials.path is None:
            return None
        return SkillLaw(dials.path.cumulative(progress), fixed.order)

    def _test(
        self, params: Any, dials: Dials, fixed: Fixed, probabilities: Array, name: str, n: int
    ) -> dict[str, Array]:
        """Mean loss (and accuracy) on the first `n` samples of the member's stream `name`."""
        law = None if fixed.order is None else SkillLaw(jnp.cumsum(probabilities), fixed.order)
        key = stream(dials.seed, name)
        return self._mean(params, lambda i: self.representative.task.sample(key, i, law, fixed.world), n)

    def _gradient(self, params: Any, dials: Dials, fixed: Fixed, one: Array, others: Array, name: str, n: int) -> Any:
        """Gradient of the mean loss on `n` samples of the member's stream `name`, a multiple of the micro-batch rounded
        up; one skill of each from `one` (R,), the others from `others`."""
        law = SkillLaw(jnp.cumsum(others), fixed.order, jnp.cumsum(one))
        task, key = self.representative.task, stream(dials.seed, name)
        size = min(n, self.micro_batch)
        pieces = -(-n // size)
        draw = jax.vmap(lambda i: task.sample(key, i, law, fixed.world))

        loss = lambda p, batch: loss_sum(self.representative, p, batch, None)[0]  # noqa: E731

        def add(piece: Any, so_far: Any) -> Any:
            index = (piece * size + jnp.arange(size)).astype(jnp.uint32)
            return jax.tree.map(jnp.add, so_far, jax.grad(loss)(params, draw(index)))

        total = jax.lax.fori_loop(0, pieces, add, jax.tree.map(jnp.zeros_like, params))
        return jax.tree.map(lambda x: x / (pieces * size), total)

    def _on_training_set(self, params: Any, dials: Dials, fixed: Fixed, n: int) -> dict[str, Array]:
        """The same on the first `n` training samples (a smaller set, or first phase, again and again), true labels."""
        spec = self._spec(dials)
        law = self._law(dials, fixed, 0.0)
        size = next(iter(spec.plan.sizes()), None)

        def one(index: Any) -> Sample:
            index = index if size is None else index % jnp.asarray(size).astype(jnp.uint32)
            return sample(spec, fixed.change, fixed.train, index, law, fixed.world, None, None)

        return self._mean(params, one, n)

    def _mean(self, params: Any, one: Callable[[Any], Sample], n: int) -> dict[str, Array]:
        """Mean loss (and accuracy) over the samples `one(index)`, index < n."""

        def piece(index: Array) -> dict[str, Array]:
            batch = jax.vmap(one)(index)
            outputs = params(batch.inputs)
            found = {"loss": losses(self.representative.loss, outputs, batch)}
            return found | ({"accuracy": correct(outputs, batch)} if judged(self.representative.task.outputs) else {})

        size = min(n, max(self.micro_batch, 256))
        index = jnp.arange(-(-n // size) * size, dtype=jnp.uint32).reshape(-1, size)
        return {name: each.reshape(-1)[:n].mean() for name, each in jax.lax.map(piece, index).items()}

    @cached_property
    def activation_bytes(self) -> int:
        """Bytes per sample that the backward pass keeps, counted from the traced program (nothing is run)."""

        def residuals(dials: Dials) -> Any:
            fixed = self.prepare(dials)
            law = self._law(dials, fixed, 0.0)
            spec = self._spec(dials)
            draw = spec.plan.draw(fixed.plan, 0, spec.plan.begin())
            place = jnp.minimum(jnp.arange(64), self.representative.plan.batch_size - 1)
            batch = training_samples(spec, fixed, law, jnp.arange(64, dtype=jnp.uint32), draw, place)
            params = self._params(dials)
            return jax.vjp(lambda p: loss_sum(spec, p, batch, None)[0], params)[1], params

        one = jax.tree.map(lambda x: x[0], dials_of([Member(self.representative, 0)]))
        kept, params = jax.eval_shape(residuals, one)
        return max(1, (tree_bytes(kept) - tree_bytes(params)) // 64)

    @cached_property
    def state_bytes(self) -> int:
        """Bytes of one member's state."""
        return tree_bytes(state_shape(self))

    @property
    def micro_batch(self) -> int:
        """Samples per micro-batch; the whole batch if it is small. A fixed rule: results never depend on memory."""
        size = self.representative.plan.batch_size
        micro = 2 ** int(math.log2(max(64, MICRO_BATCH_BYTES // self.activation_bytes)))
        stream = size >= STREAM_FROM * micro or size * self.activation_bytes > LARGEST_BATCH_BYTES
        return micro if stream else size

    @property
    def block_bytes(self) -> int:
        """Memory that one member's step touches, by which the ensemble cuts its blocks."""
        return self.activation_bytes * self.micro_batch


def exact_loss(spec: Spec, params: Any, world: Any, frequency: Array | None) -> Array:
    """The exact expected loss of a task that knows it; `frequency` (n_skills,) of its skills, None if it has none."""
    return spec.task.population_loss(params, world, spec.loss, frequency)


def uniform(n_skills: int, float_type: Any) -> Array | None:
    """(n_skills,) equal frequencies, or None."""
    return jnp.full(n_skills, 1.0 / n_skills, float_type) if n_skills else None
