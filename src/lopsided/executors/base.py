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

from lopsided.core.errors import InputError, unknown


class Executor(ABC):
    """Workers of one folder."""

    name: ClassVar[str]
    root: Path
    options: Mapping[str, str]

    @abstractmethod
    def start(self, count: int) -> None:
        """Ask the engine for more workers."""

    @abstractmethod
    def count(self) -> int:
        """Workers that live, or wait for a machine, whoever asked for them."""

    def release(self) -> None:  # noqa: B027
        """Nothing is left to do; workers that would not end by themselves are let go."""

    def logs(self) -> Path:
        """Folder of the workers' logs."""
        folder = self.root / "workers" / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def command(self, idle_seconds: float) -> list[str]:
        """What a worker's process runs."""
        words = [
            sys.executable,
            "-m",
            "lopsided.cli",
            "worker",
            "--out",
            str(self.root),
            "--idle",
            f"{idle_seconds:g}s",
        ]
        return words


def executor(name: str, root: Path, workers: int, options: Mapping[str, str]) -> Executor:
    """By name. Raises `InputError` for an unknown one, or one whose library is missing."""
    from lopsided.executors import elsewhere, local, ray, slurm

    classes = (local.Local, slurm.Slurm, ray.Ray, elsewhere.Elsewhere)
    known: dict[str, type[Executor]] = {each.name: each for each in classes}
    if name not in known:
        raise unknown("--on", name, known)
    if not 1 <= workers <= 10_000:
        raise InputError(f"--workers {workers}: between 1 and 10000")
    return known[name](root.absolute(), workers, options)  # type: ignore[call-arg]


def missing_library(name: str) -> InputError:
    """What to say where an optional library is not installed."""
    return InputError(f"--on {name}: needs more libraries; pip install 'lopsided[{name}]'")
