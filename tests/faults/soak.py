"""Many processes on one folder for a long time, killed, stopped, continued, their leases moved by hours in time, their
parts damaged at random; one process is stopped for longer than a lease lasts, and a copy of the folder goes on, too.

    python -m tests.faults.soak MINUTES [PROCESSES] [JOBS]

Ends with the rows of an unbroken run, or says how they differ. Nightly; `test_soak.py` runs a short one.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from lopsided.core.spec import Spec
from lopsided.store.leases import STOPPED_SECONDS
from lopsided.store.parts import Store
from tests.conftest import PARITY
from tests.faults.helpers import finish, rows, start

RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def work(number: int, steps: int) -> list[Spec]:
    """Specs of `number` different sizes of model: as many jobs, of a few members each."""
    evaluation = {"every": steps // 10, "samples": 64}
    return [
        Spec.parse({**PARITY, "model": {"name": "mlp", "width": 8 + i}, "steps": steps, "evaluation": evaluation})
        for i in range(number)
    ]


class Soak:
    """One folder under attack."""

    def __init__(self, root: Path, specs: list[Spec], processes: int, seed: int = 0):
        self.root, self.specs, self.number = root, specs, processes
        self.random = random.Random(seed)
        self.running: list[subprocess.Popen[str]] = []
        self.stopped: dict[int, float] = {}
        self.held: subprocess.Popen[str] | None = None
        """The process that is stopped for longer than a lease lasts."""
        self.copy: Path | None = None
        self.counts: Counter[str] = Counter()

    def attack(self, seconds: float, damage_every: float, pause: float) -> None:
        """Harm the folder and its processes for so long; then kill all."""
        began = harmed = time.monotonic()
        long = seconds > 2 * STOPPED_SECONDS
        while time.monotonic() - began < seconds:
            self._refill()
            time.sleep(self.random.uniform(0, 2 * pause))
            process = self.random.choice(self.running)
            kind = self.random.choice(["kill", "term", "stop", "continue", "continue", "shift"])
            if process is not self.held:
                getattr(self, f"_{kind}")(process)
            for pid, until in list(self.stopped.items()):
                if time.monotonic() > until:
                    self._continue(next(p for p in self.running if p.pid == pid))
            if long and time.monotonic() - began > 20:
                long = False
                self._stop(self.running[0], STOPPED_SECONDS + 20)
                self.counts["stopped for long"] += 1
            if self.copy is None and time.monotonic() - began > seconds / 2:
                self.copy = self.root.with_name("copied")
                _copy(self.root, self.copy)
            if time.monotonic() - harmed > damage_every:
                harmed = time.monotonic()
                self._damage()
        for process in self.running:
            process.kill()
        for process in self.running:
            process.communicate()

    def _refill(self) -> None:
        for process in [p for p in self.running if p.poll() is not None]:
            _, err = process.communicate()
            if process.returncode not in (0, -signal.SIGKILL, -signal.SIGTERM):
                self.counts["failed"] += 1
                print(err[-2000:])
            self.counts["ended"] += 1
            self.stopped.pop(process.pid, None)
            self.running.remove(process)
        while len(self.running) < self.number:
            self.running.append(start(self.root, self.specs, 4, commit_seconds=0.2))

    def _kill(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        self.counts["killed"] += 1

    def _term(self, process: subprocess.Popen[str]) -> None:
        process.terminate()
        self.counts["asked to stop"] += 1

    def _stop(self, process: subprocess.Popen[str], seconds: float | None = None) -> None:
        self.held = process if seconds else self.held
        process.send_signal(signal.SIGSTOP)
        self.stopped[process.pid] = time.monotonic() + (seconds or self.random.uniform(0, 20))
        self.counts["stopped"] += 1

    def _continue(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGCONT)
        self.stopped.pop(process.pid, None)
        self.held = None if process is self.held else self.held

    def _shift(self, _: subprocess.Popen[str]) -> None:
        """A lease as it looks after the clock has jumped, to either side."""
        for file in (self.root / "leases").glob("*.json"):
            with suppress(OSError):
                moved = file.stat().st_mtime + self.random.choice([-1, 1]) * self.random.uniform(1, 5) * 3600
                os.utime(file, (moved, moved))
                self.counts["moved in time"] += 1
            return

    def _damage(self) -> None:
        files = [f for f in self.root.glob("parts/[!.]*/*") if f.is_file()]
        if not files:
            return
        file = self.random.choice(files)
        try:
            data = bytearray(file.read_bytes())
            data[self.random.randrange(len(data))] ^= 0xFF
            file.write_bytes(bytes(data))
            self.counts["damaged"] += 1
        except FileNotFoundError:
            pass


def _copy(root: Path, to: Path) -> None:
    """A copy of the folder while others write into it; what vanishes meanwhile is not copied."""
    for file in sorted(root.rglob("*")):
        target = to / file.relative_to(root)
        with suppress(OSError):
            target.mkdir(parents=True, exist_ok=True) if file.is_dir() else shutil.copy2(file, target)


def soak(folder: Path, minutes: float, processes: int, specs: list[Spec], damage_every: float = 60.0) -> Counter[str]:
    """Attack, finish, compare. Raises `AssertionError` if a row differs."""
    finish(folder / "whole", specs, 4, timeout=3600)
    attacked = Soak(folder / "attacked", specs, processes)
    attacked.attack(60 * minutes, damage_every, 0.05 * minutes + 0.2)
    finish(folder / "attacked", specs, 4, timeout=3600)
    finish(folder / "attacked", specs, 4)
    expected, found = rows(folder / "whole"), rows(folder / "attacked")
    assert found == expected, (len(found), len(expected))
    assert not Store(folder / "attacked").survey().damaged
    assert not list((folder / "attacked" / "leases").glob("*.json"))
    if attacked.copy is not None:
        finish(attacked.copy, specs, 4, timeout=3600)
        assert rows(attacked.copy) == expected
    attacked.counts["rows"] = len(found)
    return attacked.counts


if __name__ == "__main__":
    length, many = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else int(8 * length) + 4  # so that work is left when the time is over
    with tempfile.TemporaryDirectory() as where:
        began = time.monotonic()
        found = soak(Path(where), length, many, work(jobs, 20_000))
        print(dict(found), f"{(time.monotonic() - began) / 60:.0f} minutes, rows equal")
