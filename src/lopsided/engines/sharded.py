"""Sharded engine: one large member over many devices.

Like the ensemble, but a member's parameters and what its optimizer keeps are spread over the devices that share its
batch, each device having a part of every large array (FSDP, ZeRO-3). Nothing is written by hand: batch and state are
given a place on the mesh, and the compiler gathers parameters where a layer needs them and scatters gradients. Members
and batch may share a mesh (four members on two devices each). Rows agree with those of one device within rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Any, ClassVar

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from lopsided.core.engine import Member
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.spec import Spec
from lopsided.engines import memory
from lopsided.engines.ensemble import MEMBER_AXIS, ONCE, Ensemble, compiled, mesh_of
from lopsided.engines.members import program_key, tree_bytes
from lopsided.engines.program import BATCH_AXIS, Program
from lopsided.numerics.lowering import spread_over

LEAST_SHARDED = 2**10
"""Numbers in an array from which on it is spread."""


class Sharded(Ensemble):
    """Members whose state is spread over several devices."""

    name: ClassVar[str] = "sharded"

    def __init__(self, members: Sequence[Member], execution: Execution = DEFAULT):
        mesh = mesh_of(execution, len(members))
        spec, rows = members[0].spec, mesh.devices.shape[0]
        program = self.program_class.of(spec, _pieces_of_all(self.program_class, spec, execution))
        block = -(-len(members) // rows)
        self._state_sharding = jax.tree.map(partial(_placed, mesh), program.state_shape)
        self._batch = NamedSharding(mesh, PartitionSpec(BATCH_AXIS))
        functions = compiled(
            ("sharded", program_key(spec), execution.canonical_json(), block, tuple(mesh.devices.flat)),
            lambda: _Functions(program, self._state_sharding),
        )
        self._begin(members, execution, program, mesh, functions, block, rows * block)

    @classmethod
    def accepts(cls, spec: Spec) -> bool:
        """Never by its spec alone: see `lopsided.engines.choosing`."""
        return False

    def precision(self) -> AbstractContextManager[Any]:
        stack = ExitStack()
        stack.enter_context(self.program.precision())
        stack.enter_context(spread_over(self._batch))
        return stack

    def state_on_devices(self, state: Any) -> Any:
        return jax.device_put(state, self._state_sharding)

    def predicted_memory(self) -> memory.Memory:
        """Bytes that a device needs to advance its members: its share of the state, of gradients and of the pieces;
        and the parameters that are gathered, at most all of them."""
        sharing = self.execution.batch_devices
        whole = memory.predicted(self.program, self.block, self.block)
        gathered = self.block * tree_bytes(self.program.state_shape.params) if sharing > 1 else 0
        return memory.Memory(-(-whole.state // sharing), -(-whole.temporary // sharing) + gathered)


def _pieces_of_all(program_class: type[Program], spec: Spec, execution: Execution) -> Execution:
    """The execution of one program for all devices of a member: a piece is as large as theirs together."""
    alone = execution.model_copy(update={"batch_devices": 1, "shard": False})
    micro = getattr(program_class.of(spec, alone), "micro_batch", 1)
    return alone.model_copy(update={"micro_batch": micro * execution.batch_devices})


def _placed(mesh: Mesh, leaf: jax.ShapeDtypeStruct) -> NamedSharding:
    """Where a leaf of the members' states lies: its longest axis that can be parted equally goes over the devices."""
    sharing = mesh.devices.shape[1]
    axes: list[str | None] = [None] * len(leaf.shape)
    lengths = [(n, -i) for i, n in enumerate(leaf.shape) if n % sharing == 0]
    if lengths and sharing > 1 and math.prod(leaf.shape) >= LEAST_SHARDED:
        axes[-max(lengths)[1]] = BATCH_AXIS
    return NamedSharding(mesh, PartitionSpec(MEMBER_AXIS, *axes))


class _Functions:
    """The compiled functions of a program whose states lie over devices."""

    def __init__(self, program: Program, placed: Any):
        over = partial(jax.vmap, spmd_axis_name=MEMBER_AXIS)
        donated = (0,) if program.execution.donate else ()
        conclude = getattr(program, "conclude", program.evaluate)
        advance = over(program.advance, in_axes=(0, 0, None, None))
        self.jitted = (
            jax.jit(over(program.init), out_shardings=placed, compiler_options=ONCE),
            jax.jit(advance, donate_argnums=donated, out_shardings=placed),
            jax.jit(over(program.evaluate)),
            jax.jit(over(conclude)),
        )
