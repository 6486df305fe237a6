"""Executors and runners for `lopsided run --on NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lopsided.core.errors import InputError, unknown
from lopsided.executors.base import Executor
from lopsided.executors.elsewhere import Elsewhere
from lopsided.executors.head import Cluster
from lopsided.executors.local import Local
from lopsided.executors.ray import Ray
from lopsided.executors.sender import Sender
from lopsided.executors.slurm import Slurm
from lopsided.work.done import Runner

EXECUTORS: dict[str, type[Executor]] = {each.name: each for each in (Local, Slurm, Ray, Elsewhere)}


def executor(name: str, root: Path, workers: int, options: Mapping[str, str]) -> Executor:
    """By name. Raises `InputError` for an unknown one, or one whose library is missing."""
    if name not in EXECUTORS:
        raise unknown("--on", name, EXECUTORS)
    if not 1 <= workers <= 10_000:
        raise InputError(f"--workers {workers}: between 1 and 10000")
    return EXECUTORS[name](root.absolute(), workers, options)


def runner(executor: Executor, target: str, deadline: float | None = None) -> Runner:
    """The head of an executor's workers. `target` is what `lopsided run` was given; after `deadline` (seconds since
    1970) workers commit and stop."""
    if isinstance(executor, Ray) and not executor.shares_folder:
        return Sender(executor, target)
    return Cluster(executor, target, deadline)
