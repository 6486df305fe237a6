"""Killed at any moment and started again, a run ends with the rows of an unbroken one: none lost, none doubled.

The normal profile kills a few times; `LOPSIDED_KILLS=30 make test` kills 30 times per case.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from subprocess import PIPE

import numpy as np
import pytest

from lopsided.core.errors import Stopped
from lopsided.core.execution import Execution
from lopsided.core.spec import Spec
from lopsided.store.parts import Store
from lopsided.work.signals import INTERRUPTED
from lopsided.work.worker import run
from tests.faults.helpers import finish, rows, start

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("LOPSIDED_KILLS", "2"))
CASES = {
    "ensemble, AdamW, annealed exponent": 3,
    "single member, AdamW, phases": 1,
    "pool, members leave early": 150,
}


def spec_of(case, parity, tracking):
    if "annealed" in case:
        return tracking(steps=3000, evaluation={"every": 60, "samples": 64})
    if "pool" in case:
        plan = {"name": "fixed", "size": 256, "batch": 32}
        evaluation = {"every": 50, "samples": 64}
        task = {"name": "sparse-parity", "d": 8, "k": 4}
        optimizer = {"name": "sgd", "lr": 0.06}
        return parity(
            task=task, plan=plan, optimizer=optimizer, steps=3_000, evaluation=evaluation, until={"at_least": 0.98}
        )
    phases = [{"size": 40, "steps": 20_000}, {"size": 400, "steps": 40_000}]
    return parity(
        plan={"name": "phases", "batch": 16, "phases": phases},
        optimizer={"name": "adamw", "lr": 1e-3},
        steps=60_000,
        evaluation={"every": 250, "samples": 256},
    )


@pytest.mark.parametrize("case", CASES)
def test_kill_and_resume_give_the_rows_of_an_unbroken_run(case, parity, tracking, tmp_path):
    spec, seeds = spec_of(case, parity, tracking), CASES[case]
    finish(tmp_path / "whole", [spec], seeds)
    expected = rows(tmp_path / "whole")
    assert len(expected) > 100
    rng = np.random.default_rng(0)
    kills = attempt = 0
    while kills < KILLS:
        broken = tmp_path / f"broken{attempt}"
        with start(broken, [spec], seeds, commit_seconds=0.0) as process:
            process.stdout.readline()
            # Moments from the first import of an engine to far into training, commits included.
            time.sleep(float(rng.uniform(0.5, 4.0)))
            alive = process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.communicate()
        kills += alive
        if not alive:  # it got to the end between two kills: look at it, go on killing in a new folder
            assert rows(broken) == expected
            attempt += 1
    broken = tmp_path / f"broken{attempt}"
    finish(broken, [spec], seeds)
    assert rows(broken) == expected
    assert not list((broken / "parts").glob("*/state"))  # a finished job keeps no checkpoint
    assert not list((broken / "parts").glob(".writing-*"))
    assert not list((broken / "leases").glob("*.json"))  # what runs later does not wait for the dead


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_commits_first_and_the_run_goes_on(number, parity, tmp_path):
    spec = parity(steps=60_000, evaluation={"every": 250, "samples": 256})
    finish(tmp_path / "whole", [spec], 2)
    with start(tmp_path / "broken", [spec], 2, commit_seconds=1e9) as process:
        for line in process.stdout:
            if line.strip() not in ("ready", "0"):
                break
        process.send_signal(number)
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    if "stopped" in out:  # otherwise it was done before the signal arrived
        parts = Store(tmp_path / "broken").parts()
        assert len(parts) == 1
        assert 0 < parts[0].step < 60_000
    finish(tmp_path / "broken", [spec], 2)
    assert rows(tmp_path / "broken") == rows(tmp_path / "whole")


BUSY = """
import jax
from lopsided.work.signals import stop_on_signals
with stop_on_signals():
    print("ready", flush=True)
    jax.lax.while_loop(lambda x: x >= 0, lambda x: (7 * x + 1) % 1000003, jax.numpy.int32(1)).block_until_ready()
"""


def test_a_second_interrupt_ends_a_process_that_computes():
    """Python hears no signal while compiled code computes in its main thread."""
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=PIPE, stderr=PIPE, text=True) as process:
        process.stdout.readline()
        time.sleep(2)  # into the loop
        process.send_signal(signal.SIGINT)
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert "stopped without a commit" in said


def test_exact_runs_stopped_anywhere_go_on_bit_for_bit(tmp_path):
    """Population (64-bit steps, adaptive flow) and idealised members: stopped after every few evaluations."""
    plans = [{"name": "population"}, {"name": "population", "dynamics": "flow"}, {"name": "idealised"}]
    specs = [
        Spec.parse(
            {
                "task": {"name": "additive-teacher", "d": 12, "directions": 3},
                "model": {"name": "student", "width": 6},
                "plan": plan,
                "optimizer": {"name": "sgd", "lr": 0.1},
                "loss": "square",
                "steps": 400,
                "evaluation": {"every": 5, "per_decade": 8},
                "probes": [{"name": "directions"}],
            }
        )
        for plan in plans
    ]
    run(specs, 2, Store(tmp_path / "whole"))
    stops = 0
    for _ in range(100):
        stop, seen = threading.Event(), []

        def after_three(progress, stop=stop, seen=seen):
            seen.append(progress.evaluated)
            if sum(s is not None for s in seen) == 3:
                stop.set()

        try:
            run(
                specs,
                2,
                Store(tmp_path / "broken"),
                after_three,
                execution=Execution(commit_seconds=0.0),
                stop=stop,
            )
            break
        except Stopped:
            stops += 1
    assert stops > 5
    assert rows(tmp_path / "broken") == rows(tmp_path / "whole")
