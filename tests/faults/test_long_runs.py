"""Long runs: memory stays flat, and the log survives."""

import os
import resource
import subprocess
import sys

from lopsided.run import run
from lopsided.store.parts import Store


def resident():
    """Bytes of memory that this process holds now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_memory_is_flat_over_100_000_steps(parity, tmp_path):
    """After a warm-up of a fifth of the run, at most 24 MiB more; 1,000 evaluations, a commit about every 0.2 s."""
    spec = parity(steps=100_000, evaluation={"every": 100, "samples": 64})
    sizes = []
    run([spec], 2, Store(tmp_path), lambda p: sizes.append(resident()), commit_seconds=0.2)
    warm, end = sizes[len(sizes) // 5], sizes[-1]
    assert end - warm < 24 * 2**20


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
