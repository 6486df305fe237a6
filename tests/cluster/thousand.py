"""Many tiny jobs through an executor, workers killed at random: no row lost or doubled, and what a job costs beside its
training. Used by tests with few jobs; by hand:

    python -m tests.cluster.thousand local --jobs 1000 --workers 2 --kills 20
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path

from lopsided.core.spec import Spec
from lopsided.executors.runners import executor, runner
from lopsided.results.stored import load
from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.work.done import Request
from tests.conftest import PARITY

TINY = Spec.parse({**PARITY, "steps": 20})


def killer(root: Path, kills: int, pause: float, ended: threading.Event, killed: list[int]) -> None:
    """Kill living workers at random moments, `pause` seconds apart on average, once they have taken up work."""
    choose = random.Random(0)
    while len(killed) < kills and not ended.wait(choose.uniform(0.4, 1.6) * pause):
        alive = [lease.owner.pid for lease in Leases(root / "workers").all() if lease.alive]
        if alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid := choose.choice(alive), signal.SIGKILL)
                killed.append(pid)


def through(
    name: str, jobs: int, workers: int, kills: int, root: Path, options: dict[str, str], pause: float = 5.0
) -> dict[str, float]:
    """Run the jobs; raises if a row is missing or there twice."""
    store, ended, killed = Store(root), threading.Event(), list[int]()
    store.require_writable()
    thread = threading.Thread(target=killer, args=(root, kills, pause, ended, killed))
    thread.start()
    began = time.perf_counter()
    try:
        done = runner(executor(name, root, workers, options), "tour")(Request([TINY], jobs, store, job_size=1))
    finally:
        ended.set()
        thread.join()
    wall = time.perf_counter() - began
    assert (done.trained, done.already) == (jobs, 0)
    counted(store, jobs)
    training = sum(part.seconds for part in store.parts() if part.final)
    return {
        "jobs": jobs,
        "killed": len(killed),
        "seconds": wall,
        "seconds of training": training,
        "ms a job beside training": 1000 * (wall * workers - training) / jobs,
    }


def counted(store: Store, jobs: int) -> None:
    """Every row of every member, once."""
    results = load(store.as_of_now(), "x", "smoke", {"tiny": TINY}, {"tiny": jobs})
    assert results is not None
    assert results["tiny"].metric("test/loss").shape == (jobs, 1)
    final = collections.Counter(
        (spec, seed) for part in store.parts() if part.final for spec, seeds in part.seeds.items() for seed in seeds
    )
    assert set(final.values()) == {1}
    assert len(final) == jobs


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--set", nargs="*", default=[])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options = dict(pair.split("=") for pair in asked.set)
        for key, value in through(asked.name, asked.jobs, asked.workers, asked.kills, Path(folder), options).items():
            print(f"{key:30s} {value:,.1f}")
