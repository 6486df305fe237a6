"""`lopsided worker`: carries out what heads have ordered in a folder."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lopsided.cli.options import OUT, Out, chosen, no_store

STOPPED = 143
"""Exit code of a worker that a signal stopped."""


def worker(
    directory: Path | None = None,
    /,
    *,
    idle: str = "1m",
    stop: Annotated[bool, Parameter(negative="")] = False,
    out: Out = OUT,
) -> None:
    """Train what `lopsided run --on …` has ordered in this folder, beside any number of other workers.

    A job that fails is tried again, here or elsewhere, and given up after three attempts that came no further.

    Parameters
    ----------
    directory
        Folder of the store, as --out.
    idle
        End after so long without work: 30s, 10m, 2h.
    stop
        Withdraw all orders of the folder, and ask its workers to commit what they have and end.
    out
        Folder of the store, shared with the head.
    """
    from lopsided.core.errors import Stopped
    from lopsided.core.telling import counted
    from lopsided.executors.orders import CORES, as_worker, ask_to_stop, read
    from lopsided.store.parts import Store
    from lopsided.work.signals import duration, stop_on_signals

    out = chosen(directory, out)
    store = Store(out)
    if stop:
        if not (out / "parts").is_dir():
            raise no_store(out)
        workers, orders = ask_to_stop(store)
        names = f" ({', '.join(workers)})" if workers else ""
        who = f"{counted(len(workers), 'worker')} alive here{names}" + (
            ": told to commit and to end" if workers else ""
        )
        print(f"{who}. {counted(orders, 'order')} withdrawn.")
        return
    # A folder that is not there is a slip, or a head that has not begun yet: wait, but make none.
    end = time.monotonic() + duration(idle, "--idle")
    while not (out / "parts").is_dir():
        if time.monotonic() > end:
            raise no_store(out, "lopsided run RECIPE --on elsewhere")
        time.sleep(0.5)
    cores = os.environ.get(CORES)
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(map(int, cores.split(","))))
    with stop_on_signals() as asked:
        try:
            print(f"{as_worker(store, asked, duration(idle, '--idle'))} members trained")
        except Stopped:
            print("stopped; everything computed is committed")
            if Stopped.by_signal:  # with work left or while it waited for some: an engine may start another one
                sys.exit(Stopped.exit_code)
            if read(store):  # at an order's deadline, with others left
                sys.exit(STOPPED)
