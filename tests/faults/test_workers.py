"""Heads and workers: rows equal those of one process, workers die and are replaced, heads come and go, jobs that cannot
succeed are named."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from lopsided.cli import main
from lopsided.core.errors import InputError, Stopped
from lopsided.executors import orders
from lopsided.executors.runners import executor, runner
from lopsided.store.leases import MOST_FAILURES, Leases
from lopsided.store.parts import Store
from lopsided.store.status import folder_status
from lopsided.store.transfer import adopt, packed
from lopsided.work.done import Request
from lopsided.work.worker import run
from tests.cluster.thousand import TINY, counted, through
from tests.faults.helpers import rows

pytestmark = pytest.mark.slow

RECIPE = """
from typing import Literal
from lopsided.part import register
from lopsided.recipe import Figure, Recipe, Spec, arm
from lopsided.tasks.sparse_parity import SparseParity

tried = False

@register
class Broken(SparseParity):
    name: Literal["broken"] = "broken"

    def sample(self, key, index, context):
        if tried and context.split == "test":  # sampling for training would fail before anybody is asked
            raise RuntimeError("no samples today")
        return super().sample(key, index, context)

tried = True

def arms(scale):
    for name in ("sparse-parity", "broken"):
        yield arm(Spec.parse({**SPEC, "task": {"name": name, "d": 8, "k": 2}}), data=name)

recipe = Recipe(name="outside", paper="ours", figure_number="none", question="?", about="", arms=arms,
    scales={"smoke": (3, 1)}, claims=[], figure=lambda r: Figure("none", []))
"""


def status_of(folder):
    return folder_status(Store(folder), {})


def stop_workers(folder):
    """And wait until they are gone."""
    orders.ask_to_stop(Store(folder))
    until = time.monotonic() + 60
    while any(lease.alive for lease in Leases(folder / "workers").all()) and time.monotonic() < until:
        time.sleep(0.2)


def test_local_workers_make_the_rows_of_one_process_though_some_are_killed(tmp_path):
    run([TINY], 12, Store(tmp_path / "one"), job_size=1)
    found = through("local", 12, 2, 2, tmp_path / "two", {})
    stop_workers(tmp_path / "two")
    assert found["jobs"] == 12
    assert rows(tmp_path / "two") == rows(tmp_path / "one")
    assert not orders.read(Store(tmp_path / "two"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # submitit forgets its processes
def test_submitit_starts_workers_too(tmp_path):
    through("slurm", 6, 2, 0, tmp_path, {"cluster": "local"})
    assert any("slurm-" in each["worker"] for each in status_of(tmp_path)["workers"])
    stop_workers(tmp_path)


def test_a_head_may_go_and_another_may_come(tmp_path, parity):
    """Ctrl-C at the head leaves the workers at work; the same command finds them."""
    spec, store, stop = (
        parity(steps=40_000, evaluation={"every": 500, "samples": 64}),
        Store(tmp_path),
        threading.Event(),
    )
    store.require_writable()

    def head():
        return runner(executor("local", tmp_path, 1, {}), "tour")

    def halt(progress):
        if Leases(tmp_path).all():
            stop.set()

    with pytest.raises(Stopped):
        head()(Request([spec], 2, store, halt, stop=stop))
    (worker,) = status_of(tmp_path)["workers"]
    assert worker["worker"].startswith("local-0-")
    done = head()(Request([spec], 2, store))
    assert done.trained == 2
    assert [w["worker"] for w in status_of(tmp_path)["workers"]] == [worker["worker"]]
    stop_workers(tmp_path)


def test_a_job_that_cannot_succeed_is_named_with_its_log(tmp_path, monkeypatch):
    """And everything else is committed."""
    spec = TINY.model_dump(mode="json")
    (tmp_path / "mine.py").write_text(f"SPEC = {spec}\n{RECIPE}")
    monkeypatch.chdir(tmp_path)
    words = [sys.executable, "-m", "lopsided.cli", "run", "mine.py", "--scale", "smoke", "--on", "local", "--out", "o"]
    found = subprocess.run(words, capture_output=True, text=True, timeout=250, check=False)
    stop_workers(tmp_path / "o")
    assert found.returncode == 2, found.stderr
    assert "no samples today" in found.stderr
    assert "o/workers/logs/local-0-" in found.stderr
    assert f"failed {MOST_FAILURES} times" in found.stderr
    assert len(Store(tmp_path / "o").complete()) == 3


def test_an_order_that_workers_cannot_read_ends_the_run(tmp_path):
    """For example of a recipe file that their machine does not have."""
    store = Store(tmp_path)
    store.require_writable()
    with pytest.raises(InputError, match=r"not found"):
        runner(executor("local", tmp_path, 1, {}), "/nowhere/mine.py")(Request([TINY], 1, store))
    stop_workers(tmp_path)


def test_jobs_whose_process_dies_are_given_up_unless_they_come_further(tmp_path):
    leases = Leases(tmp_path)
    members = [("a" * 16, 0)]
    assert [leases.record_failure("job", members, "died", step) for step in (0, 0, 10, 8)] == [1, 2, 1, 2]
    assert not leases.given_up()
    assert leases.record_failure("job", members, "died", 9) == MOST_FAILURES  # further than 8, not than ever
    assert set(leases.given_up()) == {("a" * 16, 0)}


def test_orders_end_at_their_deadline(tmp_path):
    store = Store(tmp_path)
    store.require_writable()
    orders.write(store, orders.of("tour", [TINY], 2, job_size=None, execution="{}", deadline=time.time() - 1))
    assert orders.carry_out(store, threading.Event(), 0.0) == 0
    assert not orders.read(store)


def test_a_worker_commits_and_ends_at_sigterm(tmp_path, parity):
    spec, store = parity(steps=10**6, evaluation={"every": 10**5, "samples": 64}), Store(tmp_path)
    store.require_writable()
    orders.write(store, orders.of("tour", [spec], 1, job_size=None, execution="{}"))
    words = [sys.executable, "-m", "lopsided.cli", "worker", "--out", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not any(lease.step > 0 for lease in Leases(tmp_path).all()):
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 143  # an engine may start another one
    assert "everything computed is committed" in out
    assert [part.final for part in store.parts()] == [False]
    assert len(orders.read(store)) == 1  # another worker goes on


def test_stopping_the_workers_ends_the_head_too(tmp_path, parity):
    """Or it would start others for ever."""
    spec, store = parity(steps=10**6, evaluation={"every": 10**5, "samples": 64}), Store(tmp_path)
    store.require_writable()

    def withdraw(progress):
        if Leases(tmp_path).all():
            orders.ask_to_stop(store)

    with pytest.raises(Stopped):
        runner(executor("local", tmp_path, 1, {}), "tour")(Request([spec], 1, store, withdraw))
    stop_workers(tmp_path)


def test_workers_may_come_from_elsewhere(tmp_path):
    """As pods of Kubernetes do."""
    store = Store(tmp_path)
    store.require_writable()
    words = [sys.executable, "-m", "lopsided.cli", "worker", "--out", str(tmp_path), "--idle", "1s"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        done = runner(executor("elsewhere", tmp_path, 1, {}), "tour")(Request([TINY], 2, store))
        assert "2 members trained" in process.communicate(timeout=60)[0]
    assert done.trained == 2


def test_slurms_warning_stops_the_worker_and_queues_it_again(tmp_path):
    """submitit calls `checkpoint` from a signal's handler, while the worker is waited for."""
    script = (
        "import signal, sys; from lopsided.executors.slurm import Worker\n"
        "worker = Worker([sys.executable, '-c', 'import time; time.sleep(60)'], sys.argv[1])\n"
        "signal.signal(signal.SIGUSR2, lambda *_: print(type(worker.checkpoint()).__name__, flush=True))\n"
        "print('ready', flush=True); worker()"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(2.0)
        process.send_signal(signal.SIGUSR2)
        assert process.communicate(timeout=30)[0] == "DelayedSubmission\n"


def test_parts_travel_as_bytes(tmp_path):
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    run([TINY], 3, there, job_size=1)
    here.require_writable()
    parts = packed(there, {(TINY.content_hash(), 0), (TINY.content_hash(), 1), (TINY.content_hash(), 2)})
    assert adopt(here, parts) == 3
    assert adopt(here, parts) == 0
    counted(here, 3)
    assert rows(tmp_path / "here") == rows(tmp_path / "there")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--on", "slrum"], "Did you mean 'slurm'?"),
        (["--workers", "2"], "belong to --on"),
        (["--on", "local", "--workers", "0"], "between 1 and 10000"),
        (["--on", "local", "--on-set", "partition=x"], "local workers have no options"),
        (["--on", "slurm", "--on-set", "cluster=local", "qqq"], "valid is key=value"),
        (["--on", "slurm", "--on-set", "cluster=local", "no_such=1"], "no_such"),
    ],
)
def test_mistakes_are_one_line(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["run", "set-size", "--scale", "smoke", *words])
    assert stopped.value.code == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_workers_that_end_at_once_are_not_started_for_ever(tmp_path, monkeypatch):
    found = executor("local", tmp_path, 1, {})
    monkeypatch.setattr(type(found), "command", lambda self, idle: ["false"])
    store = Store(tmp_path)
    store.require_writable()
    with pytest.raises(InputError, match="workers end at once"):
        runner(found, "tour")(Request([TINY], 1, store))
    assert os.listdir(tmp_path / "workers" / "logs")
