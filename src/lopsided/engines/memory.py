"""How much memory a program needs, known before anything is allocated, and what follows from it: micro-batches, blocks,
and how many members fit."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, NamedTuple

import jax
import numpy as np

from lopsided.core.execution import Execution
from lopsided.engines.members import tree_bytes

if TYPE_CHECKING:
    from lopsided.engines.program import Program

MICRO_BATCH_BYTES = 2**20
"""Saved activations of one micro-batch: small enough for a core's own cache."""
LEAST_MICRO_BATCH = 64
"""Smaller micro-batches are slow; only memory makes them smaller."""
STREAM_FROM = 4
"""A batch of at least this many micro-batches is streamed (measured on a small transformer: 10 % faster)."""
STREAM_HELD_FROM = 2
"""`STREAM_FROM` where samples are held (measured on a perceptron: 10 % faster)."""
LARGEST_BATCH_BYTES = 2**31
"""Saved activations beyond which a batch is streamed in any case."""
JOB_BYTES = 2**33
"""States of the members of one job, and their copies, at most; fixed, so that jobs do not depend on the machine."""
BLOCKS_PER_JOB = 8
"""Small jobs let several processes share a recipe; below this size an ensemble on two cores would lose speed."""


class Memory(NamedTuple):
    """Bytes on one device while members advance."""

    state: int
    """What stays: the members' states."""
    temporary: int
    """What comes and goes: gradients, updates, activations and held samples of the block that advances; copies of
    states where members advance block after block."""

    @property
    def total(self) -> int:
        return self.state + self.temporary


def predicted(program: Program, members: int, block: int) -> Memory:
    """For `members` members on one device, `block` of them advancing together."""
    state, gradients = program.state_bytes, tree_bytes(program.state_shape.params)
    working = 2 * gradients + program.block_bytes + program.held_bytes
    copied = (members + block) * state if block < members else 0  # blocks are taken out, and gathered again
    return Memory(members * state, block * working + copied)


def micro_batch(batch_size: int, activation_bytes: int, stream_from: int = STREAM_FROM) -> int:
    """Samples whose activations are held at once: the whole batch if it is small. A fixed rule: results never depend on
    the machine's memory."""
    preferred = max(LEAST_MICRO_BATCH, MICRO_BATCH_BYTES // activation_bytes)
    micro = 2 ** int(math.log2(max(1, min(preferred, LARGEST_BATCH_BYTES // activation_bytes))))
    stream = batch_size >= stream_from * micro or batch_size * activation_bytes > LARGEST_BATCH_BYTES
    return min(micro, batch_size) if stream else batch_size


def cache_block(program: Program, execution: Execution) -> int:
    """Members that fit a CPU core's own cache together."""
    return int(np.clip(execution.block_bytes // program.block_bytes, 1, execution.largest_block))


def members_per_job(program: Program) -> int:
    """How many members one job takes, whatever the machine."""
    fit = max(1, JOB_BYTES // (3 * program.state_bytes))
    return min(fit, BLOCKS_PER_JOB * cache_block(program, Execution()))


def budget() -> int:
    """Bytes that one ensemble may take: half of the device's (or the machine's) memory."""
    stats = jax.local_devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] // 2
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def members_that_fit(program: Program, limit: int | None = None) -> int:
    """How many members one device may hold: on a CPU a block at a time advances, elsewhere all of them."""
    limit = budget() if limit is None else limit
    per_member = 3 * program.state_bytes
    if jax.devices()[0].platform != "cpu":
        per_member += program.state_bytes + 2 * program.block_bytes + program.held_bytes
    return max(1, limit // per_member)
