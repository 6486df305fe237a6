"""Ensemble engine: one compiled program trains many members (`vmap` over members, a loop over steps).

On a CPU every core is a device of its own, members are spread over the devices, and inside a device they advance in
blocks small enough to stay in the core's cache; on an accelerator a block is as large as memory allows. Neither changes
which numbers are computed, only their order of addition inside a matrix product.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from lopsided.engines import looking_back
from lopsided.engines.members import Dials, Member, State, dials_of, group_key
from lopsided.engines.population import PopulationProgram
from lopsided.engines.program import Program
from lopsided.engines.two_phase import TwoPhaseProgram

AnyProgram = Program | PopulationProgram | TwoPhaseProgram

BLOCK_BYTES = 2**20
"""Saved activations of the members that advance together on one CPU core."""
LARGEST_BLOCK = 32
BLOCKS_PER_JOB = 4
ONCE = {"xla_backend_optimization_level": 0}
"""For what runs once: drawing a transformer's first weights took 8 s to compile, and takes 2 s this way."""
ROUNDS_PER_JOB = 16
"""Members of a pool's job for each of its slots: enough that slots rarely stand empty at the job's end."""


class Stretch(NamedTuple):
    """What is known after an evaluation."""

    step: Any  # a number, or (E,) where members are at different steps
    metrics: dict[str, np.ndarray]  # each (E,)
    diverged: np.ndarray  # (E,) step of divergence or -1
    seconds: float  # computing time of the whole ensemble so far, compilation excluded
    who: np.ndarray | None = None  # (E,) positions in the list of members; None: all of them, in order


class Ensemble:
    """Members of one skeleton, ready to advance; `state` is a pytree of (E, ...) arrays."""

    def __init__(self, members: Sequence[Member], devices: Sequence[Any] | None = None):
        if not members:
            raise ValueError("an ensemble has at least one member")
        self.members = list(members)
        self.spec = members[0].spec
        self.program = program_of(self.spec)
        available = list(devices or jax.devices())
        self._block = block_size(self.program, available)
        shards = min(len(available), len(members))
        share = -(-len(members) // shards)
        blocks = -(-share // self._block)
        self._block = -(-share // blocks)  # equal blocks: as little padding as possible
        self._padded = shards * blocks * self._block
        mesh = Mesh(np.array(available[:shards]), ("member",))
        self._sharding = NamedSharding(mesh, PartitionSpec("member"))
        key = group_key(self.spec), self._block, tuple(available[:shards])
        if key not in _COMPILED:
            _COMPILED[key] = _Functions(self.program, self._block, mesh)
        self._init, self._advance, self._evaluate, self._conclude = _COMPILED[key].jitted
        padded = self.members + [self.members[-1]] * (self._padded - len(self.members))
        self.step = 0
        self.seconds = 0.0
        with self.program.precision():
            self._dials = jax.device_put(dials_of(padded, self.program.float_type), self._sharding)
            self.state: State = self._init(self._dials)

    @property
    def device_kind(self) -> str:
        """For example `2 x cpu`."""
        devices = self._sharding.device_set
        return f"{len(devices)} x {next(iter(devices)).device_kind}"

    @property
    def finished(self) -> bool:
        """Whether every member has taken its last step."""
        return self.step == self.spec.steps

    @property
    def position(self) -> int:
        """Steps of the average member."""
        return self.step

    def restore(self, step: int, seconds: float, state: Any) -> None:
        """Go on from a saved state (a pytree like `state`, rows for at least the real members)."""
        self.step, self.seconds = step, seconds
        real = np.minimum(np.arange(self._padded), len(self.members) - 1)  # padding depends on the number of devices
        with self.program.precision():
            self.state = jax.device_put(jax.tree.map(lambda x: np.asarray(x)[real], state), self._sharding)

    def advance(self, to: int) -> None:
        """Train every member up to step `to`."""
        began = time.perf_counter()
        with self.program.precision():
            self.state = self._advance(self.state, self._dials, jnp.int32(self.step), jnp.int32(to))
            jax.block_until_ready(self.state.diverged)
        self.seconds += time.perf_counter() - began
        self.step = to

    def evaluate(self) -> Stretch:
        """Metrics now, at the end also those that look back; the running mean of the training loss starts anew."""
        began = time.perf_counter()
        with self.program.precision():
            metrics = jax.device_get(self._evaluate(self.state, self._dials))
            zero = jnp.zeros_like(self.state.loss_sum), jnp.zeros_like(self.state.loss_count)
            self.state = self.state._replace(loss_sum=zero[0], loss_count=zero[1])
            if self.finished and looking_back.stretches(self.spec):
                metrics |= jax.device_get(self._conclude(self.state, self._dials))
        self.seconds += time.perf_counter() - began
        n = len(self.members)
        diverged = np.asarray(self.state.diverged)[:n]
        return Stretch(self.step, {k: v[:n] for k, v in metrics.items()}, diverged, self.seconds)

    def compile(self) -> None:
        """Compile and run zero steps, so that `seconds` counts computing only."""
        with self.program.precision():
            self.state = self._advance(self.state, self._dials, jnp.int32(self.step), jnp.int32(self.step))
            jax.block_until_ready(self._evaluate(self.state, self._dials))

    def run(self, slice_seconds: float = math.inf) -> Iterator[Stretch | None]:
        """Train to the end of the spec; yields after every evaluation, the last one at `spec.steps`.

        Long stretches are cut into slices of about `slice_seconds`, each followed by a None: a caller may save the
        state there. Where the cuts fall changes no number.
        """
        length = 16 if math.isfinite(slice_seconds) and self.program.cuttable else self.spec.steps
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


def _adapted(length: int, took: float, slice_seconds: float) -> int:
    """Steps of the next slice."""
    if took < slice_seconds / 2:
        return length * 2
    return max(1, length // 2) if took > slice_seconds else length


def program_of(spec: Any) -> AnyProgram:
    """The program that the spec's plan asks for."""
    kinds = {"population": PopulationProgram, "two-phase": TwoPhaseProgram}
    return kinds.get(spec.plan.engine, Program)(spec)


def block_size(program: AnyProgram, devices: Sequence[Any]) -> int:
    if devices[0].platform != "cpu":
        return 1 << 30
    return int(np.clip(BLOCK_BYTES // program.block_bytes, 1, LARGEST_BLOCK))


def over_blocks(size: int, one_block: Any, trees: Any) -> Any:
    """`one_block` over a device's members, block after block of `size` members."""
    split = jax.tree.map(lambda x: x.reshape(-1, size, *x.shape[1:]), trees)
    if jax.tree.leaves(split)[0].shape[0] == 1:
        return one_block(jax.tree.map(lambda x: x[0], split))
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), jax.lax.map(one_block, split))


class _Functions:
    """The compiled functions of a program, cut into blocks and spread over devices; shared by later ensembles."""

    def __init__(self, program: AnyProgram, block: int, mesh: Mesh):
        self.program, self._block = program, block
        over, plain = PartitionSpec("member"), PartitionSpec()
        spread = partial(jax.shard_map, mesh=mesh, check_vma=False)
        self.jitted = (
            jax.jit(spread(self._in_blocks(program.init), in_specs=over, out_specs=over), compiler_options=ONCE),
            jax.jit(spread(self._advance_shard, in_specs=(over, over, plain, plain), out_specs=over), donate_argnums=0),
            jax.jit(spread(self._evaluate_shard, in_specs=(over, over), out_specs=over)),
            jax.jit(spread(self._conclude_shard, in_specs=(over, over), out_specs=over)),
        )

    def _in_blocks(self, function: Any) -> Any:
        """`function` of one member, over all members of a device."""
        return lambda *trees: over_blocks(self._block, lambda block: jax.vmap(function)(*block), trees)

    def _advance_shard(self, state: State, dials: Dials, start: Any, stop: Any) -> State:
        advance = jax.vmap(self.program.advance, in_axes=(0, 0, None, None))
        return over_blocks(self._block, lambda block: advance(block[0], block[1], start, stop), (state, dials))

    def _evaluate_shard(self, state: State, dials: Dials) -> dict[str, Any]:
        return self._in_blocks(self.program.evaluate)(state, dials)

    def _conclude_shard(self, state: State, dials: Dials) -> dict[str, Any]:
        assert isinstance(self.program, Program)  # specs with probes that look back draw samples
        return self._in_blocks(self.program.conclude)(state, dials)


_COMPILED: dict[Any, _Functions] = {}


def memory_budget() -> int:
    """Bytes that the states of one ensemble may take: half of the device's (or the machine's) memory."""
    stats = jax.devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] // 2
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def members_per_job(spec: Any) -> int:
    """How many members one job takes: what fits memory, and on CPUs no more than keeps every core busy for a while.

    Small jobs let several processes share a recipe; below this size an ensemble would lose speed.
    """
    fit = members_that_fit(spec)
    devices = jax.devices()
    if devices[0].platform != "cpu":
        return fit
    at_once = len(devices) * block_size(program_of(spec), devices) * BLOCKS_PER_JOB
    return min(fit, at_once) * (ROUNDS_PER_JOB if spec.until else 1)


def members_that_fit(spec: Any, budget: int | None = None) -> int:
    """How many members of `spec` one ensemble may hold: state, its copy while it is updated, and one block's batch."""
    program = program_of(spec)
    per_member = 3 * program.state_bytes
    if jax.devices()[0].platform != "cpu":
        per_member += 2 * program.block_bytes
    return max(1, (memory_budget() if budget is None else budget) // per_member)
