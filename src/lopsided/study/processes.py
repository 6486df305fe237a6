"""Processes that decide claims beside this one."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.pool import Pool

SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Environment in which Python imports nothing from the present folder, as with `python -P`. Without it a new process
executes a file multiprocessing.py that happens to lie there."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment in which NumPy multiplies matrices on one thread. With two threads in each of two processes, four threads
share two cores and wait for one another: `lopsided check --rows results` took 60 s in place of 41."""


@contextmanager
def processes(number: int) -> Iterator[Pool]:
    """A pool of new processes, which end with the block."""
    with _environment(SAFE_PATH):  # for as long as the pool may replace a process that died
        with _environment(ONE_THREAD):  # no longer than processes take to start: trainings begin in the block, too
            pool = multiprocessing.get_context("spawn").Pool(number, _apart)
        with pool:
            yield pool


@contextmanager
def _environment(said: Mapping[str, str]) -> Iterator[None]:
    """Set those of the variables that the user has not set, and put the environment back at the end."""
    before = {name: os.environ.get(name) for name in said}
    os.environ.update({name: before[name] or value for name, value in said.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _apart() -> None:
    """In the other process: signals that a terminal or a batch system sends to all of a group are for the process that
    asked, which ends this one. If this one died of a signal while it waits for work, the other would wait for ever to
    take the work back."""
    if hasattr(os, "setsid"):
        os.setsid()
