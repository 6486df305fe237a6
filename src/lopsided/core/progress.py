"""What a caller may show of a run while it trains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lopsided.core.engine import Evaluated, Member


class Progress(NamedTuple):
    """What a caller may show after every evaluation."""

    step: int
    steps: int
    members: Sequence[Member]
    evaluated: Evaluated | None
    """None when a job starts (it is being compiled), or while others hold all that is left (no members then)."""
    seconds: float
    """Wall time since this run began."""
    done: float
    """Share of the wanted samples that were seen, by this process or before it, in [0, 1]."""
    left: float | None
    """Estimated seconds left, from this process's own pace."""
