"""Processes of this machine. Each gets its share of the cores, and of the GPUs if there are any."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from lopsided.executors.base import Executor
from lopsided.executors.orders import CORES, NAME
from lopsided.store.leases import LOG, Leases

IDLE_SECONDS = 30.0
"""Patience of a worker that finds no job: others have taken the last ones."""
_DETACHED: list[subprocess.Popen] = []
"""Kept, because Python warns of a running process that nobody remembers."""


class Local(Executor):
    """Detached processes: they go on when the one that started them ends."""

    name: ClassVar[str] = "local"

    def __init__(self, root: Path, workers: int, options: Mapping[str, str]):
        super().__init__(root, workers, options)
        self._started: dict[str, subprocess.Popen] = {}

    def start(self, count: int) -> None:
        taken = {self._slot(name) for name in self._alive()}
        for slot in [i for i in range(self.workers) if i not in taken][:count]:
            name = f"local-{slot}-{uuid.uuid4().hex[:6]}"
            log = self.logs() / f"{name}.log"
            environment = {**os.environ, NAME: name, LOG: str(log), **_share(slot, self.workers)}
            with log.open("ab") as out:
                process = subprocess.Popen(
                    self.command(IDLE_SECONDS),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    start_new_session=True,  # Ctrl-C at the head is not for the workers
                )
            self._started[name] = process
            _DETACHED.append(process)

    def count(self) -> int:
        return len(self._alive())

    def _alive(self) -> set[str]:
        """Workers that we started and that run (they may not have registered yet), and those of earlier heads."""
        ours = {name for name, process in self._started.items() if process.poll() is None}
        every = Leases(self.root / "workers").all()
        return ours | {w.job for w in every if w.alive and w.job.startswith("local-") and w.job not in self._started}

    @staticmethod
    def _slot(name: str) -> int:
        return int(name.split("-")[1])


def _share(slot: int, workers: int) -> dict[str, str]:
    """Cores and GPUs of one of several workers."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    mine = cores[slot % max(len(cores), 1) :: workers] if len(cores) > 1 else cores
    found = {CORES: ",".join(map(str, mine))} if mine else {}
    gpus = _gpus()
    if gpus:
        found["CUDA_VISIBLE_DEVICES"] = ",".join(gpus[slot % len(gpus) :: workers])
    return found


def _gpus() -> list[str]:
    """Numbers of the GPUs that this process may use."""
    said = os.environ.get("CUDA_VISIBLE_DEVICES")
    if said is not None:
        return [each for each in said.split(",") if each]
    folder = Path("/proc/driver/nvidia/gpus")
    return [str(i) for i in range(len(list(folder.iterdir())))] if folder.is_dir() else []
