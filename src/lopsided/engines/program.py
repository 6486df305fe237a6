"""One member's training as pure functions of (state, traced numbers): initialise, advance, evaluate.

A program is made from any spec of a static key, its template; everything in which members differ arrives as a
`TracedMember`. Every function first binds the member's own spec (`members.bound`) and reads no other.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from lopsided.core import groups
from lopsided.core.batch import Batch, included
from lopsided.core.engine import Member
from lopsided.core.execution import Execution
from lopsided.core.keys import stream
from lopsided.core.plan import Draw, Remembers, SampledPlan, same_draws, streams_of
from lopsided.core.spec import Spec
from lopsided.core.task import SkillLaw, n_levels
from lopsided.engines import looking_back, memory, metrics
from lopsided.engines.gradient import Pieces
from lopsided.engines.members import BoundMember, State, TracedMember, bound, program_key, traced_of, tree_bytes
from lopsided.engines.sampling import MemberContext, context_of, training_sample
from lopsided.engines.train_step import train_step
from lopsided.numerics.lowering import lowering, spread
from lopsided.numerics.means import RunningMean

BATCH_AXIS = "batch"
HELD_BYTES = 2**22
"""A member's samples that are held, at most, where every step draws the same ones. (An accelerator holds those of all
its members at once.)"""

MOST_PROGRAMS = 64
"""Programs that are kept for later ensembles; they hold no arrays."""
_PROGRAMS: OrderedDict[Any, Any] = OrderedDict()


class Program(ABC):
    """Functions of one member, which `engines.ensemble` compiles over many."""

    float_type: Any = np.float32
    cuttable: bool = True
    """Whether a stretch between evaluations may be cut anywhere without changing a number."""

    def __init__(self, template: Spec, execution: Execution):
        self._template, self.execution = template, execution

    @classmethod
    def of(cls, spec: Spec, execution: Execution) -> Self:
        """The program of a spec; one that was made before for its static key knows its sizes already."""
        execution = execution.of_program
        key = cls, program_key(spec), execution.canonical_json()
        found = _PROGRAMS.pop(key) if key in _PROGRAMS else cls(spec, execution)
        _PROGRAMS[key] = found
        while len(_PROGRAMS) > MOST_PROGRAMS:
            _PROGRAMS.popitem(last=False)
        return found

    @contextmanager
    def precision(self) -> Iterator[None]:
        """The context in which these functions are traced and called."""
        wide = jax.enable_x64(self.float_type is np.float64)
        with wide, lowering(self._template.products, self.execution.rematerialise, self.execution.unroll):
            yield

    @abstractmethod
    def init(self, traced: TracedMember) -> State:
        """State before the first step."""

    @abstractmethod
    def advance(self, state: State, traced: TracedMember, start: Int[Array, ""], stop: Int[Array, ""]) -> State:
        """Take the steps start, ..., stop - 1."""

    @abstractmethod
    def evaluate(self, state: State, traced: TracedMember) -> dict[str, Any]:
        """Metrics by name."""

    def bound(self, traced: TracedMember) -> BoundMember:
        """The member with its own spec and law."""
        return bound(self._template, traced)

    @cached_property
    def one(self) -> TracedMember:
        """The numbers of a member, for its shapes."""
        return jax.tree.map(lambda x: x[0], traced_of([Member(self._template, 0)], self.float_type))

    @cached_property
    def state_shape(self) -> State:
        """Shapes and dtypes of one member's state; nothing is computed."""
        with self.precision():
            return jax.eval_shape(self.init, self.one)

    @cached_property
    def parameters(self) -> int:
        """Number of parameters of one member."""
        return sum(leaf.size for leaf in jax.tree.leaves(self.state_shape.params))

    @property
    def state_bytes(self) -> int:
        """Bytes of one member's state."""
        return tree_bytes(self.state_shape)

    @property
    @abstractmethod
    def block_bytes(self) -> int:
        """Memory that one member's step touches beside its state."""

    @property
    def held_bytes(self) -> int:
        """Samples of one member that are held from step to step."""
        return 0


class SampledProgram(Program):
    """Training on samples that the plan draws."""

    def init(self, traced: TracedMember) -> State:
        member = self.bound(traced)
        spec, listens = member.spec, member.listens
        params = initial_params(spec, traced.seed)
        optimizer = spec.optimizer.build(spec.steps).init(params)
        kept = looking_back.begin(spec, params)
        plan_memory = spec.plan.init_state() if isinstance(spec.plan, Remembers) else ()
        heard = () if listens is None else listens.begin()
        return State(params, optimizer, jnp.int32(-1), RunningMean.nothing(), kept, plan_memory, heard)

    def advance(self, state: State, traced: TracedMember, start: Int[Array, ""], stop: Int[Array, ""]) -> State:
        member = self._member(traced)
        held = self._held(member)
        return jax.lax.fori_loop(start, stop, lambda t, s: self._step(s, member, t, held), state)

    def advance_by(self, state: State, traced: TracedMember, start: Int[Array, ""], count: int) -> State:
        """Take `count` steps from `start` on; under `vmap`, members may start at different steps."""
        member = self._member(traced)
        held = self._held(member)
        return jax.lax.fori_loop(0, count, lambda i, s: self._step(s, member, start + i, held), state)

    def evaluate(self, state: State, traced: TracedMember) -> dict[str, Any]:
        """Uniform-skill test loss and accuracy, mean training loss since the last time, probes, the plan's metrics."""
        member = self._member(traced)
        initial = initial_params(member.spec, member.seed)
        return metrics.evaluate(member, state, initial, self.micro_batch)

    def conclude(self, state: State, traced: TracedMember) -> dict[str, Array]:
        """Metrics of the probes that look back over training."""
        return metrics.conclude(self._member(traced), state, self.micro_batch)

    def _member(self, traced: TracedMember) -> MemberContext:
        return context_of(self.bound(traced))

    def _held(self, member: MemberContext) -> Batch | None:
        """The samples of all steps, (pieces, micro-batch, ...), where every step draws the same and they are few. The
        last piece is filled up with the last sample. (A piece is an axis of its own, so that devices that share a
        batch keep their part of every piece.)"""
        if not self.holds:
            return None
        size, sharing = _sampled(self._template).batch_size, self.execution.batch_devices
        draw, law, (pieces, micro) = _sampled(member.spec).draw(member.plan, 0), member.law(0.0), self._held_shape
        first = jax.lax.axis_index(BATCH_AXIS) * -(-size // sharing) if sharing > 1 else 0
        places = jnp.minimum(first + jnp.arange(pieces * micro, dtype=jnp.int32), size - 1)
        return jax.vmap(lambda at: training_batch(member, draw, law, at))(places.reshape(pieces, micro))

    @property
    def _held_shape(self) -> tuple[int, int]:
        """Pieces, and samples of each, of one device."""
        share = -(-_sampled(self._template).batch_size // self.execution.batch_devices)
        micro = min(self.micro_batch, share)
        return -(-share // micro), micro

    def _step(self, state: State, member: MemberContext, t: Int[Array, ""], held: Batch | None) -> State:
        plan, law = _sampled(member.spec), member.law(t / member.spec.steps, state.heard)
        batch = self._batch(member, plan.draw(member.plan, t, state.plan), law, held)
        others = [
            self._batch(member._replace(train=train), further.plan.draw(key, t), law)
            for further, (train, key) in zip(streams_of(plan), member.streams, strict=True)
        ]
        return train_step(state, batch, member.bound, t, others, member.order)

    def _batch(
        self, member: MemberContext, draw: Draw, law: SkillLaw | None, held: Batch | None = None
    ) -> Batch | Pieces:
        """The drawn samples, whole or in pieces of a micro-batch, those of this device where several share a batch.
        They are drawn here unless they are `held`."""
        size, sharing = draw.index.shape[0], self.execution.batch_devices
        if self.micro_batch >= size and sharing == 1:
            batch = training_batch(member, draw, law, None) if held is None else jax.tree.map(lambda x: x[0], held)
            return batch if draw.count is None else included(batch, (jnp.arange(size) < draw.count).astype(jnp.float32))
        share = -(-size // sharing)
        micro = min(self.micro_batch, share)
        first = jax.lax.axis_index(BATCH_AXIS) * share if sharing > 1 else 0
        count = size if draw.count is None else draw.count

        def piece(i: Any) -> Batch:
            place = i * micro + jnp.arange(micro, dtype=jnp.int32)
            at = first + place
            counts = (at < count) if sharing == 1 else (at < count) & (place < share)
            if held is None:
                batch = training_batch(member, draw, law, jnp.minimum(at, size - 1))
            else:
                batch = jax.tree.map(lambda x: jax.lax.dynamic_index_in_dim(x, i, keepdims=False), held)
            return included(batch, counts.astype(jnp.float32))

        needed = count if sharing == 1 else jnp.clip(count - first, 0, share)
        return Pieces((needed + micro - 1) // micro, piece, BATCH_AXIS if sharing > 1 else None)

    @cached_property
    def micro_batch(self) -> int:
        """Samples whose activations are held at once."""
        size = _sampled(self._template).batch_size
        if self.execution.micro_batch is not None:
            return min(size, self.execution.micro_batch)
        stream_from = memory.STREAM_HELD_FROM if self.holds else memory.STREAM_FROM
        return memory.micro_batch(size, self.activation_bytes, stream_from)

    @property
    def holds(self) -> bool:
        """Whether samples are drawn once for all steps."""
        return 0 < self._sample_bytes * _sampled(self._template).batch_size <= HELD_BYTES

    @property
    def held_bytes(self) -> int:
        return self._sample_bytes * math.prod(self._held_shape) if self.holds else 0

    @cached_property
    def _sample_bytes(self) -> int:
        """Bytes of one of the samples that every step draws; 0 where steps draw others, or label them anew."""
        plan = _sampled(self._template)
        if not same_draws(plan) or self._template.training_set.differs_by_set(plan):
            return 0

        def one(traced: TracedMember) -> Batch:
            member = self._member(traced)
            return training_batch(member, _sampled(member.spec).draw(member.plan, 0), member.law(0.0), jnp.arange(1))

        with self.precision():
            return tree_bytes(jax.eval_shape(one, self.one))

    @cached_property
    def activation_bytes(self) -> int:
        """Bytes per sample that the backward pass keeps, counted from the traced program (nothing is run)."""
        samples = min(64, _sampled(self._template).batch_size)

        def residuals(traced: TracedMember) -> Any:
            member = self._member(traced)
            plan = _sampled(member.spec)
            draw = plan.draw(member.plan, 0, plan.init_state() if isinstance(plan, Remembers) else ())
            batch = training_batch(member, draw, member.law(0.0), jnp.arange(samples))
            params = initial_params(member.spec, traced.seed)
            return metrics.residuals(member.spec, params, batch), params

        with self.precision():
            kept, params = jax.eval_shape(residuals, self.one)
        return max(1, (tree_bytes(kept) - tree_bytes(params)) // samples)

    @property
    def block_bytes(self) -> int:
        return self.activation_bytes * self.micro_batch


def training_batch(member: MemberContext, draw: Draw, law: SkillLaw | None, at: Array | None) -> Batch:
    """The training samples at the places `at` (M,) of a draw; None: all of them."""
    index = spread(draw.index if at is None else draw.index[at])
    top = n_levels(member.spec.task) - 1
    if draw.level is None or top == 0:
        return jax.vmap(lambda i: training_sample(member, i, law, None, draw.random, draw.subset))(index)
    level = draw.level if at is None else draw.level[at]
    known = jnp.where((level < 0) | (level > top), top, level)
    return jax.vmap(lambda i, j: training_sample(member, i, law, j, draw.random, draw.subset))(index, known)


def initial_params(spec: Spec, seed: Any) -> Any:
    """The member's parameters before the first step."""
    params = spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs)
    return groups.scaled(params, spec.groups, "init")


def _sampled(spec: Spec) -> SampledPlan:
    assert isinstance(spec.plan, SampledPlan)
    return spec.plan
