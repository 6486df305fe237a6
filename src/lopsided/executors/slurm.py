"""Jobs of Slurm, through submitit. Without a Slurm, `--on-set cluster=local` runs the same through submitit's own
processes."""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed
from lopsided.executors.base import Executor, missing_library
from lopsided.executors.orders import NAME
from lopsided.store.files import replace_text
from lopsided.store.leases import LOG

IDLE_SECONDS = 60.0
"""Patience of a worker, longer than of local ones: tasks of one array start at different times."""
LOOK_SECONDS = 0.2
"""Time between questions about a job that was handed in."""
GRACE_SECONDS = 60
"""From Slurm's warning to its end: the time for a last commit."""
DEFAULTS: dict[str, Any] = {"timeout_min": 240, "cpus_per_task": 2, "mem_gb": 4}
"""Parameters of submitit; `--on-set` changes and adds any: partition, gpus_per_node, slurm_qos, …"""


class Worker:
    """A worker as a child of submitit's process. Slurm's warning before the time limit, or before it gives the machine
    to somebody else, stops the child, which commits, and queues the job again."""

    def __init__(self, words: list[str], logs: str):
        self.words, self.logs = words, logs

    def __call__(self) -> int:
        array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
        job = f"{array}-{task}" if array else os.environ.get("SLURM_JOB_ID", str(os.getpid()))
        name = f"slurm-{job}"
        log = Path(self.logs) / f"{name}.log"
        with log.open("ab") as out:
            environment = {**os.environ, NAME: name, LOG: str(log)}
            self.process = subprocess.Popen(self.words, stdout=out, stderr=subprocess.STDOUT, env=environment)
            while (code := self.process.poll()) is None:  # not wait(): a signal's handler could not wait beside it
                time.sleep(LOOK_SECONDS)
            return code

    def checkpoint(self) -> Any:
        """Called by submitit when Slurm warns."""
        self.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):  # what it committed before is there all the same
            self.process.wait(GRACE_SECONDS)
        return _library().helpers.DelayedSubmission(Worker(self.words, self.logs))


def _library() -> Any:
    """submitit, without its logging: configuring that closes all handlers of the process it is imported in."""
    known = "SUBMITIT_LOG_LEVEL" in os.environ
    os.environ.setdefault("SUBMITIT_LOG_LEVEL", "NOCONFIG")
    try:
        return importlib.import_module("submitit")
    except ImportError:
        raise missing_library("slurm") from None
    finally:
        if not known:
            del os.environ["SUBMITIT_LOG_LEVEL"]


class Slurm(Executor):
    """One job for each worker. Their numbers are kept in OUT/workers/slurm.json, for a later head to find them."""

    name: ClassVar[str] = "slurm"
    takes: ClassVar[None] = None

    def __init__(self, root: Path, workers: int, options: Mapping[str, str]):
        submitit = _library()
        super().__init__(root, workers, options)
        settings = {**DEFAULTS, **{key: _number(value) for key, value in options.items()}}
        cluster = str(settings.pop("cluster", "slurm"))
        if "partition" in settings:
            settings["slurm_partition"] = settings.pop("partition")
        if cluster == "local":
            settings = {k: v for k, v in settings.items() if not k.startswith("slurm_")}
        try:
            self._executor = submitit.AutoExecutor(folder=self.logs() / "submitit", cluster=cluster)
            self._executor.update_parameters(name="lopsided", **settings)
        except (RuntimeError, TypeError, ValueError, NameError) as error:
            raise InputError(f"--on slurm: {str(error).splitlines()[0]}") from None
        logging.getLogger("submitit").setLevel(logging.ERROR)  # it wants Slurm's accounting, which many lack
        self._file = root / "workers" / "slurm.json"
        self._cluster = cluster
        self._jobs: dict[str, Any] = dict.fromkeys(self._known())

    def start(self, count: int) -> None:
        worker = Worker(self.command(IDLE_SECONDS), str(self.logs()))
        try:
            with self._executor.batch():
                found = [self._executor.submit(worker) for _ in range(count)]
        except (subprocess.CalledProcessError, RuntimeError) as error:  # submitit's FailedJobError is one
            raise InputError(f"--on slurm: sbatch failed: {' '.join(str(error).split())[-300:]}") from None
        self._jobs = {number: self._jobs[number] for number in self._alive()} | {job.job_id: job for job in found}
        replace_text(self._file, json.dumps(list(self._jobs)))

    def count(self) -> int:
        return len(self._alive())

    def _alive(self) -> list[str]:
        """Jobs that run or wait, by `squeue`: submitit asks Slurm's accounting, which not every cluster has."""
        if self._cluster != "slurm":
            return [number for number, job in self._jobs.items() if job is not None and not job.done(force_check=True)]
        words = ["squeue", "--me", "--noheader", "--array", "--format=%i"]
        found = subprocess.run(words, capture_output=True, text=True, check=False)
        # A controller that does not answer is no reason to start more jobs.
        return [number for number in self._jobs if found.returncode or number in found.stdout.split()]

    def _known(self) -> list[str]:
        try:
            return list(map(str, parsed(self._file.read_text())))
        except (OSError, ValueError):
            return []


def _number(text: str) -> Any:
    try:
        return parsed(text)
    except ValueError:
        return text
