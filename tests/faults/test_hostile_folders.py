"""Whoever may write into a folder may spoil its rows, and nothing else: no file outside it, no command, no machine."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lopsided.cli import main
from lopsided.core.errors import InputError
from lopsided.core.spec import Spec
from lopsided.core.telling import printable
from lopsided.executors import orders
from lopsided.executors.base import Executor
from lopsided.report.console import plain
from lopsided.store import records
from lopsided.store.index import Index
from lopsided.store.leases import FailureRecord, LeaseRecord, Leases, Owner
from lopsided.store.parts import Store
from lopsided.store.tables import query
from lopsided.study.looks import PlannedLook
from lopsided.study.manifest import Manifest, recorded
from lopsided.work.worker import run
from tests.conftest import PARITY
from tests.faults.helpers import ROOT, rows

SMALL = Spec.parse({**PARITY, "steps": 20})
KINDS = {
    "lease": LeaseRecord,
    "failure": FailureRecord,
    "order": orders.Order,
    "manifest": Manifest,
    "look": PlannedLook,
    "lock": Owner,
}


def lease(job, **changes):
    return {
        "job": job, "members": [["0" * 16, 0]], "step": 0, "steps": 1, "seconds_left": None, "token": "t",
        "owner": {"host": "elsewhere", "pid": 1, "started": "1", "folder": ""}, **changes,
    }  # fmt: skip


def failure(job):
    return {
        "job": job, "members": [[SMALL.content_hash(), 0]], "message": "m", "step": 0, "attempts": 3, "log": None,
        "owner": {"host": "elsewhere", "pid": 1, "started": "1", "folder": ""},
    }  # fmt: skip


def put(file, data):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return file


def test_a_lease_or_a_failure_that_names_a_path_removes_nothing(tmp_path):
    """`release(lease.job)` unlinked leases/<job>.json, and the job came from the file's text: any *.json of the user's
    was removed, without a word."""
    victim = put(tmp_path / "conf.json", "mine")
    out = tmp_path / "out"
    for i, job in enumerate(("../../conf", str(tmp_path / "conf"), "..%2f", "0" * 16)):
        old = put(out / "leases" / f"x{i}.json", lease(job))
        os.utime(old, (1, 1))
        put(out / "failed" / f"y{i}.json", failure(job))
    run([SMALL], 2, Store(out))
    assert victim.read_text() == "mine"
    assert Leases(out).all() == []
    assert Leases(out).failures() == []


def test_a_linked_part_leads_nowhere(tmp_path):
    """`drop_states` removed the folder `state` of whatever a link among the parts pointed to."""
    out, mine = tmp_path / "out", tmp_path / "project"
    put(mine / "state" / "work.txt", "mine")
    store = Store(out)
    run([SMALL], 1, store)
    (part,) = store.parts()
    (out / "parts" / f"{part.job}-{0:012d}-zzz").symlink_to(mine, target_is_directory=True)
    (out / "parts" / f"{'a' * 16}-{0:012d}-0").symlink_to(mine, target_is_directory=True)
    before = rows(out)
    Store(out).drop_states(store.path(part) and part, keep=0)  # type: ignore[arg-type]
    run([SMALL], 3, Store(out))
    assert (mine / "state" / "work.txt").read_text() == "mine"
    assert set(before) <= set(rows(out))


@pytest.mark.slow
def test_a_manifest_is_one_only_under_its_own_name(tmp_path, capsys):
    """`report` wrote a figure wherever a manifest's recipe and scale pointed to."""
    out = tmp_path / "out"
    put(tmp_path / "spec.json", SMALL.model_dump_json())
    with pytest.raises(SystemExit):
        main(["run", str(tmp_path / "spec.json"), "--seeds", "2", "--out", str(out)])
    (sound,) = (out / "runs").glob("*.json")
    data = json.loads(sound.read_text())
    for name, changes in {
        "evil": {"recipe": str(tmp_path / "fig"), "scale": "1"},
        "up": {"recipe": "../../up"},
        "many": {"seeds": 10**9},
        "less": {"seeds": -3},
        "arms": {"arms": {"a": {"hash": ["x"], "spec": {}, "coordinates": {}}}},
        "none": {"format": 1},
    }.items():
        put(out / "runs" / f"{name}.json", {**data, **changes})
    put(out / "runs" / "deep.json", "[" * 200_000)
    capsys.readouterr()
    for words in (["report", str(out)], ["status", str(out)], ["check", "--out", str(out)]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0, words
        assert capsys.readouterr().err.count("no manifest of this version; left out") == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "spec.json"]
    assert [m.label for m in recorded(Store(out))] == [sound.stem]


def test_orders_of_others_are_not_carried_out(tmp_path, monkeypatch, capsys):
    """A worker executed whatever file an order named, as the worker's user."""
    out, ran = tmp_path / "out", tmp_path / "ran"
    store = Store(out)
    store.require_writable()
    evil = put(tmp_path / "evil.py", f"open({str(ran)!r}, 'w')\n")
    order = orders.of(str(evil), [SMALL], 1, execution="{}")
    orders.write(store, order)
    monkeypatch.setattr(orders, "owned", lambda file: False)
    monkeypatch.setattr(records, "_own", lambda found: False)
    assert orders.read(store) == []
    assert (
        "an order that others may have written; LOPSIDED_TRUST_ORDERS=1 carries it out; left out"
        in capsys.readouterr().err
    )
    monkeypatch.setenv(orders.TRUSTED, "1")
    assert orders.read(store) == [order]
    monkeypatch.undo()
    evil.write_text(evil.read_text() + "# another file by now\n")
    assert orders.as_worker(store, _never(), 0.2) == 0
    assert not ran.exists()
    assert "is not the file any more that the order was written for" in orders.refused(store, order)


def _never():
    import threading

    return threading.Event()


def test_an_order_under_another_name_is_none(tmp_path):
    """A copy that a synchroniser made kept workers alive for ever: its name was not the one that was removed."""
    store = Store(tmp_path)
    store.require_writable()
    order = orders.of("", [SMALL], 1, execution="{}")
    orders.write(store, order)
    (sound,) = (tmp_path / "work").glob("*.json")
    sound.rename(sound.with_name(f"{sound.stem} (conflicted copy).json"))
    for name, text in {"a": "{}", "b": '{"deadline": "soon"}', "c": "[" * 200_000}.items():
        put(tmp_path / "work" / f"{name}.json", text)
    began = time.monotonic()
    assert orders.as_worker(store, _never(), 0.2) == 0
    assert time.monotonic() - began < 30


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    """A pipe among manifests or leases hung the command, one with the lock in its hand."""
    for folder in ("runs", "leases", "failed", "work", "plans", "workers"):
        (tmp_path / folder).mkdir(exist_ok=True)
        os.mkfifo(tmp_path / folder / f"{'a' * 16}.json")
        (tmp_path / folder / "link.json").symlink_to("/etc/hostname")
    run([SMALL], 1, Store(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "lopsided.cli", "status", str(tmp_path)], capture_output=True, text=True, timeout=60,
        cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    os.mkfifo(tmp_path / "parts" / f"{'b' * 16}-{0:012d}-0")
    (tmp_path / "index.jsonl").unlink()
    os.mkfifo(tmp_path / "index.jsonl")
    assert len(Store(tmp_path).complete()) == 1


@pytest.mark.slow
def test_ten_thousand_records_of_each_kind_are_read_or_left_out(tmp_path):
    """Whatever a file says: a record, or None."""
    g = random.Random(20261127)
    sound = {
        "lease": lease("a" * 16),
        "failure": failure("a" * 16),
        "order": json.loads(orders.of("parity", [SMALL], 2, execution="{}").model_dump_json()),
        "manifest": json.loads(
            Manifest(
                recipe="r", scale="laptop", seeds=2, overrides=("a=b",), job_size=None, jobs=(("a" * 16, 2),),
                arms={"x": {"hash": "a" * 16, "spec": {"a": 1}, "coordinates": {}, "at": None}},
            ).model_dump_json()
        ),
        "look": {"run": "r", "specs": ["a" * 16], "seeds": [1, 2]},
        "lock": lease("x")["owner"],
    }  # fmt: skip
    odd = [json.dumps(x) for x in (
        None, True, -1, 10**30, 1.5, "x", "\x00", "../..", "/", "[/x]", "\x1b[2J", [], {}, [[]], "a" * 16, [["a", 0]]
    )]  # fmt: skip
    for kind, model in KINDS.items():
        file, read = tmp_path / "x.json", 0
        for _ in range(10_000):
            data = json.loads(json.dumps(sound[kind]))
            for _ in range(g.randint(1, 3)):
                place = data
                while isinstance(place, dict | list) and place and g.random() < 0.6:
                    key = g.choice(list(place)) if isinstance(place, dict) else g.randrange(len(place))
                    if not isinstance(place[key], dict | list) or not place[key]:
                        break
                    place = place[key]
                if isinstance(place, dict):
                    place[g.choice([*place, "new"])] = json.loads(g.choice(odd))
                elif place:
                    place[g.randrange(len(place))] = json.loads(g.choice(odd))
            text = json.dumps(data)
            file.write_text(text if g.random() < 0.8 else text[: g.randint(0, len(text))])
            found = records.read(file, model)
            read += found is not None
            assert found is None or isinstance(found, model)
        assert read < 10_000, kind


def test_rows_of_other_members_than_a_part_names_are_damage(tmp_path):
    """With checksums made anew, deleted, doubled and renamed rows were read as complete."""
    import hashlib

    import duckdb

    from lopsided.store.files import canonical, digest

    for what, change in {
        "twice": "SELECT * FROM r UNION ALL SELECT * FROM r",
        "renamed": "SELECT * REPLACE (CASE WHEN seed = 1 THEN 7 ELSE seed END AS seed) FROM r",
    }.items():
        root = tmp_path / what
        store = Store(root)
        run([SMALL], 2, store)
        (part,) = store.parts()
        folder = store.path(part)
        with duckdb.connect() as con:
            con.execute(f"CREATE TABLE r AS SELECT * FROM read_parquet('{folder}/rows.parquet')")
            con.execute(f"COPY ({change}) TO '{folder}/rows.parquet' (FORMAT parquet)")
        document = json.loads((folder / "part.json").read_text())
        document["part"]["checksums"]["rows"] = digest(folder / "rows.parquet")
        document["sha256"] = hashlib.sha256(canonical(document["part"]).encode()).hexdigest()
        (folder / "part.json").write_text(json.dumps(document))
        survey = Store(root).survey()
        assert survey.complete == {}, what
        assert "rows.parquet has" in survey.damaged[0].reason


def test_damage_on_another_disk_is_put_aside_beside_the_others(tmp_path, monkeypatch):
    """Every run ended with "Invalid cross-device link"."""
    store = Store(tmp_path)
    run([SMALL], 1, store)
    (part,) = store.parts()
    (store.path(part) / "rows.parquet").write_text("harm")
    real = os.rename

    def rename(source, target, **more):
        if "damaged/" in str(target):
            raise OSError(18, "Invalid cross-device link")
        return real(source, target, **more)

    monkeypatch.setattr(os, "rename", rename)
    assert run([SMALL], 1, Store(tmp_path)).trained == 1
    assert any(path.name.startswith(".damaged-") for path in (tmp_path / "parts").iterdir())


@pytest.mark.slow
def test_workers_import_nothing_from_the_present_folder(tmp_path, monkeypatch):
    """`python -m` puts it first: a file numpy.py there was executed in place of NumPy."""

    class Nowhere(Executor):
        name = "nowhere"

        def start(self, count): ...

        def count(self):
            return 0

    put(tmp_path / "numpy.py", "raise SystemExit('executed')")
    (tmp_path / "out" / "parts").mkdir(parents=True)
    command = Nowhere(tmp_path / "out", 1, {}).command(0.1)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment)
    assert "executed" not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


def test_nothing_that_moves_a_cursor_reaches_the_terminal(tmp_path, capsys):
    name = "x\x1b]0;PWNED\x07\x1b[2J[/b][bold]"
    assert printable(name) == "x\\x1b]0;PWNED\\x07\\x1b[2J[/b][bold]"
    assert "\\[bold]" in plain(name)
    store = Store(tmp_path)
    run([SMALL], 1, store)
    put(tmp_path / "leases" / "a.json", {})
    Leases(tmp_path).record_failure("f" * 16, [(SMALL.content_hash(), 9)], f"failed {name}")
    for words in (["status", str(tmp_path)], ["query", "SELECT chr(27) || '[2J' AS x", "--out", str(tmp_path)]):
        with pytest.raises(SystemExit):
            main(words)
        assert "\x1b" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["run", "no\x1b[2Jrecipe"])
    assert "\x1b" not in capsys.readouterr().err


def test_a_query_has_limits(tmp_path, monkeypatch):
    from lopsided.store import tables

    store = Store(tmp_path)
    run([SMALL], 1, store)
    monkeypatch.setattr(tables, "MOST_SECONDS", 0.5)
    long = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"
    with pytest.raises(InputError, match=r"stopped after 0 s"):
        query(store, [], long)
    monkeypatch.setattr(tables, "MOST_SECONDS", 60.0)
    monkeypatch.setattr(tables, "MOST_MEMORY", "40MB")
    with pytest.raises(InputError, match=r"query: Out of Memory"):
        query(store, [], "SELECT list(range::VARCHAR || repeat('x', 100)) FROM range(10000000)")
    assert [row[0] for row in query(store, [], "SHOW TABLES").rows] == ["arms", "members", "rows"]


def test_a_folder_of_links_is_none_of_ours(tmp_path):
    run([SMALL], 1, Store(tmp_path / "a"))
    (part,) = (tmp_path / "a" / "parts").iterdir()
    (tmp_path / "b" / "parts").mkdir(parents=True)
    (tmp_path / "b" / "store.json").write_text((tmp_path / "a" / "store.json").read_text())
    copy = tmp_path / "b" / "parts" / part.name
    copy.mkdir()
    (copy / "part.json").symlink_to(part / "part.json")
    (copy / "rows.parquet").symlink_to(part / "rows.parquet")
    found = Index(tmp_path / "b").refresh()
    assert found.sound == []
    assert "is no regular file" in found.unreadable[part.name]


def test_a_process_that_was_stopped_for_long_holds_nothing(tmp_path):
    """On its own host a lease lived as long as its process, also under SIGSTOP and in a copy of the folder."""
    leases = Leases(tmp_path)
    leases.folder.mkdir(parents=True)
    leases.take("a" * 16, [("0" * 16, 0)], 5)
    assert leases.all()[0].alive
    long_ago = time.time() - 3_600
    os.utime(leases.folder / f"{'a' * 16}.json", (long_ago, long_ago))
    assert not leases.all()[0].alive
    leases.take("b" * 16, [("0" * 16, 0)], 5)
    copy = tmp_path / "copy" / "leases"
    copy.mkdir(parents=True)
    (copy / f"{'b' * 16}.json").write_text((leases.folder / f"{'b' * 16}.json").read_text())
    assert [each.alive for each in Leases(tmp_path / "copy").all()] == [False]


def test_runs_that_the_page_starts_write_into_files_of_their_own(tmp_path, monkeypatch):
    """OUT/tried/try-<hash>.log was a name that anybody can compute, and a link there was followed."""
    from lopsided.explore import trying

    started = []
    monkeypatch.setattr(trying.subprocess, "Popen", lambda command, **more: started.append(command))
    tries = trying.Tries(tmp_path)
    found = tries.start(SMALL.model_dump(mode="json"), 1)
    assert found.log.name != f"{found.name}.log"
    assert started[0][1] == "-P"
    assert Path(started[0][5]).name == f"{found.name}.json"
