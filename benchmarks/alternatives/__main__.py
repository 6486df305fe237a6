"""What one would otherwise pick, on the same work: member-steps a second, and the time of a small heat map.

python -m benchmarks.alternatives [mlp|transformer|map]        (needs PyTorch and a C++ compiler; about 25 minutes)

Each contender has a process of its own, with the devices and threads that its library chooses; PyTorch has the better
of one thread and all. They take turns, so that a drifting machine slows all of them; rates are medians over the turns
with their range. Where members train one after the other the rate does not depend on their number.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.alternatives import mlp, transformer

KINDS = {"mlp": mlp, "transformer": transformer}
MEMBERS = {"mlp": (1, 16, 256, 4096), "transformer": (1, 8)}
ONE_BY_ONE = ("PyTorch loop", "torch.compile")
SECONDS, TURNS = 1.5, 5
MAP_RATES, MAP_SEEDS, MAP_STEPS = 16, 8, 2000


def rates_of(members: int) -> list[float]:
    """Learning rates of the members, none so large that one diverges."""
    return [0.01 * (1 + i % 10) for i in range(members)]


def serve(kind: str, name: str, members: int) -> None:
    """A contender's process: prints the seconds to its first step, then a rate for every line that it reads."""
    began = time.perf_counter()
    scale = 1.0 if kind == "mlp" else 0.01
    work = KINDS[kind].CONTENDERS[name]([scale * rate for rate in rates_of(members)])
    work(1)
    print(time.perf_counter() - began, flush=True)
    steps = _calibrated(work) if "lopsided" in name or "JAX" in name else _with_threads(work)
    print(steps, flush=True)
    for _ in sys.stdin:
        begun = time.perf_counter()
        work(steps)
        print(members * steps / (time.perf_counter() - begun), flush=True)


def _calibrated(work: Callable[[int], object]) -> int:
    """Steps that take about SECONDS."""
    steps = 1
    while True:
        begun = time.perf_counter()
        work(steps)
        took = time.perf_counter() - begun
        if took > SECONDS / 4:
            return max(1, round(steps * SECONDS / took))
        steps *= 2


def _with_threads(work: Callable[[int], object]) -> int:
    """The same with the better number of PyTorch's threads, which stays."""
    import torch

    found = {}
    for threads in (1, os.cpu_count() or 1):
        torch.set_num_threads(threads)
        found[threads] = _calibrated(work)
    best = max(found, key=lambda threads: found[threads])
    torch.set_num_threads(best)
    return found[best]


class Contender:
    """A process that waits for its turn."""

    def __init__(self, kind: str, name: str, members: int):
        self.name, self.rates, self.lost = name, [], ""
        command = [sys.executable, "-m", "benchmarks.alternatives", "serve", kind, name, str(members)]
        self.cache = tempfile.TemporaryDirectory()
        caches = {"LOPSIDED_CACHE": self.cache.name, "TORCHINDUCTOR_CACHE_DIR": self.cache.name}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **caches},
        )
        self.first = self._read()
        self._read()

    def _read(self) -> float:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name}: its process ended")
        return float(line)

    def turn(self) -> None:
        assert self.process.stdin
        time.sleep(0.3)  # the other library's idle threads spin for a while before they sleep
        print("go", file=self.process.stdin, flush=True)
        self.rates.append(self._read())

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
        self.cache.cleanup()


def rates(kind: str, members: int) -> dict[str, dict[str, float]]:
    """Median, lowest and highest member-steps a second of every contender, and the seconds to its first step."""
    names = [name for name in KINDS[kind].CONTENDERS if members == 1 or name not in ONE_BY_ONE]
    contenders = []
    for name in names:
        try:
            contenders.append(Contender(kind, name, members))
        except RuntimeError as error:
            print(f"{error}", file=sys.stderr)
    for _ in range(TURNS):
        for each in contenders:
            each.turn()
    found = {}
    for each in contenders:
        each.end()
        median = statistics.median(each.rates)
        found[each.name] = {"median": median, "low": min(each.rates), "high": max(each.rates), "first": each.first}
    return found


def heat_map(name: str) -> float:
    """Seconds of a fresh process with an empty cache that trains a map of learning rates x seeds."""
    with tempfile.TemporaryDirectory() as folder:
        caches = {"LOPSIDED_CACHE": f"{folder}/a", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/b"}
        begun = time.perf_counter()
        command = [sys.executable, "-m", "benchmarks.alternatives", "one-map", name, f"{folder}/rows"]
        subprocess.run(command, check=True, env={**os.environ, **caches}, capture_output=True)
        return time.perf_counter() - begun


def one_map(name: str, folder: str) -> None:
    """The process of `heat_map`. Ours also evaluates and stores its rows."""
    grid = [0.02 * 1.2**i for i in range(MAP_RATES)]
    if name == "lopsided":
        import lopsided

        arms = {f"{rate:g}": lopsided.Spec.parse(mlp.spec(rate, MAP_STEPS)) for rate in grid}
        lopsided.run(arms, seeds=MAP_SEEDS, out=folder)
        return
    mlp.CONTENDERS[name]([rate for rate in grid for _ in range(MAP_SEEDS)])(MAP_STEPS)


def table(kind: str) -> None:
    """Print a Markdown table, row by row."""
    print(f"\n| {kind}: members | contender | member-steps/s (lowest … highest) | against lopsided | first step |")
    print("|---:|---|---:|---:|---:|", flush=True)
    for members in MEMBERS[kind]:
        found = rates(kind, members)
        ours = found["lopsided"]["median"]
        for name, r in found.items():
            spread = f"{r['median']:,.0f} ({r['low']:,.0f} … {r['high']:,.0f})"
            print(f"| {members:,} | {name} | {spread} | {r['median'] / ours:.2f} | {r['first']:.1f} s |", flush=True)


def maps() -> None:
    """Print the heat map's table."""
    print(f"\n| map of {MAP_RATES} rates x {MAP_SEEDS} seeds, {MAP_STEPS:,} steps | seconds, start to end, cold |")
    print("|---|---:|", flush=True)
    for name in mlp.CONTENDERS:
        found = [heat_map(name) for _ in range(1 if name in ONE_BY_ONE else 3)]
        print(f"| {name} | {statistics.median(found):.1f} ({min(found):.1f} … {max(found):.1f}) |", flush=True)


def main(arguments: Sequence[str]) -> None:
    what: dict[str, Callable[..., Any]] = {"serve": lambda k, n, m: serve(k, n, int(m)), "one-map": one_map}
    if arguments and arguments[0] in what:
        what[arguments[0]](*arguments[1:])
        return
    asked = arguments or (*KINDS, "map")
    for each in asked:
        maps() if each == "map" else table(each)
    print(json.dumps({"cores": os.cpu_count(), "seconds a turn": SECONDS, "turns": TURNS}))


if __name__ == "__main__":
    main(sys.argv[1:])
