"""Workers that somebody else starts: an indexed Job of Kubernetes, a cron job, another user of the folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from lopsided.core.errors import InputError
from lopsided.executors.base import Executor


class Elsewhere(Executor):
    """The head only orders and waits."""

    name: ClassVar[str] = "elsewhere"

    def __init__(self, root: Path, workers: int, options: Mapping[str, str]):
        if options:
            raise InputError(f"--on-set {next(iter(options))}: workers elsewhere have no options")
        self.root, self.workers, self.options = root, workers, options

    def start(self, count: int) -> None:
        """Not ours to do."""

    def count(self) -> int:
        return self.workers
