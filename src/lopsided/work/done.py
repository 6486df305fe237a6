"""What is asked of a runner, and what it did."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.progress import Progress
from lopsided.core.spec import Spec
from lopsided.store.parts import Store


class Done(NamedTuple):
    """What a run did."""

    trained: int
    already: int
    """Members found complete, or completed by other processes meanwhile."""
    seconds: float
    diverged: int

    def plus(self, later: Done) -> Done:
        """Sum of two."""
        return Done(
            self.trained + later.trained,
            self.already + later.already,
            self.seconds + later.seconds,
            self.diverged + later.diverged,
        )


@dataclass(frozen=True, eq=False)
class Request:
    """Members to train, where their rows go, and how."""

    specs: Sequence[Spec]
    seeds: int | Sequence[int]
    """How many seeds each spec gets, from 0 on, or which."""
    store: Store
    progress: Callable[[Progress], None] | None = None
    execution: Execution = DEFAULT
    stop: threading.Event = field(default_factory=threading.Event)
    """Set it to commit and raise `Stopped`."""
    job_size: int | None = None
    """Members per job at most; None: what the engine says of the spec."""


Runner: TypeAlias = Callable[[Request], Done]
"""Something that trains what the store lacks: `lopsided.work.worker.train`, or a cluster's head."""
