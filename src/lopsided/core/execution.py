"""How a spec is run, as opposed to what it computes. Nothing here is part of a spec's hash: rows agree, whatever these
settings are, within the rounding of sums that are added in another order."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lopsided.core.config import Config

Whole = Annotated[int, Field(ge=1, le=2**31)]


class Execution(Config):
    """Devices are a mesh of two axes: `member` (members side by side) times `batch` (one member's batch in parts).

    Printed by `lopsided doctor`, stored with every part's provenance.
    """

    batch_devices: Whole = 1
    """Devices that share one member's batch; the others hold other members."""
    shard: bool = False
    """Spread every member's parameters and what its optimizer keeps over its `batch_devices`, too."""
    devices: Whole | None = None
    """Devices to use; all if not given."""
    micro_batch: Whole | None = None
    """Samples whose activations are held at once; chosen from the activations' size if not given."""
    rematerialise: bool = False
    """Compute the activations of every layer again in the backward pass instead of keeping them."""
    unroll: bool = False
    """Compile every layer of its own instead of a loop over layers: for counting operations."""
    donate: bool = True
    """Let a step write its result over the state it came from."""
    block_bytes: Whole = 2**20
    """Activations of the members that advance together on one CPU core: small enough for the core's own cache."""
    largest_block: Whole = 32
    """Members that advance together on one CPU core at most."""
    commit_seconds: Annotated[float, Field(ge=0, le=1e12)] = 60.0
    """Wall time between commits of an unfinished job."""

    @property
    def of_program(self) -> Execution:
        """These settings with devices, block sizes and commit times at their defaults: a member's program depends on
        none of them."""
        return Execution(**self.model_dump(exclude={"devices", "block_bytes", "largest_block", "commit_seconds"}))


DEFAULT = Execution()
