"""What a run did, and what anything that runs members looks like."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

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


class Runner(Protocol):
    """Something that trains what the store lacks: `lopsided.work.worker.run`, or a cluster's head."""

    def __call__(
        self,
        specs: Sequence[Spec],
        seeds: int | Sequence[int],
        store: Store,
        progress: Callable[[Progress], None] | None = None,
        execution: Execution = DEFAULT,
        stop: threading.Event | None = None,
        job_size: int | None = None,
    ) -> Done: ...
