"""Workers on a real Slurm and a real Ray, if they are here; `thousand.py` has the same with many jobs.

apt-get install slurm-wlm munge        # then, as root, pytest starts a Slurm of one node
pip install 'lopsided[ray]'            # then pytest starts a Ray of this machine
"""

import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lopsided.executors import orders
from lopsided.executors.runners import executor, runner
from lopsided.store.parts import Store
from lopsided.work.done import Request
from lopsided.work.worker import run
from tests.cluster.thousand import TINY, counted, through
from tests.faults.helpers import rows

pytestmark = pytest.mark.timeout(900)  # they wait for one another
HERE = Path(__file__).parent
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NO_SLURM = "needs slurmctld, slurmd and munged (apt-get install slurm-wlm munge), and root"
slurm_here = pytest.mark.skipif(
    not (ROOT and all(map(shutil.which, ("slurmctld", "slurmd", "munged")))), reason=NO_SLURM
)
ray_here = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Ray: pip install 'lopsided[ray]'")


@pytest.fixture
def alone():
    """Other processes of this test run wait: these engines have fixed ports."""
    with open(Path(tempfile.gettempdir()) / "lopsided-clusters.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture
def slurm(alone, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("slurm")
    folder.chmod(0o755)
    started = subprocess.run([HERE / "slurm.sh", "start", folder], capture_output=True, text=True, check=False)
    if started.returncode:
        subprocess.run([HERE / "slurm.sh", "stop", folder], check=False)
        pytest.skip(f"Slurm does not start here: {started.stderr.strip()[-200:]}")
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    yield {"partition": "tests", "cpus_per_task": "1", "timeout_min": "10"}
    subprocess.run(["scancel", "--me"], check=False)
    subprocess.run([HERE / "slurm.sh", "stop", folder], check=False)


@pytest.fixture
def ray(alone):
    """A cluster of its own port: 10002 to 19999 are for Ray's workers."""
    command = [Path(sys.executable).parent / "ray"]
    flags = ["--head", "--port=6399", "--num-cpus=2", "--include-dashboard=false", "--disable-usage-stats"]
    started = subprocess.run([*command, "start", *flags], capture_output=True, text=True, check=False)
    if started.returncode:
        pytest.skip(f"Ray does not start here: {started.stderr.strip()[-200:]}")
    yield {"address": "127.0.0.1:6399"}
    importlib.import_module("ray").shutdown()
    subprocess.run([*command, "stop", "--force"], capture_output=True, check=False)


@slurm_here
def test_slurm_makes_the_rows_of_one_process_though_workers_are_killed(slurm, tmp_path):
    run([TINY], 20, Store(tmp_path / "one"), job_size=1)
    assert through("slurm", 20, 2, 1, tmp_path / "two", slurm, pause=0.3)["killed"]
    assert rows(tmp_path / "two") == rows(tmp_path / "one")


@slurm_here
def test_a_later_head_finds_the_jobs_of_an_earlier_one(slurm, tmp_path):
    store = Store(tmp_path)
    runner(executor("slurm", tmp_path, 1, slurm), "tour")(Request([TINY], 2, store))
    first = json.loads((tmp_path / "workers" / "slurm.json").read_text())
    again = executor("slurm", tmp_path, 1, slurm)
    assert again.count() == 1
    runner(again, "tour")(Request([TINY], 4, store))
    assert json.loads((tmp_path / "workers" / "slurm.json").read_text()) == first
    counted(store, 4)
    orders.ask_to_stop(store)


@ray_here
@pytest.mark.filterwarnings("ignore")
def test_ray_makes_the_rows_of_one_process_though_actors_are_killed(ray, tmp_path):
    run([TINY], 20, Store(tmp_path / "one"), job_size=1)
    assert through("ray", 20, 2, 1, tmp_path / "two", {**ray, "shared": "true"}, pause=0.3)["killed"]
    assert rows(tmp_path / "two") == rows(tmp_path / "one")
    orders.ask_to_stop(Store(tmp_path / "two"))


@ray_here
@pytest.mark.filterwarnings("ignore")
def test_actors_without_a_shared_folder_send_their_parts_though_one_is_lost(ray, tmp_path):
    run([TINY], 20, Store(tmp_path / "one"), job_size=1)
    found = executor("ray", tmp_path / "two", 2, {**ray, "shared": "false"})
    killed: list[str] = []

    def kill_one(progress):
        if not killed:
            name, handle = next(iter(found.actors().items()))
            importlib.import_module("ray").kill(handle)
            killed.append(name)

    done = runner(found, "tour")(Request([TINY], 20, Store(tmp_path / "two"), kill_one, job_size=1))
    assert done.trained == 20
    assert killed
    assert rows(tmp_path / "two") == rows(tmp_path / "one")
    assert not found.actors()
