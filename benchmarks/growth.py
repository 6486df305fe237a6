"""How the cost of a step grows: with members, width, and samples of a full batch; and the memory that each takes.

python -m benchmarks.growth [FIGURE.png]        (4 minutes on two idle cores)

(20, 6)-parity and perceptrons, unless said otherwise. Every point has a process of its own, so that its memory is its
own, too: the highest resident memory of the process, the compiler's included, less that of one that trains a single
small member.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

SECONDS, TURNS = 0.7, 3


class Series(NamedTuple):
    """One way to grow."""

    name: str
    unit: str
    """What the cost of a step is proportional to, if nothing bends; empty: to nothing."""
    values: tuple[int, ...]


SERIES = (
    Series("members", "member", tuple(4**i for i in range(8))),
    Series("width", "hidden unit", tuple(16 * 2**i for i in range(7))),
    Series("samples a step", "sample", tuple(2**i for i in range(10, 23, 2))),
    Series("samples in the set", "", tuple(2**i for i in range(10, 23, 2))),
)


class Point(NamedTuple):
    """What a process measured."""

    step: float
    """Seconds a step of all members, median of the turns."""
    low: float
    high: float
    first: float
    """Seconds from the start of the process to the end of the first step, imports included."""
    memory: float
    """Bytes."""


def spec_of(series: str, value: int) -> tuple[dict, int]:
    """A spec, and how many members of it."""
    size = value if series.startswith("samples") else 2**14
    plan = {"name": "fixed", "size": size, "batch": 128}
    if series == "samples a step":
        plan = {"name": "full-batch", "size": value}
    spec = {
        # 2^22 distinct samples need 22 bits.
        "task": {"name": "sparse-parity", "d": 22 if series.startswith("samples") else 20, "k": 6},
        "model": {"name": "mlp", "width": value if series == "width" else 64},
        "plan": plan,
        "optimizer": {"name": "sgd", "lr": 0.05},
        "loss": "square",
        "steps": 10**7,
    }
    members = {"members": value, "samples a step": 1}.get(series, 16)
    return spec, members


def measure(series: str, value: int) -> Point:
    """In the point's own process."""
    began = time.perf_counter()
    from lopsided.engines import devices

    spec, members = spec_of(series, value)
    devices.setup(members)
    from lopsided.core.engine import Member
    from lopsided.core.spec import Spec
    from lopsided.engines.ensemble import Ensemble

    parsed = Spec.parse(spec)
    ensemble = Ensemble([Member(parsed, seed) for seed in range(members)])
    ensemble.advance(1)
    first = time.perf_counter() - began
    steps, took = 1, 0.0
    while took < SECONDS / 4:
        steps *= 2
        took = _seconds(ensemble, steps)
    steps = max(1, round(steps * SECONDS / took))
    found = [_seconds(ensemble, steps) / steps for _ in range(TURNS)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Point(statistics.median(found), min(found), max(found), first, memory)


def _seconds(ensemble, steps: int) -> float:
    began = time.perf_counter()
    ensemble.advance(ensemble.step + steps)
    return time.perf_counter() - began


def point(series: str, value: int) -> Point:
    """Measured by a fresh process, which compiles."""
    command = [sys.executable, "-m", "benchmarks.growth", "point", series, str(value)]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "LOPSIDED_CACHE": cache}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return Point(*json.loads(done.stdout.splitlines()[-1]))


def table(series: Series, least: float) -> dict[int, Point]:
    """Print a Markdown table, row by row; `least` is the memory of the smallest process."""
    unit = f"ns a step and {series.unit}" if series.unit else "ns a step"
    print(f"\n| {series.name} | µs a step (range) | {unit} | memory | first step |")
    print("|---:|---:|---:|---:|---:|", flush=True)
    found = {}
    for value in series.values:
        found[value] = at = point(series.name, value)
        per = at.step / (value if series.unit else 1)
        spread = f"{_digits(at.step * 1e6)} ({_digits(at.low * 1e6)} … {_digits(at.high * 1e6)})"
        more = max(0.0, at.memory - least) / 2**20
        print(f"| {value:,} | {spread} | {_digits(per * 1e9)} | {more:,.0f} MiB | {at.first:.1f} s |", flush=True)
    return found


def _digits(value: float) -> str:
    """Four significant digits."""
    return f"{float(f'{value:.4g}'):,.10g}"


def draw(found: dict[str, dict[int, Point]], least: float, file: Path) -> None:
    """Seconds a step, and memory, on logarithmic axes, each with the straight line of proportional cost."""
    import numpy as np

    from lopsided.figures.panels import Figure, Panel, over_members, slope_line
    from lopsided.report.matplotlib_draw import save

    panels = []
    for each in SERIES:
        points = found[each.name]
        x = np.array(list(points))
        y = np.array([[p.low, p.step, p.high] for p in points.values()]).T
        ends = (float(x[0]), float(x[-1]))
        lines = [over_members("measured", x, y, 0), slope_line("proportional", ends, (ends[1], y[1, -1]), 1)]
        panels.append(Panel(each.name, each.name, "seconds a step", lines, log_x=True, log_y=True))
    members = found["members"]
    x = np.array(list(members))
    y = np.array([max(p.memory - least, 2.0**20) for p in members.values()]) / 2**20
    lines = [over_members("measured", x, y[None], 0), slope_line("proportional", (x[0], x[-1]), (x[-1], y[-1]), 1)]
    panels.append(Panel("memory by members", "members", "MiB", lines, log_x=True, log_y=True))
    save(Figure("How the cost of a step grows", panels), file.with_suffix(""))


def main(arguments: Sequence[str]) -> None:
    if arguments and arguments[0] == "point":
        print(json.dumps(measure(arguments[1], int(arguments[2]))))
        return
    least = point("members", 1).memory
    print(f"{os.cpu_count()} cores; the smallest process takes {least / 2**20:.0f} MiB")
    found = {series.name: table(series, least) for series in SERIES}
    if arguments:
        draw(found, least, Path(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
