"""Seconds from a command to the first step: nothing compiled before, and with everything compiled on disk.

python -m benchmarks.first_step [RECIPE ...]        (3 minutes on two idle cores)

Each run is `lopsided run RECIPE` in a process of its own with an empty folder; it ends when its first job begins to
train. The time counts the start of Python, imports, manifest, initial weights and compilation of step and evaluation.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

RECIPES = ("small-vs-large", "biased-online", "norm-growth", "state-tracking", "small-vs-large-transformer", "qk-tasks")
TURNS = 3
CHILD = """
import os, sys
from lopsided.work.clock import Clock
def ends(clock, engine):
    print("begins", flush=True)
    os._exit(0)
Clock.compiled = ends
from lopsided.cli import main
main(["run", sys.argv[1], "--out", sys.argv[2]])
"""


def seconds(recipe: str, cache: str) -> float:
    """From the start of the process to its first step."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", CHILD, recipe, folder]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "LOPSIDED_CACHE": cache})
        return time.perf_counter() - began


def row(recipe: str) -> str:
    """Cold and warm, in turn."""
    cold, warm = [], []
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(seconds(recipe, cache))
            warm.append(seconds(recipe, cache))
    return f"| {recipe} | {_spread(cold)} | {_spread(warm)} |"


def _spread(found: list[float]) -> str:
    return f"{statistics.median(found):.1f} ({min(found):.1f} … {max(found):.1f})"


if __name__ == "__main__":
    print("| recipe | cold, seconds | warm, seconds |")
    print("|---|---:|---:|", flush=True)
    for name in sys.argv[1:] or RECIPES:
        print(row(name), flush=True)
