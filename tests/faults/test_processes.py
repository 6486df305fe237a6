"""Several processes on one folder share the work, and take over from the dead."""

import json
import os
import signal
import time

import pytest

from lopsided.engines.ensemble import Ensemble
from lopsided.store.leases import Leases, owner
from lopsided.store.parts import Store
from tests.faults.helpers import finish, rows, start

pytestmark = pytest.mark.slow


def arms(parity):
    """Four programs, so four jobs."""
    return [
        parity(model={"name": "mlp", "width": w}, steps=8_000, evaluation={"every": 500, "samples": 256})
        for w in (16, 24, 32, 40)
    ]


def test_four_processes_share_a_run(parity, tmp_path):
    specs = arms(parity)
    finish(tmp_path / "one", specs, 2)
    processes = [start(tmp_path / "four", specs, 2) for _ in range(4)]
    trained = []
    for process in processes:
        with process:
            out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        trained.append(int(out.split()[-1]))
    assert sum(trained) == 8  # every member once, by somebody
    assert sum(t > 0 for t in trained) >= 2
    # Other company in an ensemble may add up in another order; here every job is the same as in one process.
    assert rows(tmp_path / "four") == rows(tmp_path / "one")


def test_a_dead_process_is_taken_over(parity, tmp_path):
    specs = arms(parity)[:1]
    with start(tmp_path, specs, 2, commit_seconds=0.0) as process:
        while not Store(tmp_path).parts():
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    leases = Leases(tmp_path)
    assert [c.alive for c in leases.all()] in ([False], [])
    out, _ = finish(tmp_path, specs, 2)
    assert "trained 2" in out
    assert leases.all() == []


def test_a_lease_is_alive_only_with_its_process(tmp_path):
    leases = Leases(tmp_path)
    with leases.lock():
        leases.take("job", [("a" * 16, 0)], 10)
    assert leases.all()[0].alive
    file = tmp_path / "leases" / "job.json"
    data = json.loads(file.read_text())
    for change, alive in [
        ({"started": "1"}, False),  # the pid was given to another process
        ({"pid": 2**22 + 1}, False),
        ({"host": "elsewhere"}, True),  # fresh, judged by its age
    ]:
        file.write_text(json.dumps(data | {"owner": owner().model_dump() | change}))
        assert leases.all()[0].alive == alive
    os.utime(file, (time.time() - 3600,) * 2)
    assert not leases.all()[0].alive


def test_a_lock_of_a_dead_process_is_broken(tmp_path):
    leases = Leases(tmp_path)
    (tmp_path / "leases").mkdir()
    (tmp_path / "leases" / ".lock").write_text(json.dumps(owner().model_dump() | {"pid": 2**22 + 1}))
    with leases.lock():
        pass
    assert not (tmp_path / "leases" / ".lock").exists()


def test_status_shows_what_is_going_on(parity, tmp_path):
    from lopsided.store.status import folder_status

    spec = arms(parity)[0]
    store = Store(tmp_path)
    members = [(spec.content_hash(), s) for s in range(3)]
    with start(tmp_path, [spec], 2) as process:
        while not list((tmp_path / "leases").glob("*.json")):
            assert process.poll() is None
            time.sleep(0.02)
        during = folder_status(store, {"mine": members})
        process.communicate(timeout=300)
    if during["running"]:  # on a fast machine the job may have ended in between
        assert during["runs"][0]["running"] == 2
    after = folder_status(store, {"mine": members})["runs"][0]
    assert (after["done"], after["running"], after["waiting"]) == (2, 0, 1)


@pytest.mark.parametrize("error", [ValueError("bad luck"), MemoryError()])
def test_a_failed_job_is_remembered_until_it_succeeds(error, parity, tmp_path, monkeypatch):
    from lopsided.work import worker

    spec, store = parity(), Store(tmp_path)

    class Failing(Ensemble):
        def __init__(self, *arguments):
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(worker, "engine_for", lambda spec, execution: Failing)
        with pytest.raises(type(error)):
            worker.run([spec], 1, store)
    assert type(error).__name__ in Leases(tmp_path).failures()[0].message
    assert Leases(tmp_path).all() == []
    worker.run([spec], 1, store)
    assert Leases(tmp_path).failures() == []
