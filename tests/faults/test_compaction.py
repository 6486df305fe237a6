"""Merging parts loses nothing: whatever it is killed at, whoever works beside it."""

import json
import shutil

import pytest

from lopsided.core.errors import StoreError
from lopsided.core.execution import Execution
from lopsided.core.spec import Spec
from lopsided.results.stored import load
from lopsided.store.compact import LEASE, compact
from lopsided.store.leases import Leases, owner
from lopsided.store.parts import Store
from lopsided.work.worker import run
from tests.conftest import PARITY
from tests.faults.helpers import rows, start

pytestmark = pytest.mark.slow

SPECS = [
    Spec.parse(PARITY | changes)
    for changes in ({}, {"optimizer": {"name": "sgd", "lr": 0.1}}, {"model": {"name": "mlp", "width": 8}})
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two specs of one kind and one of another, in jobs of two members, some in several parts."""
    root = tmp_path_factory.mktemp("trained")
    run(SPECS, 4, Store(root), execution=Execution(commit_seconds=0.0), job_size=2)
    return root


@pytest.fixture
def runs(trained, tmp_path):
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    return SPECS


def folders(root):
    return sorted(path.name for path in (root / "parts").iterdir())


def contents(root):
    """Parts by name; a half-removed one counts too."""
    return {name: sorted(p.name for p in (root / "parts" / name).iterdir()) for name in folders(root)}


def test_rows_and_results_are_what_they_were(runs, tmp_path):
    expected = rows(tmp_path)
    before = load(Store(tmp_path), "r", "laptop", {"a": runs[0]}, {"a": 4})["a"]
    parts = len(folders(tmp_path))
    done = compact(Store(tmp_path))
    assert (done.before, done.after) == (parts, len(folders(tmp_path)))
    assert done.after == len({part.code for part in Store(tmp_path).parts()}) < parts
    assert rows(tmp_path) == expected
    after = load(Store(tmp_path), "r", "laptop", {"a": runs[0]}, {"a": 4})["a"]
    assert (after.metric("test/loss") == before.metric("test/loss")).all()
    assert run(runs, 4, Store(tmp_path)).trained == 0
    assert compact(Store(tmp_path)).after == done.after
    assert not list((tmp_path / "leases").glob("*.json"))


def test_the_provenance_of_every_part_is_kept(runs, tmp_path):
    def made():
        store = Store(tmp_path)
        return {
            json.dumps({"specs": sorted(part.seeds), **each}, sort_keys=True)
            for part in store.parts()
            for each in store.provenance(part)
        }

    before = made()
    compact(Store(tmp_path))
    assert made() == before


def test_new_parts_join_the_merged_ones(runs, tmp_path):
    compact(Store(tmp_path))
    run(runs, 6, Store(tmp_path))
    expected = rows(tmp_path)
    assert compact(Store(tmp_path)).after == len({part.code for part in Store(tmp_path).parts()})
    assert rows(tmp_path) == expected


class Killed(BaseException):
    """As if by SIGKILL: nothing is tidied up."""


@pytest.mark.parametrize("at", range(8))
def test_killed_anywhere_nothing_is_lost_and_the_next_call_ends_it(at, runs, tmp_path, monkeypatch):
    expected = rows(tmp_path)
    moments = iter(range(1000))

    def maybe(function):
        def counted(*arguments, **options):
            if next(moments) == at:
                raise Killed
            return function(*arguments, **options)

        return counted

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", maybe(Store.commit))
        patch.setattr(Store, "remove", maybe(Store.remove))
        patch.setattr(Leases, "release", lambda self, job: None)
        with pytest.raises(Killed):
            compact(Store(tmp_path))
    assert rows(tmp_path) == expected
    assert Store(tmp_path).survey().damaged == []
    (file,) = (tmp_path / "leases").glob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"owner": owner().model_dump() | {"pid": 2**22 + 1}}))
    done = compact(Store(tmp_path))
    assert done.after == len({part.code for part in Store(tmp_path).parts()})
    assert rows(tmp_path) == expected


def test_two_at_once_are_refused_in_one_line(runs, tmp_path):
    leases = Leases(tmp_path)
    with leases.lock():
        lease = leases.take(LEASE, [], 0)
    with leases.hold(lease), pytest.raises(StoreError, match="another process compacts"):
        compact(Store(tmp_path))


def test_a_run_beside_it_goes_on(runs, parity, tmp_path):
    """Half-done jobs are left alone, with the checkpoints that they go on from."""
    slow = parity(steps=20_000, evaluation={"every": 500, "samples": 256})
    with start(tmp_path, [slow], 2, commit_seconds=0.0) as process:
        while len(Store(tmp_path).parts()) < 10:
            assert process.poll() is None
        compact(Store(tmp_path))
        out, err = process.communicate(timeout=240)
    assert "trained 2" in out, err
    assert Store(tmp_path).survey().damaged == []
    assert compact(Store(tmp_path)).after <= 3


def test_a_merged_part_that_was_altered_is_named(runs, tmp_path):
    compact(Store(tmp_path))
    file = next((tmp_path / "parts").glob("*/rows.parquet"))
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(bytes(data))
    (damage,) = Store(tmp_path).survey().damaged
    assert damage.reason == "rows.parquet was altered"
