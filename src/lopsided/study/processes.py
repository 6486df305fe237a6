"""Processes that decide claims beside this one."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.pool import Pool


@contextmanager
def processes(number: int) -> Iterator[Pool]:
    """A pool of new processes, which end with the block."""
    with _nothing_of_the_present_folder(), multiprocessing.get_context("spawn").Pool(number, _apart) as pool:
        yield pool


@contextmanager
def _nothing_of_the_present_folder() -> Iterator[None]:
    """Have other processes start as `python -P` does, and put the environment back at the end.

    Otherwise they execute a file multiprocessing.py of the present folder.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = before or "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _apart() -> None:
    """In the other process: signals that a terminal or a batch system sends to all of a group are for the process that
    asked, which ends this one. If this one died of a signal while it waits for work, the other would wait for ever to
    take the work back."""
    if hasattr(os, "setsid"):
        os.setsid()
