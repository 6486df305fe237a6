"""Killed at any moment and started again, a run ends with the rows of an unbroken one."""

import os
import signal
import subprocess
import sys
import time

import numpy as np

from lopsided.store.parts import Store

SCRIPT = """
import sys
from tests.conftest import TRACKING
from lopsided.core.spec import Spec
from lopsided.run import run
from lopsided.store.parts import Store
spec = Spec.parse({**TRACKING, "steps": 1200, "evaluation": {"every": 40, "samples": 64}})
print("start", flush=True)
run([spec], 3, Store(sys.argv[1]), progress=lambda p: print(p.step, flush=True), commit_seconds=0.0)
"""


def rows(folder):
    with Store(folder).connection() as con:
        # Wall time is the one column that may differ.
        query = "SELECT * EXCLUDE (seconds) FROM rows ORDER BY spec, seed, step, metric"
        return con.execute(query).fetchall()


def start(folder):
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE, text=True)


def finish(folder):
    with start(folder) as process:
        process.communicate(timeout=300)
    assert process.returncode == 0


def test_kill_and_resume_give_the_rows_of_an_unbroken_run(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    finish(whole)
    rng = np.random.default_rng(0)
    kills = 0
    while kills < 4:
        with start(broken) as process:
            for _ in range(int(rng.integers(2, 8))):
                process.stdout.readline()
            time.sleep(float(rng.uniform(0, 0.05)))
            if process.poll() is not None:
                break
            os.kill(process.pid, signal.SIGKILL)
        kills += 1
    assert kills >= 3
    parts = Store(broken).parts()
    assert 0 < len(parts) < 30
    finish(broken)
    expected, found = rows(whole), rows(broken)
    assert len(expected) == 3 * 30 * 9  # members, evaluations, metrics
    assert found == expected
    assert not list((broken / "parts").glob("*/state"))  # a finished job keeps no checkpoint
