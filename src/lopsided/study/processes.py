"""Processes that decide claims beside this one."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from multiprocessing.pool import AsyncResult, Pool
from typing import Any

SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Environment in which Python imports nothing from the present folder, as with `python -P`. Without it a new process
executes a file multiprocessing.py that happens to lie there."""
ANSWER_SECONDS = 0.2
"""Time between looks at whether an answer is there."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment in which NumPy multiplies matrices on one thread. With two threads in each of two processes, four threads
share two cores and wait for one another: `lopsided check --rows results` took 60 s in place of 41."""


class Lost(RuntimeError):
    """One of the processes died before it answered: killed for its memory, as a rule."""


class Others:
    """Processes beside this one, to which calls of functions are handed."""

    def __init__(self, pool: Pool, numbers: Set[int | None]):
        self._pool = pool
        self._numbers = numbers

    def ask(self, function: Callable[..., Any], *given: Any) -> AsyncResult:
        """Call a function in one of the processes; returns a handle that has the result once it is there."""
        return self._pool.apply_async(function, given)

    def answers(self, function: Callable[[Any], Any], questions: Sequence[Any]) -> list[Any]:
        """The results of the function for each question, in the order of the questions. Raises `Lost`."""
        waited = self._pool.map_async(function, questions, chunksize=1)
        while not waited.ready():
            self.require_all()
            waited.wait(ANSWER_SECONDS)
        return waited.get()

    def require_all(self) -> None:
        """Raise `Lost` if one of them has died. (The pool begins another one in its place, and never answers what the
        first was asked: bpo-22393.)"""
        if not self._numbers <= _children():
            raise Lost("a process that decides claims was killed, for its memory as a rule")


@contextmanager
def processes(number: int) -> Iterator[Others]:
    """Context with a number of new Python processes, which are ended when it is left."""
    with _environment(SAFE_PATH):  # for as long as the pool may replace a process that died
        with _environment(ONE_THREAD):  # no longer than processes take to start: trainings begin in the block, too
            before = _children()
            pool = multiprocessing.get_context("spawn").Pool(number, _apart)
        with pool:
            yield Others(pool, _children() - before)


def _children() -> set[int | None]:
    """Process ids of the living processes that `multiprocessing` has started from this one."""
    return {each.pid for each in multiprocessing.active_children()}


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
