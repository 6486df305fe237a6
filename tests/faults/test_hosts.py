"""Two processes that train one member together: rows as from one, also after one of them was killed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from jax._src.clusters import SlurmCluster

from lopsided.core.errors import InputError
from lopsided.engines import hosts
from lopsided.store.parts import Store
from tests.faults.helpers import ROOT, finish, rows

pytestmark = pytest.mark.slow

SCRIPT = """
import json, sys
from lopsided.core.spec import Spec
from lopsided.core.execution import Execution
from lopsided.engines import hosts
from lopsided.engines.several_hosts import follow
from lopsided.work.worker import run
from lopsided.store.parts import Store
hosts.join()
if hosts.is_head():
    run([Spec.parse(json.loads(sys.argv[2]))], 2, Store(sys.argv[1]),
        execution=Execution(batch_devices=4, shard=True, commit_seconds=0.0))
else:
    follow()
"""


@pytest.fixture
def spec(parity):
    return parity(model={"name": "mlp", "width": 32}, steps=600, evaluation={"every": 50, "samples": 64})


def start_together(folder, spec):
    """Two processes of two devices each, the head first: a member's four are those of both."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    quick = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    names = {
        hosts.ADDRESS: address,
        hosts.PROCESSES: "2",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count=2 {quick}",
    }
    return [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(folder), spec.canonical_json()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **names, hosts.PROCESS: str(i)},
        )
        for i in range(2)
    ]


def assert_rows_agree(ours, theirs):
    """The same rows, with the values that another order of addition gives."""
    assert [row[:-3] for row in ours] == [row[:-3] for row in theirs]  # then come value, shape and elements
    np.testing.assert_allclose([row[-3] for row in ours], [row[-3] for row in theirs], rtol=2e-4, atol=1e-6)


def test_rows_after_a_kill_are_those_of_one_process(spec, tmp_path):
    together = start_together(tmp_path / "two", spec)
    while not Store(tmp_path / "two").parts():
        assert all(process.poll() is None for process in together), together[0].communicate()[1][-2000:]
        time.sleep(0.05)
    for process in together:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert max(part.step for part in Store(tmp_path / "two").parts()) < spec.steps

    shutil.copytree(tmp_path / "two", tmp_path / "then one")
    again = start_together(tmp_path / "two", spec)
    errors = [process.communicate(timeout=200)[1] for process in again]
    assert [process.returncode for process in again] == [0, 0], errors

    finish(tmp_path / "one", [spec], 2)
    assert_rows_agree(rows(tmp_path / "two"), rows(tmp_path / "one"))
    finish(tmp_path / "then one", [spec], 2)  # a single process goes on where two were killed
    assert_rows_agree(rows(tmp_path / "then one"), rows(tmp_path / "one"))


def test_one_process_alone_is_told_so(monkeypatch):
    for name in (hosts.ADDRESS, hosts.PROCESSES, hosts.PROCESS):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match=r"--across-hosts: the other processes were not found .* JAX_NUM_PROCESSES"):
        hosts.join()


def test_doctor_says_which_hosts_were_found(monkeypatch):
    slurm = {"JOB_ID": "7", "STEP_NODELIST": "node[1-2]", "NTASKS": "2", "PROCID": "1", "LOCALID": "0"}
    assert hosts.detected() == "none found"
    monkeypatch.setenv(hosts.ADDRESS, "node1:1234")
    assert hosts.detected() == "environment: process ? of ?, head at node1:1234"
    for name, value in slurm.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert hosts.detected().startswith("environment")  # as `join` does
    monkeypatch.delenv(hosts.ADDRESS)
    assert hosts.detected() == "slurm: process 1 of 2"
    monkeypatch.setattr(SlurmCluster, "get_process_count", lambda: 1 / 0)
    assert hosts.detected() == "slurm: cannot be asked (ZeroDivisionError: division by zero)"


def test_calls_stay_until_all_have_heard_them(monkeypatch):
    """A process that compiles for a minute is many calls behind; what it has not read must not be deleted."""
    kept: dict[str, str] = {}
    client = SimpleNamespace(key_value_set=kept.__setitem__, key_value_delete=kept.pop)
    monkeypatch.setattr(hosts, "_client", lambda: client)
    monkeypatch.setattr(hosts.multihost_utils, "sync_global_devices", lambda name: None)
    monkeypatch.setattr(hosts, "_calls", 0)
    monkeypatch.setattr(hosts, "_forgotten", 0)
    for to in range(500):
        hosts.tell("advance", to=to)
    assert len(kept) == 500
    hosts.forget()
    assert not kept
    hosts.tell("end")
    assert list(kept) == ["lopsided/call/500"]
