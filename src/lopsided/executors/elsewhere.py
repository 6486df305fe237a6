"""Workers that somebody else starts: an indexed Job of Kubernetes, a cron job, another user of the folder."""

from __future__ import annotations

from typing import ClassVar

from lopsided.executors.base import Executor
from lopsided.store.leases import Leases


class Elsewhere(Executor):
    """The head only orders and waits."""

    name: ClassVar[str] = "elsewhere"

    def start(self, count: int) -> None:
        """Not ours to do."""

    def count(self) -> int:
        """The number that was asked for: the head does not start any."""
        return self.workers

    def living(self) -> int:
        """Workers that live in the folder now."""
        return sum(lease.alive for lease in Leases(self.root / "workers").all())
