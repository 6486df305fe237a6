"""Stopping well: the first SIGINT or SIGTERM asks for a commit, a second SIGINT stops at once."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that the first signal sets. A closed terminal (SIGHUP) does not end a run; its log goes on."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()
        print("\nlopsided: committing what is computed, then stopping …", file=sys.stderr, flush=True)

    wanted: dict[signal.Signals, Any] = {signal.SIGINT: ask, signal.SIGTERM: ask}
    if hasattr(signal, "SIGHUP"):
        wanted[signal.SIGHUP] = signal.SIG_IGN
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
