"""Stopping well: the first SIGINT or SIGTERM asks for a commit, a second SIGINT stops at once.

Python's signal handlers run in the main thread between two of its instructions, so not while compiled code computes
there: a stretch of gradient flow, a long step, a compilation. A thread that reads the numbers of arriving signals from
a socket (`signal.set_wakeup_fd`) sees to the second SIGINT then.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from lopsided.core.errors import InputError, Stopped

PATIENCE = 3.0
"""Seconds that Python has to end by its own means after a second SIGINT. Then the process is ended; what was committed
stays."""
INTERRUPTED = 130
"""Exit code of a process that SIGINT ended."""


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that the first signal sets. A closed terminal (SIGHUP) does not end a run; its log goes on."""
    with _second_interrupt_ends(), _terminal_may_close(), _asked_by_signals() as stop:
        yield stop


@contextmanager
def committed_on_signals() -> Iterator[threading.Event]:
    """An event that the first signal sets in somebody else's program, which then ends as the signal would have ended
    it: by `KeyboardInterrupt`, or with exit code 143. Only in the main thread, and only for signals that the program
    does not handle itself."""
    own = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    heard = [number for number, usual in own.items() if signal.getsignal(number) is usual]
    if threading.current_thread() is not threading.main_thread() or not heard:
        yield threading.Event()
        return
    try:
        with _asked_by_signals(heard) as stop:
            yield stop
    except Stopped:
        if Stopped.exit_code == 128 + signal.SIGTERM:
            raise SystemExit(Stopped.exit_code) from None
        raise KeyboardInterrupt("everything computed is committed; the same call goes on") from None


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM raises `KeyboardInterrupt`, too, so that code of somebody else's ends as by SIGINT; `Stopped` then has
    the exit code of the signal that came."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        Stopped.exit_code = 128 + number
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _asked_by_signals(heard: Sequence[int] = (signal.SIGINT, signal.SIGTERM)) -> Iterator[threading.Event]:
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()
        Stopped.exit_code, Stopped.by_signal = 128 + number, True
        print("\nlopsided: stopping; what is computed is kept …", file=sys.stderr, flush=True)

    before = {number: signal.signal(number, ask) for number in heard}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _terminal_may_close() -> Iterator[None]:
    if not hasattr(signal, "SIGHUP"):  # Windows has none
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@contextmanager
def _second_interrupt_ends() -> Iterator[None]:
    """A second SIGINT ends the process if the main thread cannot hear it."""
    hears, arrives = socket.socketpair()
    arrives.setblocking(False)
    left = threading.Event()

    def watch() -> None:
        interrupts = 0
        with hears:
            while numbers := hears.recv(64):
                interrupts += numbers.count(signal.SIGINT)
                if interrupts > 1 and not left.wait(PATIENCE):
                    cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # a live display hides it
                    print(f"{cursor}\nlopsided: stopped without a commit", file=sys.stderr, flush=True)
                    os._exit(INTERRUPTED)

    before = signal.set_wakeup_fd(arrives.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        left.set()
        arrives.close()  # the thread reads nothing more, and ends


SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def duration(text: str, flag: str = "--for") -> float:
    """`90s`, `30m`, `2h`, `1d` in seconds. Raises `InputError` for anything else."""
    number, unit = text[:-1], text[-1:]
    try:
        seconds = float(number) * SECONDS[unit]
    except (ValueError, KeyError):
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise InputError(f"{flag} {text!r}: a number and s, m, h or d, for example 30m or 2h")
    return seconds


@contextmanager
def stopped_after(seconds: float | None, stop: threading.Event) -> Iterator[threading.Event]:
    """Sets `stop` when the time is over, and the event that is given, which tells that end from others."""
    over = threading.Event()

    def end() -> None:
        over.set()
        stop.set()

    timer = threading.Timer(seconds or 0.0, end)
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        yield over
    finally:
        timer.cancel()
