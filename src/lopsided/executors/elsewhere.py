"""Workers that somebody else starts: an indexed Job of Kubernetes, a cron job, another user of the folder."""

from __future__ import annotations

from typing import ClassVar

from lopsided.executors.base import Executor


class Elsewhere(Executor):
    """The head only orders and waits."""

    name: ClassVar[str] = "elsewhere"

    def start(self, count: int) -> None:
        """Not ours to do."""

    def count(self) -> int:
        """The number that was asked for: the head does not start any."""
        return self.workers
