"""Parts, orders and folders that somebody altered on purpose, with checksums made anew: one line each, nothing more."""

import hashlib
import json
import os

import duckdb
import numpy as np
import pytest

import lopsided as lop
from lopsided.cli import main
from lopsided.core.errors import InputError
from lopsided.core.spec import Spec
from lopsided.executors import orders
from lopsided.store import paths
from lopsided.store.files import canonical, digest
from lopsided.store.parts import Store
from lopsided.study.manifest import MOST_MEMBERS, recorded
from lopsided.work.worker import run
from tests.conftest import PARITY
from tests.faults.test_hostile_folders import _never, put

SMALL = Spec.parse({**PARITY, "steps": 20})


def forge(store, rows=None, **changes):
    """Alter the store's one part: its rows by SQL over `r`, its text by `changes`."""
    (part,) = store.parts()
    folder = store.path(part)
    if rows:
        with duckdb.connect() as con:
            con.execute(f"CREATE TABLE r AS SELECT * FROM read_parquet('{folder}/rows.parquet')")
            con.execute(f"COPY ({rows}) TO '{folder}/rows.parquet' (FORMAT parquet)")
    document = json.loads((folder / "part.json").read_text())
    document["part"] |= changes
    document["part"]["checksums"]["rows"] = digest(folder / "rows.parquet")
    document["sha256"] = hashlib.sha256(canonical(document["part"]).encode()).hexdigest()
    (folder / "part.json").write_text(json.dumps(document))
    return Store(store.root)


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "out")
    run([SMALL], 2, made)
    return made


def command(*words, code=0):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert (ended.value.code or 0) == code, words


@pytest.mark.parametrize(
    "rows",
    ["SELECT * FROM r WHERE seed = 1", "SELECT * FROM r WHERE false", "SELECT * EXCLUDE (value) FROM r",
     "SELECT * EXCLUDE (diverged), 1 AS diverge FROM r"],
)  # fmt: skip
def test_rows_or_columns_that_are_missing_are_damage(store, rows):
    """A part without rows of a member was complete; without the column `value` its members looked diverged."""
    survey = forge(store, rows).survey()
    assert survey.complete == {}
    assert "rows.parquet" in survey.damaged[0].reason


@pytest.mark.parametrize(
    "rows",
    ["SELECT * FROM r WHERE metric <> 'test/loss' OR seed = 1",
     "SELECT * FROM r UNION ALL SELECT * REPLACE ('new' AS metric) FROM r WHERE metric = 'test/loss' AND seed = 1"],
)  # fmt: skip
def test_rows_that_lack_a_time_or_have_one_more_end_in_one_line(store, rows):
    with pytest.raises(InputError, match="the folder's parts were altered"):
        lop.load({"arm": SMALL}, 2, forge(store, rows))


@pytest.mark.parametrize(("steps", "sound"), [("min(step), max(step)", True), ("min(step), min(step) + 1", False)])
def test_of_a_metric_its_ends_alone_are_whole_and_two_other_times_are_not(tmp_path, steps, sound):
    """Published rows are thinned to the ends where nothing between is read."""
    longer = SMALL.model_copy(update={"steps": 3, "evaluation": SMALL.evaluation.model_copy(update={"every": 1})})
    run([longer], 2, Store(tmp_path / "out"))
    few = f"SELECT * FROM r WHERE metric <> 'test/loss' OR step IN (SELECT unnest([{steps}]) FROM r)"
    store = forge(Store(tmp_path / "out"), few)
    if not sound:
        with pytest.raises(InputError, match="the folder's parts were altered"):
            lop.load({"arm": longer}, 2, store)
        return
    loss = lop.load({"arm": longer}, 2, store).arms["arm"].metric("test/loss")
    assert np.isfinite(loss[:, [0, -1]]).all()
    assert np.isnan(loss[:, 1]).all()


@pytest.mark.parametrize(
    "provenance",
    [{}, {"finished": 3}, {"seconds": "x"}, {"seconds": {"steps": "x"}}, {"operations": "many"}, {"software": "a"},
     {"merged": [{}]}, {"merged": 3}, [], None],
)  # fmt: skip
def test_what_a_part_says_of_its_making_is_read_strictly(store, provenance):
    """`status --times` and `report` ended in a traceback."""
    (part,) = store.parts()
    whole = json.loads((store.path(part) / "part.json").read_text())["part"]["provenance"]
    field = isinstance(provenance, dict) and provenance and "merged" not in provenance
    changed = {**whole, **provenance} if field else provenance
    assert "part.json cannot be read" in forge(store, provenance=changed).survey().damaged[0].reason
    command("status", store.root, "--times")


def test_a_spec_that_is_no_json_is_damage(store):
    text = "no JSON"
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    forged = forge(
        store, f"SELECT * REPLACE ('{name}' AS spec) FROM r", specs={name: text}, members=[[name, 0], [name, 1]]
    )
    assert "part.json" in forged.survey().damaged[0].reason
    command("query", "SELECT count(*) FROM arms", store.root)


@pytest.mark.slow
def test_a_manifest_of_more_members_than_anybody_lists_is_none(tmp_path, capsys):
    """`status` ran out of memory."""
    put(tmp_path / "spec.json", SMALL.model_dump_json())
    command("run", tmp_path / "spec.json", "--seeds", 1, "--out", tmp_path / "out")
    (sound,) = (tmp_path / "out/runs").glob("*.json")
    data = json.loads(sound.read_text())
    arm = next(iter(data["arms"].values()))
    sound.write_text(
        json.dumps({**data, "seeds": 10**6, "arms": {str(i): arm for i in range(MOST_MEMBERS // 10**6 + 1)}})
    )
    assert recorded(Store(tmp_path / "out")) == []


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_an_order_that_others_may_write_is_not_carried_out(tmp_path, mode, capsys, monkeypatch):
    """With a umask of 002 a member of the group put a file of his own into an order, and a worker executed it."""
    monkeypatch.setattr(orders, "_SAID", set())
    ran, store = tmp_path / "ran", Store(tmp_path / "out")
    store.require_writable()
    evil = put(tmp_path / "evil.py", f"open({str(ran)!r}, 'w')\n")
    order = orders.of(str(evil), [SMALL], 1, execution="{}")
    before = os.umask(0o002)
    try:
        orders.write(store, order)
    finally:
        os.umask(before)
    file = tmp_path / "out" / "work" / f"{order.name}.json"
    assert file.stat().st_mode & 0o022 == 0  # whatever the umask
    file.chmod(mode)
    assert orders.read(store) == []
    assert "others may have written" in capsys.readouterr().err
    file.chmod(0o644)
    # Without a checksum anybody's file would do.
    orders.write(store, order.model_copy(update={"program": ""}))
    assert orders.as_worker(store, _never(), 0.2) == 0
    assert not ran.exists()


@pytest.mark.parametrize(
    "changes",
    [{"specs": ("not json",)}, {"specs": ("[" * 200_000,)}, {"specs": ("1" * 6000,)}, {"specs": ("[]",)},
     {"execution": "nope"}, {"execution": "[]"}],
)  # fmt: skip
def test_one_bad_order_ends_no_worker(tmp_path, changes):
    store = Store(tmp_path)
    store.require_writable()
    good = orders.of("adam", [SMALL], 1, execution="{}")
    bad = good.model_copy(update={"seeds": (5,), **changes})
    orders.write(store, bad)
    orders.write(store, good)
    assert orders.as_worker(store, _never(), 0.2) == 1
    assert orders.refused(store, bad)


def test_nothing_is_written_through_a_link_of_another_user(tmp_path, monkeypatch):
    """`report` replaced figure.png of the folder that a link in OUT/reports pointed to."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/reports").symlink_to(tmp_path / "victim")
    assert paths.folder_in(tmp_path / "out", "reports", "a").is_dir()  # one's own link: the reports are on another disk
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda file: _Owned(real(file), 777))
    with pytest.raises(InputError, match="is a link of another user"):
        paths.folder_in(tmp_path / "out", "reports", "b")
    assert not (tmp_path / "victim/b").exists()


class _Owned:
    """What `lstat` says of somebody's file."""

    def __init__(self, found, uid):
        self.found, self.st_uid = found, uid

    def __getattr__(self, name):
        return getattr(self.found, name)


def test_names_of_files_move_no_cursor(tmp_path, capsys):
    store = Store(tmp_path)
    run([SMALL], 1, store)
    put(tmp_path / "runs" / "x\x1b]0;title\x07.json", "{}")
    put(tmp_path / "work" / "y\x1b[2J.json", "{}")
    command("status", tmp_path)
    command("worker", tmp_path, "--idle", "0.1s")
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "no manifest" in said.err
    assert "no order" in said.err
