"""What a Python program trained with `lopsided.run` is seen by `status`, `query`, `report` and the explorer."""

import json

import pytest

import lopsided as lop
from lopsided.cli import main
from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.study.manifest import recorded
from lopsided.study.others import OTHERS, arm_rows, members, others
from lopsided.study.recipe_run import prepare
from tests.conftest import PARITY
from tests.library.small import spec

pytestmark = pytest.mark.xdist_group("others")  # one worker makes what its tests share


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two arms that differ in a rate, and one that has another plan."""
    folder = tmp_path_factory.mktemp("others")
    lop.run({"slow": spec(0.1), "fast": spec(0.5), "set": spec(0.5, 64)}, seeds=2, out=folder)
    return folder


def asked(capsys, *arguments):
    with pytest.raises(SystemExit):
        main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_status_counts_them(root, capsys):
    (row,) = asked(capsys, "status", str(root))["runs"]
    assert (row["run"], row["members"], row["done"]) == (OTHERS, 6, 6)
    (spent,) = asked(capsys, "status", str(root), "--times")["runs"]
    assert (spent["run"], spent["steps"] > 0) == (OTHERS, True)


def test_members_in_training_and_failed_are_counted_too(tmp_path):
    leases, store = Leases(tmp_path), Store(tmp_path)
    held, failed = ("0" * 16, 3), ("1" * 16, 4)
    with leases.lock():
        leases.take("one", [held], 10)
    leases.record_failure("two", [failed], "ended")
    assert members(store, {}) == {OTHERS: [held, failed]}
    assert members(store, {"a run": [held, failed]}) == {}


def test_their_arms_are_named_by_what_differs(root, capsys):
    sql = "SELECT arm, count(DISTINCT seed) FROM rows JOIN arms USING (spec) GROUP BY arm ORDER BY arm"
    found = dict(asked(capsys, "query", sql, "--out", str(root))["rows"])
    assert set(found.values()) == {2}
    assert sorted(found) == [
        "optimizer.lr = 0.1, online",
        "optimizer.lr = 0.5, fixed, plan.replacement = 1, plan.size = 64",
        "optimizer.lr = 0.5, online",
    ]


@pytest.mark.slow
def test_arms_of_a_recorded_run_are_not_among_them(root):
    store = Store(root)
    prepare("set-size", "smoke", None, ()).train(store)
    known = {row.spec for found in recorded(store) for row in found.rows()}
    rows = arm_rows(store.as_of_now(), recorded(store))
    assert len(rows) == 3
    assert known.isdisjoint(row.spec for row in rows)


def test_a_setting_that_some_lack_is_left_out_of_their_names():
    one, two = spec(0.5), lop.Spec.parse(PARITY)
    specs = {each.content_hash(): each.canonical_json() for each in (one, two)}
    names = {arm.digest: arm.name for arm in others(specs, specs)}
    assert "None" not in "".join(names.values())
    assert len(set(names.values())) == 2
    (alone,) = others(specs, specs.keys() - {one.content_hash()})
    assert alone.name == alone.digest


def test_report_says_who_shows_them(tmp_path, capsys):
    lop.run(spec(0.5), seeds=2, out=tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path)])
    assert ended.value.code == 2
    assert "`lopsided explore` shows what there is" in capsys.readouterr().err
