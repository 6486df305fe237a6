"""Long runs: memory stays flat, and the log survives."""

import json
import os
import resource
import subprocess
import sys

import pytest

from lopsided.core.execution import Execution
from lopsided.store.parts import Store
from lopsided.work.worker import run

pytestmark = pytest.mark.slow


def resident():
    """Bytes of memory that this process holds now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_memory_is_flat_over_100_000_steps(parity, tmp_path):
    """After a warm-up of a fifth of the run, at most 24 MiB more; 1,000 evaluations, a commit about every 0.2 s."""
    spec = parity(steps=100_000, evaluation={"every": 100, "samples": 64})
    sizes = []
    run(
        [spec],
        2,
        Store(tmp_path),
        lambda p: sizes.append(resident()),
        execution=Execution(commit_seconds=0.2),
    )
    warm, end = sizes[len(sizes) // 5], sizes[-1]
    assert end - warm < 24 * 2**20


WHOLE_CUBE = """
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble
from lopsided.core.engine import Member
parts = {
    "task": {"name": "sparse-parity", "d": 20, "k": 6},
    "model": {"name": "mlp", "width": 64},
    "plan": {"name": "full-batch", "size": 2**20},
    "training_set": {"remove": "repeats"},
    "optimizer": {"name": "sgd", "lr": 0.5},
    "loss": "logistic",
    "steps": 2,
    "evaluation": {"every": 2, "samples": 4096},
}
found = list(Ensemble([Member(Spec.parse(parts), 0)]).run())[-1]
assert 0.4 < found.metrics["train/loss"][0] < 0.9
# The peak of this program; getrusage would count the process that started it, too.
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def test_gradient_descent_on_all_of_2_20_inputs_streams():
    """A process that takes steps on 1,048,576 samples at once stays below 2 GB (measured: 0.4 GiB)."""
    out = subprocess.run([sys.executable, "-c", WHOLE_CUBE], capture_output=True, text=True, check=True).stdout
    assert int(out) * 1024 < 2e9


def test_every_run_leaves_a_log_that_a_closed_terminal_does_not_stop(tmp_path):
    command = [
        sys.executable,
        "-m",
        "lopsided.cli",
        "run",
        "state-tracking",
        "--scale",
        "smoke",
        "--out",
        str(tmp_path),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        process.stderr.close()  # nobody reads any more
        process.send_signal(1)  # SIGHUP may come before the handler is there; then nothing was started
        process.wait(timeout=300)
    if process.returncode == -1:
        assert not (tmp_path / "parts").exists()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            process.stderr.close()
            process.wait(timeout=300)
    assert process.returncode in (0, 1, 120)  # Python may complain at exit about the closed stream
    logs = list((tmp_path / "logs").glob("*.log"))
    assert len(logs) == 1
    assert "100%" in logs[0].read_text()
    assert os.path.getsize(tmp_path / "runs" / "state-tracking-smoke.json") > 100


WHITENED = {
    "task": {"name": "single-index", "d": 256},
    "model": {"name": "mlp", "width": 4},
    "plan": {"name": "fixed", "size": 512, "batch": 16},
    "optimizer": {"name": "sgd", "lr": 0.1},
    "loss": "square",
    "steps": 4,
    "evaluation": {"every": 4, "samples": 16},
    "training_set": {"remove": "whitened"},
}


def test_members_on_two_devices_decompose_their_matrices_and_end(tmp_path):
    """Batches of LAPACK's decompositions, of 256 inputs here, waited for ever."""
    (tmp_path / "whitened.json").write_text(json.dumps(WHITENED))
    command = [sys.executable, "-m", "lopsided.cli", "run", "whitened.json", "--seeds", "12", "--out", "store"]
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    environment = {**os.environ, "XLA_FLAGS": flags.strip()}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert "Trained 12 members" in done.stdout + done.stderr
