import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest

from lopsided.core.errors import InputError, StoreError
from lopsided.results.stored import load
from lopsided.store.parts import Store, StoredPart, job_name
from lopsided.store.rows import COLUMNS, no_rows, write_rows
from lopsided.store.tables import connect
from lopsided.work.worker import run

SPEC = '{"a": 1}'
A = hashlib.sha256(SPEC.encode()).hexdigest()[:16]


def fake_rows(spec=A, seed=0, step=10, value=1.0):
    made = {
        "spec": np.array([spec], dtype=object),
        "seed": np.array([seed], np.uint64),
        "metric": np.array(["m"], dtype=object),
        "diverged": np.array([False]),
        "shape": np.array([None], object),
        "elements": np.array([None], object),
    }
    numbers = {"step": step, "samples": step, "distinct_samples": step, "seconds": 0.0, "value": value}
    return made | {k: np.array([v], float) for k, v in numbers.items()}


def fake_part(step=10, final=True, members=((A, 0),), start=0, parent="", token="0"):
    made = {"finished": "", "device": "", "software": {}}
    return StoredPart(
        job_name(members), start, step, final, 0.0, tuple(members), {A: SPEC}, made, "code", parent, token
    )


def test_members_are_complete_only_with_their_last_part(tmp_path):
    store = Store(tmp_path)
    store.require_writable()
    first = fake_part(5, final=False)
    store.commit(first, fake_rows(step=5))
    assert store.complete() == {}
    store.commit(fake_part(10, start=5, parent=first.folder), fake_rows())
    assert list(store.complete()) == [(A, 0)]


def test_a_part_without_rows_is_no_obstacle(tmp_path):
    store = Store(tmp_path)
    store.require_writable()
    first = fake_part(5, final=False)
    store.commit(first, no_rows())
    store.commit(fake_part(10, start=5, parent=first.folder), fake_rows())
    with connect(store) as con:
        assert con.execute("SELECT spec, seed, value, diverged FROM rows").fetchall() == [(A, 0, 1.0, False)]


def test_two_chains_of_one_job_are_read_once(tmp_path):
    """Two processes that took one job by mistake: neither overwrites the other, and every reader sees one of them."""
    store = Store(tmp_path)
    store.require_writable()
    for token in ("1", "2"):
        first = fake_part(5, final=False, token=token)
        store.commit(first, fake_rows(step=5, value=float(token)))
        store.commit(fake_part(10, start=5, parent=first.folder, token=token), fake_rows(value=float(token)))
    assert store.survey().damaged == []
    with connect(store) as con:
        assert con.execute("SELECT step, value FROM rows ORDER BY step").fetchall() == [(5, 1.0), (10, 1.0)]


def test_a_member_in_two_jobs_is_read_once(tmp_path):
    store = Store(tmp_path)
    store.require_writable()
    store.commit(fake_part(), fake_rows())
    members = ((A, 0), (A, 1))
    both = {k: np.concatenate([fake_rows()[k], fake_rows(seed=1)[k]]) for k in COLUMNS}
    store.commit(fake_part(members=members), both)
    with connect(store) as con:
        assert con.execute("SELECT seed FROM rows ORDER BY seed").fetchall() == [(0,), (1,)]


def test_failed_writing_leaves_nothing(tmp_path):
    store = Store(tmp_path)
    store.require_writable()

    def disk_full(folder):
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreError, match=r"No space.*intact"):
        store.commit(fake_part(), fake_rows(), disk_full)
    assert list((tmp_path / "parts").iterdir()) == []


def test_a_part_that_was_swept_away_while_it_was_written_is_written_again(tmp_path):
    """A process that was stopped for a minute in the middle of a commit is taken for dead by the next one."""
    store, calls = Store(tmp_path), []
    store.require_writable()

    def save(folder):
        folder.mkdir()
        if not calls:
            Store(tmp_path).sweep()
        calls.append(folder)

    store.commit(fake_part(5, final=False), fake_rows(step=5), save)
    assert len(calls) == 2
    assert [part.step for part in store.parts()] == [5]


def test_a_part_of_which_the_first_half_was_swept_away_is_written_again(tmp_path):
    """What writes the state makes the folders that it needs, and so the swept one again: without its rows."""
    store = Store(tmp_path)
    store.require_writable()
    tries = []

    def save_state(folder):
        tries.append(folder)
        if len(tries) == 1:
            store.sweep()
        folder.mkdir(parents=True)
        (folder / "w").write_text("1")

    store.commit(fake_part(5, final=False), fake_rows(step=5), save_state)
    assert len(tries) == 2
    survey = store.survey()
    assert [part.step for part in survey.good] == [5]
    assert survey.damaged == []
    assert [f.name for f in (tmp_path / "parts").iterdir()] == [fake_part(5).folder]


def test_sweeping_takes_all_of_a_folder_or_nothing(tmp_path, monkeypatch):
    """It used to remove file by file: a part committed meanwhile was left without some of its files."""
    store = Store(tmp_path)
    store.require_writable()
    aside = tmp_path / "parts" / ".writing-1"
    aside.mkdir()
    (aside / "rows.parquet").write_text("1")
    seen = []
    monkeypatch.setattr("shutil.rmtree", lambda folder, ignore_errors: seen.append((folder.name, aside.exists())))
    store.sweep()
    ((name, there),) = seen
    assert name.startswith(".swept-")
    assert not there
    monkeypatch.undo()
    store.sweep()  # what a killed sweep left goes with the next
    assert list((tmp_path / "parts").iterdir()) == []


def test_unwritable_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        Store(tmp_path / "file" / "x").require_writable()


def test_rows_have_exactly_the_declared_columns(tmp_path):
    wrong = fake_rows() | {"extra": np.zeros(1)}
    with pytest.raises(ValueError, match="extra"):
        write_rows(tmp_path / "x.parquet", wrong)


def test_run_load_and_accounting(parity, tmp_path):
    store = Store(tmp_path)
    specs = {"a": parity(), "b": parity(plan={"name": "online", "batch": 16})}
    done = run(list(specs.values()), 3, store)
    assert (done.trained, done.already, done.diverged) == (6, 0, 0)
    results = load(store, "r", "laptop", specs, {"a": 3, "b": 3})
    a, b = results["a"], results["b"]
    assert a.steps.tolist() == [20, 40, 60]
    assert a.samples.tolist() == [320, 640, 960]
    assert b.distinct.tolist() == [320, 640, 960]
    np.testing.assert_allclose(a.distinct, [specs["a"].plan.distinct(s) for s in (20, 40, 60)])
    assert a.metric("test/accuracy").shape == (3, 3)
    assert load(store, "r", "laptop", specs, {"a": 4, "b": 3}) is None
    part = next((tmp_path / "parts").glob("*/part.json"))
    provenance = json.loads(part.read_text())["part"]["provenance"]
    assert {"software", "device", "execution", "machine", "command", "finished"} <= set(provenance)


def test_divergence_is_in_the_rows_and_counts_as_not_learned(parity, tmp_path):
    store = Store(tmp_path)
    specs = {"wild": parity(loss="square", optimizer={"name": "sgd", "lr": 1e5}), "tame": parity(loss="square")}
    assert run(list(specs.values()), 2, store).diverged == 2
    arm = load(store, "r", "laptop", specs, {"wild": 2, "tame": 2})["wild"]
    assert arm.diverged.all()
    assert (arm.final("test/accuracy") == 0).all()
    with connect(store) as con:
        assert con.execute("SELECT count(*) FROM rows WHERE diverged AND value IS NULL").fetchone()[0] > 0


@pytest.mark.slow
def test_the_size_of_jobs_changes_no_result(parity, tmp_path):
    spec = parity()
    run([spec], 6, Store(tmp_path / "whole"))
    run([spec], 6, Store(tmp_path / "pieces"), job_size=4)
    assert len(Store(tmp_path / "pieces").parts()) == 2
    values = [
        load(Store(tmp_path / f), "r", "laptop", {"a": spec}, {"a": 6})["a"].metric("test/loss")
        for f in ("whole", "pieces")
    ]
    np.testing.assert_allclose(*values, rtol=1e-4)


def test_no_progress_bar_where_duckdb_takes_the_process_for_a_prompt():
    """A process of multiprocessing has no file of its own, like a prompt; its stdout may be a JSON document."""
    text = (
        "from lopsided.store.rows import cursor; con = cursor()\n"
        "print(con.execute(\"SELECT current_setting('enable_progress_bar')\").fetchall())"
    )
    said = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout
    assert said == "[(False,)]\n"
