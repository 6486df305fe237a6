"""Folders that people and processes share: damage under a running job, lost leases, altered parts, odd names."""

import json
import os
import shutil
import signal
import stat
import time

import pytest

from lopsided.core.code import code_digest
from lopsided.core.errors import InputError, Stopped, StoreError
from lopsided.core.execution import Execution
from lopsided.store import index
from lopsided.store.leases import Leases, owner
from lopsided.store.parts import Store
from lopsided.store.status import folder_status
from lopsided.store.tables import query
from lopsided.study import manifest
from lopsided.work.worker import run
from tests.faults.helpers import rows, start

pytestmark = pytest.mark.slow

SLOW = {"steps": 20_000, "evaluation": {"every": 500, "samples": 256}}


@pytest.fixture
def small(parity):
    return parity(model={"name": "mlp", "width": 8})


def alter(file, at=100):
    data = bytearray(file.read_bytes())
    data[at : at + 4] = b"\0\1\2\3"
    file.write_bytes(bytes(data))


def test_damage_beside_a_running_job_is_computed_anew_once(parity, small, tmp_path, capsys):
    """It used to train the damaged job for ever, while the other one was running."""
    run([small], 2, Store(tmp_path))
    expected = rows(tmp_path)
    (finished,) = (tmp_path / "parts").glob("*/rows.parquet")  # before the other job writes folders of its own there
    with start(tmp_path, [parity(**SLOW)], 2, commit_seconds=0.0) as other:
        while len(Store(tmp_path).parts()) < 2:
            assert other.poll() is None
        alter(finished)
        assert run([small], 2, Store(tmp_path)).trained == 2
        assert "rows.parquet was altered" in capsys.readouterr().err
        assert run([small], 2, Store(tmp_path)).trained == 0
        other.kill()
        other.communicate()
    found = [row for row in rows(tmp_path) if row[0] == small.content_hash()]
    assert found == expected
    assert len(list((tmp_path / "damaged").iterdir())) == 1


def test_damage_beside_a_fresh_lease_from_another_host(small, tmp_path):
    run([small], 2, Store(tmp_path))
    expected = rows(tmp_path)
    leases = Leases(tmp_path)
    with leases.lock():
        lease = leases.take("0" * 16, [("f" * 16, 0)], 10)
    leases.write(lease._replace(owner=owner().model_copy(update={"host": "elsewhere"})))
    alter(next((tmp_path / "parts").glob("*/rows.parquet")))
    assert run([small], 2, Store(tmp_path)).trained == 2
    assert rows(tmp_path) == expected


def test_a_stopped_process_whose_job_was_taken_over_leaves_it(parity, tmp_path):
    """Two hosts: one is stopped, the other takes over and finishes; the first goes on and ends. Nothing is doubled."""
    spec = parity(**SLOW)
    with start(tmp_path / "one", [spec], 2) as process:
        process.communicate()
    with start(tmp_path / "two", [spec], 2, commit_seconds=0.0) as stopped:
        while len(Store(tmp_path / "two").parts()) < 2:
            assert stopped.poll() is None
        stopped.send_signal(signal.SIGSTOP)
        (file,) = (tmp_path / "two" / "leases").glob("*.json")
        data = json.loads(file.read_text())
        file.write_text(json.dumps(data | {"owner": owner().model_dump() | {"host": "elsewhere"}}))
        os.utime(file, (time.time() - 3600,) * 2)
        with start(tmp_path / "two", [spec], 2) as other:
            out, _ = other.communicate(timeout=240)
            assert "trained 2" in out
        stopped.send_signal(signal.SIGCONT)
        out, err = stopped.communicate(timeout=120)
    assert stopped.returncode == 0, err
    assert "trained 0" in out
    assert "left to that one" in err
    assert rows(tmp_path / "two") == rows(tmp_path / "one")
    assert Store(tmp_path / "two").survey().damaged == []


def test_a_lease_from_before_a_clock_was_set_back_is_taken_over(parity, tmp_path):
    """It was alive until the clock had come there again."""
    spec = parity(**SLOW | {"steps": 60_000})
    with start(tmp_path, [spec], 2, commit_seconds=0.0) as process:
        while len(Store(tmp_path).parts()) < 1:
            assert process.poll() is None
        process.kill()
        process.communicate()
    (file,) = (tmp_path / "leases").glob("*.json")
    data = json.loads(file.read_text())
    file.write_text(json.dumps(data | {"owner": owner().model_dump() | {"host": "elsewhere"}}))
    os.utime(file, (time.time() + 7200,) * 2)
    assert not Leases(tmp_path).all()[0].alive
    assert run([spec], 2, Store(tmp_path)).trained == 2


@pytest.mark.parametrize("text", ['{"job": 1, "members": 5, "message": 3}', "[]", '{"members": [["a", "b"]]}', "{"])
def test_a_file_among_failures_that_is_none_is_passed_over(small, text, tmp_path):
    run([small], 1, Store(tmp_path))
    (tmp_path / "failed").mkdir(exist_ok=True)
    (tmp_path / "failed" / "x.json").write_text(text)
    assert folder_status(Store(tmp_path), {})["failed"] == []


def test_a_lease_with_a_step_that_is_no_number_is_passed_over(tmp_path):
    leases = Leases(tmp_path)
    with leases.lock():
        leases.take("one", [("0" * 16, 1)], 10)
    (file,) = (tmp_path / "leases").glob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"step": "a"}))
    assert leases.all() == []


def test_a_folder_that_lost_its_format_file_says_how_to_mend_it(small, tmp_path):
    run([small], 1, Store(tmp_path))
    text = (tmp_path / "store.json").read_text()
    (tmp_path / "store.json").unlink()
    with pytest.raises(StoreError, match=r"no store\.json") as raised:
        Store(tmp_path).complete()
    assert text in str(raised.value)


def test_a_lost_lease_stops_the_loser_at_its_next_commit(parity, tmp_path, capsys):
    """The loser commits nothing more; it waits for the other's rows, and is stopped here because nobody writes them."""
    import threading

    stop, seen = threading.Event(), []

    def watch(progress):
        seen.append(progress)
        (file,) = (tmp_path / "leases").glob("*.json")
        data = json.loads(file.read_text())
        if progress.members and progress.evaluated is not None and data["token"] != "another":
            file.write_text(
                json.dumps(data | {"token": "another", "owner": owner().model_dump() | {"host": "elsewhere"}})
            )
        if not progress.members:
            stop.set()

    with pytest.raises(Stopped):
        run([parity(**SLOW)], 2, Store(tmp_path), watch, Execution(commit_seconds=0.0), stop)
    assert "another process works on it" in capsys.readouterr().err
    assert max(part.step for part in Store(tmp_path).parts()) <= 500  # the lease was lost at the first evaluation
    (file,) = (tmp_path / "leases").glob("*.json")  # the other one's lease is left alone
    assert json.loads(file.read_text())["token"] == "another"


def edit(change):
    def harm(file):
        document = json.loads(file.read_text())
        change(document["part"])
        file.write_text(json.dumps(document))

    return harm


def other_lr(part):
    part["specs"] = {h: s.replace('"lr":0.5', '"lr":5.0') for h, s in part["specs"].items()}


HARMS = {
    "another seed": edit(lambda part: part["members"][0].__setitem__(1, 77)),
    "no specs": edit(lambda part: part["specs"].clear()),
    "no provenance": edit(lambda part: part["provenance"].clear()),
    "another learning rate": edit(other_lr),
    "a member more": edit(lambda part: part["members"].append(["0" * 16, 5])),
    "a list": lambda file: file.write_text("[]"),
    "nothing": lambda file: file.write_text(""),
    "brackets": lambda file: file.write_text("[" * 100_000),
}


@pytest.mark.parametrize("harm", HARMS)
def test_an_altered_part_is_never_read(harm, small, tmp_path):
    run([small], 2, Store(tmp_path))
    expected = rows(tmp_path)
    (file,) = (tmp_path / "parts").glob("*/part.json")
    HARMS[harm](file)
    assert rows(tmp_path) == []
    assert len(folder_status(Store(tmp_path), {})["damaged"]) == 1
    run([small], 2, Store(tmp_path))
    assert rows(tmp_path) == expected


def test_an_altered_index_is_read_anew(small, tmp_path):
    run([small], 2, Store(tmp_path))
    expected = rows(tmp_path)
    file = tmp_path / "index.jsonl"
    text = file.read_text()
    for wrong in (text.replace('"parts"', '"party"'), text[:50], "", text.replace("[0, 1]", "[0, 7]")):
        file.write_text(wrong)
        assert rows(tmp_path) == expected


def test_parts_have_the_permissions_of_the_umask(small, tmp_path):
    before = os.umask(0o002)
    try:
        run([small], 2, Store(tmp_path))
    finally:
        os.umask(before)
    (part,) = (tmp_path / "parts").iterdir()
    assert stat.S_IMODE(part.stat().st_mode) == 0o775
    assert stat.S_IMODE((part / "rows.parquet").stat().st_mode) == 0o664


def test_what_may_not_be_read_is_not_damaged(small, tmp_path, monkeypatch):
    run([small], 2, Store(tmp_path))

    def forbidden(file):
        raise PermissionError(13, "Permission denied", file)

    monkeypatch.setattr(index, "_stamp", forbidden)
    found = folder_status(Store(tmp_path), {})
    assert (len(found["unreadable"]), len(found["damaged"])) == (1, 0)
    with pytest.raises(StoreError, match="permission denied"):
        run([small], 2, Store(tmp_path))


@pytest.mark.parametrize("name", ["it's", "back\\slash", "new\nline", "st*", "~x", "[a]", "ü ?", '"'])
def test_any_name_of_a_folder(name, small, tmp_path):
    (tmp_path / "star").mkdir()
    (tmp_path / "a").mkdir()
    run([small], 2, Store(tmp_path / name))
    run([small], 2, Store(tmp_path / "star"))
    assert rows(tmp_path / name) == rows(tmp_path / "star") != []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', '{"format": 2, "arms": 3}', "[" * 100_000])
def test_a_file_that_is_no_manifest_is_named_and_left_out(text, small, tmp_path, capsys):
    run([small], 2, Store(tmp_path))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "bad.json").write_text(text)
    assert manifest.recorded(Store(tmp_path)) == []
    assert "bad.json" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{", "[]", '{"job": 1}', '{"members": 3, "owner": 1}'])
def test_a_file_that_is_no_lease_stops_nobody(text, small, tmp_path):
    (tmp_path / "leases").mkdir(parents=True)
    (tmp_path / "leases" / "bad.json").write_text(text)
    assert run([small], 2, Store(tmp_path)).trained == 2


def test_a_lease_whose_work_is_done_goes_with_its_process(small, tmp_path):
    """Its process died between its last commit and its release."""
    run([small], 1, Store(tmp_path))
    leases = Leases(tmp_path)
    with leases.lock():
        lease = leases.take("0" * 16, list(Store(tmp_path).complete()), 10)
    leases.write(lease._replace(owner=owner().model_copy(update={"pid": 2**22 + 1})))
    run([small], 2, Store(tmp_path))
    assert leases.all() == []


def test_a_half_done_job_of_other_code_begins_anew(parity, tmp_path, monkeypatch, capsys):
    import threading

    from lopsided.work import worker

    spec, stop = parity(**SLOW), threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(worker, "code_digests", lambda specs: {s.content_hash(): "an older version" for s in specs})
        with pytest.raises(Stopped):
            run([spec], 2, Store(tmp_path), lambda p: stop.set() if p.step > 500 else None, stop=stop)
    run([spec], 2, Store(tmp_path))
    assert "another version of the code" in capsys.readouterr().err
    assert {part.code for part in Store(tmp_path).parts()} != {"an older version"}
    assert {part.start for part in Store(tmp_path).parts()} == {0}


def test_that_job_keeps_its_own_checkpoints_though_the_older_code_came_further(parity, tmp_path, monkeypatch):
    import threading

    from lopsided.core.execution import Execution
    from lopsided.work import worker

    spec = parity(**SLOW)

    def stopped_after(step):
        stop = threading.Event()
        with pytest.raises(Stopped):
            run(
                [spec], 1, Store(tmp_path), lambda p: stop.set() if p.step >= step else None, stop=stop,
                execution=Execution(commit_seconds=0.0),
            )  # fmt: skip

    with monkeypatch.context() as patch:
        patch.setattr(worker, "code_digests", lambda specs: {s.content_hash(): "an older version" for s in specs})
        stopped_after(1500)
    stopped_after(500)
    run([spec], 1, Store(tmp_path))
    ours = [part for part in Store(tmp_path).parts() if part.code != "an older version"]
    assert min(part.start for part in ours if part.final) > 0


def test_claims_whose_rows_several_versions_made_say_so(tmp_path, monkeypatch, capsys):
    from lopsided.cli import main
    from lopsided.study.recipe_run import prepare
    from lopsided.work import worker

    store = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(worker, "code_digests", lambda specs: {s.content_hash(): "an older version" for s in specs})
        prepare("dense-parity", "smoke", 1, []).train(store)
    asked = prepare("dense-parity", "smoke", 2, [])
    one = prepare("dense-parity", "smoke", 1, [])
    assert one.marked(one.claims(one.results(store)), store)[0].code_versions == 1  # all of one, of an old rule
    asked.train(store)
    claims = asked.marked(asked.claims(asked.results(store)), store)
    assert {claim.code_versions for claim in claims} == {2}
    monkeypatch.setenv("COLUMNS", "200")  # a narrow table breaks the words over two lines
    with pytest.raises(SystemExit):
        main(["run", "dense-parity", "--scale", "smoke", "--seeds", "2", "--out", str(tmp_path)])
    assert "2 versions" in capsys.readouterr().out


def test_arms_that_train_together_by_other_laws_are_of_one_version(tmp_path):
    """A part named the code of its first spec alone: an arm with another law counted as another version's, and a change
    of that law's code went unseen."""
    from lopsided.study.recipe_run import prepare

    store = Store(tmp_path)
    asked = prepare("exponent", "smoke", 1, [])
    asked.train(store)
    (part,) = store.parts()
    codes = {spec: part.code_of(spec) for spec in part.seeds}
    assert {hash_: code_digest(spec) for hash_, spec in ((a.content_hash(), a) for a in asked.arms.values())} == codes
    assert len(set(codes.values())) == 3, "uniform, power law, annealed"
    claims = asked.marked(asked.claims(asked.results(store)), store)
    assert {claim.code_versions for claim in claims} == {1}


def test_parts_of_one_code_merge_and_keep_what_computed_each_spec(tmp_path):
    from lopsided.store.compact import compact
    from lopsided.study.recipe_run import prepare

    store = Store(tmp_path)
    for seeds in (1, 2):
        prepare("exponent", "smoke", seeds, []).train(store)
    before = [{spec: part.code_of(spec) for spec in part.seeds} for part in store.parts()]
    assert before[0] == before[1]
    assert compact(store).after == 1
    (part,) = store.parts()
    assert {spec: part.code_of(spec) for spec in part.seeds} == before[0]


def test_a_copied_folder_is_ignored_and_named(small, tmp_path):
    run([small], 2, Store(tmp_path))
    expected = rows(tmp_path)
    (part,) = (tmp_path / "parts").iterdir()
    shutil.copytree(part, part.with_name(f"{part.name} (copy)"))
    shutil.copytree(part, part.with_name("backup"))
    assert rows(tmp_path) == expected
    assert folder_status(Store(tmp_path), {})["foreign"] == sorted([f"{part.name} (copy)", "backup"])


def test_a_folder_of_an_older_version_is_named_and_left_alone(small, tmp_path):
    old = tmp_path / "parts" / f"{'0' * 16}-{'0' * 12}"
    old.mkdir(parents=True)
    for call in (lambda: run([small], 1, Store(tmp_path)), Store(tmp_path).complete):
        with pytest.raises(StoreError, match="older version of lopsided"):
            call()
    assert [p.name for p in tmp_path.iterdir()] == ["parts"]


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000])
def test_a_damaged_format_file_is_one_line(text, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "store.json").write_text(text)
    with pytest.raises(StoreError, match=r"store\.json: cannot be read"):
        Store(tmp_path).survey()


@pytest.mark.parametrize(
    "sql",
    [
        "",
        ";",
        "COPY (SELECT 1) TO 'stolen.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "ATTACH 'x.db'",
        "CREATE TABLE t AS SELECT 1",
        "SELECT 1; SELECT 2",
        "SET enable_external_access = true",
        "DROP TABLE members",
    ],
)
def test_a_query_reads_the_tables_and_nothing_else(sql, small, tmp_path, monkeypatch):
    run([small], 1, Store(tmp_path / "out"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="query"):
        query(Store(tmp_path / "out"), [], sql)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert query(Store(tmp_path / "out"), [], "SELECT count(*) FROM members").rows == [(1,)]


def test_a_long_answer_is_cut_and_says_so(small, tmp_path):
    run([small], 1, Store(tmp_path))
    answer = query(Store(tmp_path), [], "SELECT * FROM range(100000000)", most=10)
    assert (len(answer.rows), answer.more) == (10, True)
