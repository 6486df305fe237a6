"""Many processes on one folder for a long time, killed, stopped, continued and their parts damaged at random.

    python -m tests.faults.soak MINUTES [PROCESSES] [JOBS]

Ends with the rows of an unbroken run, or says how they differ. Nightly; `test_soak.py` runs a short one.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from lopsided.core.spec import Spec
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
        self.counts: Counter[str] = Counter()

    def attack(self, seconds: float, damage_every: float, pause: float) -> None:
        """Harm the folder and its processes for so long; then kill all."""
        began = harmed = time.monotonic()
        while time.monotonic() - began < seconds:
            self._refill()
            time.sleep(self.random.uniform(0, 2 * pause))
            process = self.random.choice(self.running)
            kind = self.random.choice(["kill", "term", "stop", "continue", "continue"])
            getattr(self, f"_{kind}")(process)
            for pid, until in list(self.stopped.items()):
                if time.monotonic() > until:
                    self._continue(next(p for p in self.running if p.pid == pid))
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

    def _stop(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGSTOP)
        self.stopped[process.pid] = time.monotonic() + self.random.uniform(0, 20)
        self.counts["stopped"] += 1

    def _continue(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGCONT)
        self.stopped.pop(process.pid, None)

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
    attacked.counts["rows"] = len(found)
    return attacked.counts


if __name__ == "__main__":
    length, many = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else int(8 * length) + 4  # so that work is left when the time is over
    with tempfile.TemporaryDirectory() as where:
        began = time.monotonic()
        found = soak(Path(where), length, many, work(jobs, 20_000))
        print(dict(found), f"{(time.monotonic() - began) / 60:.0f} minutes, rows equal")
