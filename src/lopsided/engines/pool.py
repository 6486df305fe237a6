"""Members that come and go: a member that is solved, diverged or at its last step leaves, and the next takes its place.

A pool has a fixed number of slots, in blocks as in `engines.ensemble`. Its unit of time is a round: every occupied slot
takes `evaluation.every` steps and is evaluated. A block without members is skipped, and when nobody waits any more the
members left are moved together. A member's results do not depend on its slot.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from lopsided.core.engine import Engine, Evaluated, Member
from lopsided.core.errors import InputError
from lopsided.core.evaluation import Evaluation
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.plan import SampledPlan
from lopsided.core.shapes import has_accuracy
from lopsided.core.spec import Spec
from lopsided.engines import memory
from lopsided.engines.ensemble import (
    MEMBER_AXIS,
    ONCE,
    check_samples,
    compiled,
    device_kind,
    is_cpu,
    mesh_of,
    over_blocks,
)
from lopsided.engines.members import State, TracedMember, program_key, traced_of
from lopsided.engines.program import Program, SampledProgram
from lopsided.numerics import means

BLOCKS_AT_ONCE = 4
"""Blocks of slots on one device: enough that a block without members is worth skipping."""
ROUNDS_PER_JOB = 16
"""Members of a job for each of its slots: enough that slots rarely stand empty at the job's end."""
EMPTY = -1
"""Member in a seat that nobody has."""
EVALUATIONS = 2
"""How many evaluations in a row have to be good enough (the second confirms the first, as in `stats.times`)."""


class Slots(NamedTuple):
    """Everything that a stopped pool needs to go on; S slots."""

    training: State  # (S, ...)
    member: np.ndarray  # (S,) who sits there, as a position in the list of members, or EMPTY
    at: np.ndarray  # (S,) steps taken
    good: np.ndarray  # (S,) evaluations in a row that were good enough
    waiting: np.ndarray  # () position of the next member to come in


class Pool(Engine):
    """Specs with `until`."""

    name: ClassVar[str] = "pool"
    program_class: ClassVar[type[Program]] = SampledProgram

    def __init__(self, members: Sequence[Member], execution: Execution = DEFAULT):
        self.members, self.spec = list(members), members[0].spec
        self.program = SampledProgram.of(self.spec, execution)
        mesh = mesh_of(execution, len(members))
        shards = mesh.devices.shape[0]
        block = memory.cache_block(self.program, execution) if is_cpu(mesh) else len(members)
        fitting = max(1, memory.members_that_fit(self.program) // (shards * block))
        blocks = min(BLOCKS_AT_ONCE, fitting, -(-len(members) // (shards * block)))
        block = min(block, -(-len(members) // (shards * blocks)))
        self._shape = shards, blocks, block
        self._sharding = NamedSharding(mesh, PartitionSpec(MEMBER_AXIS))
        functions = compiled(
            ("pool", program_key(self.spec), execution.canonical_json(), block, tuple(mesh.devices.flat)),
            lambda: _Functions(self.program, block, mesh, self.spec.evaluation.every),
        )
        self._init, self._round, self._refill = functions.jitted
        self._traced = traced_of(self.members)
        count = shards * blocks * block
        self.step, self.seconds = 0, 0.0
        member = np.where(np.arange(count) < len(members), np.arange(count), EMPTY).astype(np.int32)
        zero = np.zeros(count, np.int32)
        with self.program.precision():
            training = self._init(self._seated(member))
        self.state = Slots(training, member, zero, zero, np.array(min(count, len(members)), np.int32))

    @classmethod
    def accepts(cls, spec: Spec) -> bool:
        return isinstance(spec.plan, SampledPlan) and spec.until is not None

    @classmethod
    def check(cls, spec: Spec) -> None:
        check_samples(spec)
        every = spec.evaluation.every
        if type(spec.evaluation) is not Evaluation or spec.steps % every:
            raise InputError(
                f"until: members are looked at together, every {every} steps; steps = {spec.steps} has to be a "
                "multiple of evaluation.every, without per_decade"
            )
        if spec.until is not None and spec.until.metric == "test/accuracy" and not has_accuracy(spec.task.outputs):
            raise InputError(f"until.metric = 'test/accuracy': task {spec.task.name!r} has real-valued targets")

    @classmethod
    def members_per_job(cls, spec: Spec) -> int:
        return memory.members_per_job(SampledProgram.of(spec, DEFAULT)) * ROUNDS_PER_JOB

    @property
    def device_kind(self) -> str:
        return device_kind(self._sharding)

    @property
    def finished(self) -> bool:
        """Whether every member has left."""
        return bool((self.state.member == EMPTY).all())

    @property
    def position(self) -> int:
        """Steps of the average member, those of a member that left early counted as all of them."""
        seated = self.state.member != EMPTY
        gone = int(self.state.waiting) - seated.sum()
        return int((gone * self.spec.steps + self.state.at[seated].sum()) // len(self.members))

    def restore(self, step: int, seconds: float, state: Any) -> None:
        """Go on from a saved state, whatever the number of slots that it was saved with."""
        self.step, self.seconds = step, seconds
        shards, blocks, block = self._shape
        saved = Slots(jax.device_get(state.training), *map(np.array, state[1:]))
        seated = np.flatnonzero(saved.member != EMPTY)
        blocks = max(blocks, -(-len(seated) // (shards * block)))  # fewer devices than before: more blocks on each
        self._shape = shards, blocks, block
        pick = np.resize(seated if len(seated) else np.zeros(1, int), shards * blocks * block)
        empty = np.arange(len(pick)) >= len(seated)
        member, at, good = (np.where(empty, none, x[pick]) for x, none in zip(saved[1:4], (EMPTY, 0, 0), strict=True))
        training = jax.tree.map(lambda x: np.asarray(x)[pick], saved.training)
        slots = Slots(jax.device_put(training, self._sharding), member, at, good, saved.waiting)
        self.state = self._replaced(slots, empty)

    def compile(self) -> None:
        """Compile without running."""
        with self.program.precision():
            self._compile()

    def _compile(self) -> None:
        s = self.state
        nobody = np.zeros(len(s.member), bool)
        traced = self._seated(s.member)
        training, _ = self._round(s.training, traced, s.at, nobody)
        if s.waiting < len(self.members):  # without a queue nobody comes in
            training = self._refill(training, traced, nobody)
        self.state = s._replace(training=training)

    def run(self, slice_seconds: float = math.inf) -> Iterator[Evaluated]:
        """A stretch after every round, with those who were in it; members leave and come between rounds."""
        while not self.finished:
            with self.program.precision():
                found = self._one_round()
            yield found

    def _one_round(self) -> Evaluated:
        began = time.perf_counter()
        s = self.state
        seated = s.member != EMPTY
        training, metrics = self._round(s.training, self._seated(s.member), s.at, seated)
        metrics = {name: values[seated] for name, values in means.on_host(jax.device_get(metrics)).items()}
        at = s.at + self.spec.evaluation.every * seated
        diverged = np.asarray(training.diverged)
        rule = self.spec.until
        assert rule is not None
        good = s.good.copy()
        good[seated] = np.where(rule.reached(metrics[rule.metric]), good[seated] + 1, 0)
        who, steps = s.member[seated], at[seated]
        leaves = seated & ((good >= EVALUATIONS) | (diverged >= 0) | (at >= self.spec.steps))
        self.state = self._replaced(Slots(training, s.member, at, good, s.waiting), leaves)
        self.step += self.spec.evaluation.every
        self.seconds += time.perf_counter() - began
        return self._with_ends(Evaluated(steps, metrics, diverged[seated], self.seconds, who))

    def _with_ends(self, found: Evaluated) -> Evaluated:
        """A member that diverged leaves early, but it never learned in the whole of its budget: it gets a last row at
        the last step, without values."""
        assert found.who is not None
        gone = np.flatnonzero((found.diverged >= 0) & (found.step < self.spec.steps))
        if not len(gone):
            return found
        nothing = {k: np.concatenate([v, np.full((len(gone), *v.shape[1:]), np.nan)]) for k, v in found.metrics.items()}
        step = np.concatenate([found.step, np.full(len(gone), self.spec.steps)])
        diverged = np.concatenate([found.diverged, found.diverged[gone]])
        return Evaluated(step, nothing, diverged, found.seconds, np.concatenate([found.who, found.who[gone]]))

    def _replaced(self, s: Slots, leaves: np.ndarray) -> Slots:
        """Fill slots of finished members from the queue; with no queue and half of the slots free, compact."""
        member, at, good = s.member.copy(), s.at.copy(), s.good.copy()
        free = np.flatnonzero(leaves)
        comes = free[: len(self.members) - int(s.waiting)]
        member[free], at[free], good[free] = EMPTY, 0, 0
        member[comes] = int(s.waiting) + np.arange(len(comes))
        training = s.training
        if len(comes):
            training = self._refill(training, self._seated(member), np.isin(np.arange(len(member)), comes))
        s = Slots(training, member, at, good, np.array(int(s.waiting) + len(comes), np.int32))
        return self._together(s) if len(comes) < len(free) else s

    def _together(self, s: Slots) -> Slots:
        """Members in as few blocks as possible, spread evenly over the devices."""
        shards, blocks, block = self._shape
        seated = s.member != EMPTY
        occupied = seated.reshape(shards, blocks, block).any(2).sum(1).max()
        fewest = -(-int(seated.sum()) // (shards * block))
        if fewest >= occupied:
            return s
        # Slot i of device k comes after slot i of every device before: the n-th member goes to device n mod shards.
        order = np.argsort(~seated, kind="stable")
        place = np.arange(len(order)).reshape(-1, shards).T.reshape(-1)
        pick = order[place]
        host = jax.tree.map(lambda x: np.asarray(x)[pick], jax.device_get(s.training))
        return Slots(jax.device_put(host, self._sharding), s.member[pick], s.at[pick], s.good[pick], s.waiting)

    def _seated(self, member: np.ndarray) -> TracedMember:
        """TracedMember of the members in the slots; an empty slot has the first member's."""
        chosen = jax.tree.map(lambda x: x[np.maximum(member, 0)], self._traced)
        return jax.device_put(chosen, self._sharding)


class _Functions:
    """Compiled: initialise all slots, a round, new members into some slots."""

    def __init__(self, program: SampledProgram, block: int, mesh: Mesh, every: int):
        self.program, self._every = program, every
        over = PartitionSpec(MEMBER_AXIS)
        spread = partial(jax.shard_map, mesh=mesh, check_vma=False, out_specs=over)
        blocked = partial(over_blocks, block)
        self.jitted = (
            jax.jit(
                spread(lambda traced: blocked(jax.vmap(program.init), traced), in_specs=over), compiler_options=ONCE
            ),
            jax.jit(spread(lambda *slots: blocked(self._block_round, slots), in_specs=(over,) * 4), donate_argnums=0),
            jax.jit(
                spread(lambda *slots: blocked(self._block_refill, slots), in_specs=(over,) * 3),
                donate_argnums=0,
                compiler_options=ONCE,
            ),
        )

    def _block_round(self, slots: Any) -> Any:
        state, traced, at, seated = slots
        evaluate = jax.jit(jax.vmap(self.program.evaluate))  # traced once, for its shapes and for its values

        def go(state: State) -> Any:
            state = jax.vmap(lambda s, d, start: self.program.advance_by(s, d, start, self._every))(state, traced, at)
            metrics = evaluate(state, traced)
            return state._replace(loss=jax.tree.map(jnp.zeros_like, state.loss)), metrics

        shapes = jax.eval_shape(evaluate, state, traced)
        nothing = lambda state: (state, jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes))
        return jax.lax.cond(seated.any(), go, nothing, state)

    def _block_refill(self, slots: Any) -> State:
        state, traced, comes = slots

        def fresh(state: State) -> State:
            new = jax.vmap(self.program.init)(traced)
            choose = lambda a, b: jnp.where(comes.reshape(-1, *[1] * (a.ndim - 1)), a, b)
            return jax.tree.map(choose, new, state)

        return jax.lax.cond(comes.any(), fresh, lambda state: state, state)
