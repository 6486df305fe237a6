"""What an executor is: it keeps a number of workers of one folder alive, through an engine that others maintain.

A worker is `lopsided worker` in some process: it takes jobs by the store's leases, so the engine hands out processes
and the folder hands out jobs. Workers outlive the process that started them; each keeps a lease of its own below
OUT/workers, by which anybody can count them.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from lopsided.core.errors import InputError
from lopsided.core.installing import install
from lopsided.store.paths import folder_in


class Executor(ABC):
    """Workers of one folder."""

    name: ClassVar[str]
    takes: ClassVar[tuple[str, ...] | None] = ()
    """Names of its options; None if its engine knows them."""

    def __init__(self, root: Path, workers: int, options: Mapping[str, str]):
        """So many `workers` for the store in the folder `root`. Raises `InputError` for an option that the engine does
        not take."""
        for key in options:
            if self.takes is not None and key not in self.takes:
                valid = f"valid for {self.name}: {', '.join(self.takes)}"
                raise InputError(f"--on-set {key}: {valid if self.takes else f'{self.name} workers have no options'}")
        self.root, self.workers, self.options = root, workers, dict(options)

    @abstractmethod
    def start(self, count: int) -> None:
        """Ask the engine for more workers."""

    @abstractmethod
    def count(self) -> int:
        """Workers that live, or wait for a machine, whoever asked for them."""

    def living(self) -> int:
        """Workers that are known to live now."""
        return self.count()

    def logs(self) -> Path:
        """Folder of the workers' logs."""
        return folder_in(self.root, "workers", "logs")

    def command(self, idle_seconds: float) -> list[str]:
        """What a worker's process runs."""
        # -P: without it, a file numpy.py in the present folder would be executed in place of NumPy.
        worker = [sys.executable, "-P", "-m", "lopsided.cli", "worker"]
        return [*worker, "--out", str(self.root), "--idle", f"{idle_seconds:g}s"]


def missing_library(name: str) -> InputError:
    """What to say where an optional library is not installed."""
    return InputError(f"--on {name}: needs more libraries; {install(name)}")
