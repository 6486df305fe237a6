"""Ensemble engine: one compiled program trains many members (`vmap` over members, a loop over steps).

On a CPU every core is a device of its own, members are spread over the devices, and inside a device they advance in
blocks small enough to stay in the core's cache; on an accelerator a block is as large as memory allows. Several devices
may share one member's batch (`Execution.batch_devices`). None of this changes which numbers are computed, only their
order of addition.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from lopsided.core.engine import Engine, Evaluated, Member
from lopsided.core.errors import InputError
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.plan import SampledPlan
from lopsided.core.shapes import has_accuracy
from lopsided.core.skills import Listens
from lopsided.core.spec import Spec
from lopsided.core.task import n_skills
from lopsided.engines import hosts, looking_back, memory
from lopsided.engines.members import State, TracedMember, program_key, traced_of
from lopsided.engines.program import BATCH_AXIS, Program, SampledProgram
from lopsided.numerics import means

MEMBER_AXIS = "member"
ONCE = {"xla_backend_optimization_level": 0}
"""For what runs once: drawing a transformer's first weights took 8 s to compile, and takes 2 s this way."""
FIRST_SLICE_STEPS = 16
"""Steps of the first slice, whose time tells how many steps the next ones take: few, so that it ends soon on any
machine."""
MOST_COMPILED = 32
"""Sets of compiled functions that are kept for later ensembles."""


class EnsembleEngine(Engine):
    """What engines have in common that train all members side by side to the end of the spec."""

    program_class: ClassVar[type[Program]]

    def __init__(self, members: Sequence[Member], execution: Execution = DEFAULT):
        mesh = mesh_of(execution, len(members))
        program = self.program_class.of(members[0].spec, execution)
        shards = mesh.devices.shape[0]
        share = -(-len(members) // shards)
        most = memory.cache_block(program, execution) if is_cpu(mesh) else share
        blocks = -(-share // most)
        block = -(-share // blocks)  # equal blocks: as little padding as possible
        functions = compiled(
            ("ensemble", program_key(members[0].spec), execution.canonical_json(), block, tuple(mesh.devices.flat)),
            lambda: _Functions(program, block, mesh),
        )
        self._begin(members, execution, program, mesh, functions, block, shards * blocks * block)

    def _begin(
        self,
        members: Sequence[Member],
        execution: Execution,
        program: Program,
        mesh: Mesh,
        functions: Any,
        block: int,
        padded: int,
    ) -> None:
        """All members at step 0, with copies of the last one up to `padded`."""
        self.members, self.spec, self.execution = list(members), members[0].spec, execution
        self.program, self.block, self._padded = program, block, padded
        self._sharding = NamedSharding(mesh, PartitionSpec(MEMBER_AXIS))
        self._init, self._advance, self._evaluate, self._conclude = functions.jitted
        every = self.members + [self.members[-1]] * (padded - len(self.members))
        self.step, self.seconds = 0, 0.0
        with self.precision():
            self._traced = jax.device_put(traced_of(every, self.program.float_type), self._sharding)
            self.state: State = self._init(self._traced)

    @classmethod
    def members_per_job(cls, spec: Spec) -> int:
        return memory.members_per_job(cls.program_class.of(spec, DEFAULT))

    def precision(self) -> AbstractContextManager[Any]:
        """The context in which the program's functions are traced and called."""
        return self.program.precision()

    def state_on_devices(self, state: Any) -> Any:
        """Arrays of all members' states, where they belong."""
        return jax.device_put(state, self._sharding)

    def fetched(self, tree: Any) -> Any:
        """Arrays of all members, in NumPy."""
        return jax.device_get(tree)

    @property
    def device_kind(self) -> str:
        return device_kind(self._sharding)

    @property
    def finished(self) -> bool:
        return self.step == self.spec.steps

    @property
    def position(self) -> int:
        return self.step

    def predicted_memory(self) -> memory.Memory:
        """Bytes that a device needs to advance its members."""
        shards = self._sharding.num_devices // self.execution.batch_devices
        return memory.predicted(self.program, self._padded // shards, self.block)

    def lowered(self) -> Any:
        """The lowered program that advances all members, for its cost and memory analysis."""
        with self.precision():
            return self._advance.lower(self.state, self._traced, jnp.int32(0), jnp.int32(1))

    def restore(self, step: int, seconds: float, state: Any) -> None:
        """Go on from a saved state (a pytree like `state`, rows for at least the real members)."""
        self.step, self.seconds = step, seconds
        real = np.minimum(np.arange(self._padded), len(self.members) - 1)  # padding depends on the number of devices
        with self.precision():
            self.state = self.state_on_devices(jax.tree.map(lambda x: np.asarray(x)[real], state))

    def advance(self, to: int) -> None:
        """Train every member up to step `to`."""
        began = time.perf_counter()
        with self.precision():
            self.state = self._advance(self.state, self._traced, jnp.int32(self.step), jnp.int32(to))
            jax.block_until_ready(self.state.diverged)
        self.seconds += time.perf_counter() - began
        self.step = to

    def evaluate(self) -> Evaluated:
        """Metrics now, at the end also those that look back; the running mean of the training loss starts anew."""
        began = time.perf_counter()
        with self.precision():
            metrics = means.on_host(self.fetched(self._evaluate(self.state, self._traced)))
            self.state = self.state._replace(loss=jax.tree.map(jnp.zeros_like, self.state.loss))
            if self.finished and looking_back.n_checkpoints(self.spec):
                metrics |= self.fetched(self._conclude(self.state, self._traced))
        took = time.perf_counter() - began
        self.seconds, self.evaluating = self.seconds + took, self.evaluating + took
        n = len(self.members)
        diverged = self.fetched(self.state.diverged)[:n]
        return Evaluated(self.step, {k: v[:n] for k, v in metrics.items()}, diverged, self.seconds)

    def compile(self) -> None:
        """Compile, the step beside the evaluation, and run zero steps."""
        still = jnp.int32(self.step)
        calls = (self._advance, self.state, self._traced, still, still), (self._evaluate, self.state, self._traced)
        with ThreadPoolExecutor(len(calls)) as threads:
            list(threads.map(self._lowered_and_compiled, calls))
        with self.precision():
            self.state = self._advance(self.state, self._traced, jnp.int32(self.step), jnp.int32(self.step))
            jax.block_until_ready(self._evaluate(self.state, self._traced))

    def _lowered_and_compiled(self, call: Sequence[Any]) -> None:
        """Ahead of the call itself, which then compiles nothing. In a thread: the context of precision is its own."""
        function, *arguments = call
        with self.precision():
            function.lower(*arguments).compile()

    def run(self, slice_seconds: float = math.inf) -> Iterator[Evaluated | None]:
        """Where slices are cut changes no number."""
        length = FIRST_SLICE_STEPS if math.isfinite(slice_seconds) and self.program.cuttable else self.spec.steps
        while self.step < self.spec.steps:
            goal = self.spec.evaluation.after(self.step, self.spec.steps)
            while self.step < goal:
                before = self.seconds
                self.advance(min(goal, self.step + length))
                took = self.seconds - before
                if self.program.cuttable:
                    length = _adapted(length, took, slice_seconds)
                if self.step < goal:
                    yield None
            yield self.evaluate()

    @classmethod
    @abstractmethod
    def accepts(cls, spec: Spec) -> bool: ...


class Ensemble(EnsembleEngine):
    """Plans that draw samples, every member trained to the last step."""

    name: ClassVar[str] = "ensemble"
    program_class: ClassVar[type[Program]] = SampledProgram

    @classmethod
    def accepts(cls, spec: Spec) -> bool:
        return isinstance(spec.plan, SampledPlan) and spec.until is None

    @classmethod
    def check(cls, spec: Spec) -> None:
        check_samples(spec)


def check_samples(spec: Spec) -> None:
    """Raise `InputError` if the parts of a spec whose plan draws samples do not fit one another."""
    assert isinstance(spec.plan, SampledPlan)
    looking_back.check(spec)
    spec.training_set.check(spec.task, spec.plan)
    if spec.plan.positions and spec.plan.seen(spec.steps) >= 2**32:
        raise InputError(
            f"steps = {spec.steps}: a run sees fewer than 2^32 samples (here batch size {spec.plan.batch_size})"
        )
    skills = n_skills(spec.task)
    if isinstance(spec.skills, Listens) and not has_accuracy(spec.task.outputs):
        raise InputError(f"skills: {spec.skills.name!r} is only for tasks whose answers are right or wrong")
    if skills and not spec.plan.fresh and not spec.skills.schedule(skills).constant:
        raise InputError("skills: a distribution that moves needs a plan that never repeats a sample (online)")


def _adapted(length: int, took: float, slice_seconds: float) -> int:
    """Steps of the next slice."""
    if took < slice_seconds / 2:
        return length * 2
    return max(1, length // 2) if took > slice_seconds else length


def mesh_of(execution: Execution, members: int) -> Mesh:
    """The devices that an ensemble uses, (member, batch)."""
    if not members:
        raise ValueError("an ensemble has at least one member")
    devices = jax.devices()[: execution.devices]
    sharing = execution.batch_devices
    if len(devices) < sharing:
        raise InputError(f"--devices-per-member {sharing}: this process has {len(devices)} devices")
    if hosts.several() and len(devices) % sharing:
        raise InputError(f"--devices-per-member {sharing}: has to divide the {len(devices)} devices of all hosts")
    # Several processes have to use all of their devices; one leaves those idle for which there is no member.
    shards = len(devices) // sharing if hosts.several() else min(len(devices) // sharing, members)
    return Mesh(np.array(devices[: shards * sharing]).reshape(shards, sharing), (MEMBER_AXIS, BATCH_AXIS))


def is_cpu(mesh: Mesh) -> bool:
    return mesh.devices.flat[0].platform == "cpu"


def device_kind(sharding: NamedSharding) -> str:
    """For example `2 x cpu`."""
    devices = sharding.device_set
    return f"{len(devices)} x {next(iter(devices)).device_kind}"


def over_blocks(size: int, one_block: Any, trees: Any) -> Any:
    """`one_block` over a device's members, block after block of `size` members."""
    split = jax.tree.map(lambda x: x.reshape(-1, size, *x.shape[1:]), trees)
    if jax.tree.leaves(split)[0].shape[0] == 1:
        return one_block(jax.tree.map(lambda x: x[0], split))
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), jax.lax.map(one_block, split))


class _Functions:
    """The compiled functions of a program, cut into blocks and spread over devices; shared by later ensembles."""

    def __init__(self, program: Program, block: int, mesh: Mesh):
        self.program, self._block = program, block
        over, plain = PartitionSpec(MEMBER_AXIS), PartitionSpec()
        spread = partial(jax.shard_map, mesh=mesh, check_vma=False)
        conclude = program.conclude if isinstance(program, SampledProgram) else program.evaluate
        donated = (0,) if program.execution.donate else ()
        advance = spread(self._advance_shard, in_specs=(over, over, plain, plain), out_specs=over)
        self.jitted = (
            jax.jit(spread(self._in_blocks(program.init), in_specs=over, out_specs=over), compiler_options=ONCE),
            jax.jit(advance, donate_argnums=donated),
            jax.jit(spread(self._in_blocks(program.evaluate), in_specs=(over, over), out_specs=over)),
            jax.jit(spread(self._in_blocks(conclude), in_specs=(over, over), out_specs=over)),
        )

    def _in_blocks(self, function: Any) -> Any:
        """`function` of one member, over all members of a device."""
        return lambda *trees: over_blocks(self._block, lambda block: jax.vmap(function)(*block), trees)

    def _advance_shard(self, state: State, traced: TracedMember, start: Any, stop: Any) -> State:
        advance = jax.vmap(self.program.advance, in_axes=(0, 0, None, None))
        return over_blocks(self._block, lambda block: advance(block[0], block[1], start, stop), (state, traced))


_COMPILED: OrderedDict[Any, Any] = OrderedDict()


def compiled(key: Any, make: Callable[[], Any]) -> Any:
    """The functions compiled before for this key, or new ones; the least recently used are forgotten."""
    found = _COMPILED.pop(key) if key in _COMPILED else make()
    _COMPILED[key] = found
    while len(_COMPILED) > MOST_COMPILED:
        _COMPILED.popitem(last=False)
    return found
