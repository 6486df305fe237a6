"""Where time went: every part says it, and `lopsided status --times` adds it up."""

import json

import pytest

from lopsided.cli import main
from lopsided.core.spec import Spec
from lopsided.engines.work import per_member
from lopsided.report.took import took
from lopsided.store.parts import Store
from lopsided.store.status import TIMES, times
from lopsided.store.tables import connect
from lopsided.study.recipe_run import prepare
from lopsided.study.reports import OF_ONE_PART, made
from lopsided.work import commits, operations
from lopsided.work.worker import run
from tests.conftest import PARITY


def test_the_parts_of_a_job_say_where_their_seconds_went(tmp_path):
    store, spec = Store(tmp_path), Spec.parse(PARITY)
    done = run([spec], 4, store)
    (found,) = times(store, {"mine": [(spec.content_hash(), seed) for seed in range(4)]})
    assert all(found[kind] >= 0 for kind in TIMES)
    assert min(found["compile"], found["steps"], found["evaluations"]) > 0
    assert sum(found[kind] for kind in TIMES) <= done.seconds
    (part,) = store.parts()
    assert found["steps"] + found["evaluations"] == pytest.approx(part.seconds, rel=0.01, abs=1e-3)


def test_nothing_is_counted_of_other_runs(tmp_path):
    store, spec = Store(tmp_path), Spec.parse(PARITY)
    run([spec], 1, store)
    (found,) = times(store, {"other": [("0" * 16, 0)]})
    assert not any(found[kind] for kind in TIMES)


@pytest.mark.parametrize("until", [None, {"metric": "test/accuracy", "at_least": 0.9}])
def test_operations_are_those_of_the_steps_taken(until, tmp_path, monkeypatch):
    monkeypatch.setattr(commits, "LEAST_SECONDS", 0.0)
    store = Store(tmp_path)
    spec = Spec.parse({**PARITY, "until": until, "evaluation": {"every": 10, "samples": 64}, "steps": 40})
    run([spec], 3, store)
    said = [each for part in store.parts() for each in store.provenance(part)]
    with connect(store) as con:
        evaluations = con.execute("SELECT count(*) FROM rows WHERE metric = 'test/loss'").fetchone()[0]
    assert evaluations == 3 * 4  # nobody learns so fast
    per = per_member(spec)
    assert per is not None
    expected = 10 * evaluations * per.step + evaluations * per.evaluation
    assert sum(each["operations"] for each in said) == pytest.approx(expected)
    (found,) = times(store, {"mine": [(spec.content_hash(), 0)]})
    computing = sum(each["seconds"]["steps"] + each["seconds"]["evaluations"] for each in said)
    assert found["rate"] == pytest.approx(expected / computing)


def test_a_member_that_diverged_is_not_counted_twice(tmp_path, monkeypatch):
    """It gets a second row, at the last step, which took neither a step nor an evaluation."""
    monkeypatch.setattr(commits, "LEAST_SECONDS", 0.0)
    store, rule = Store(tmp_path), {"metric": "test/loss", "at_most": 1e-6}
    wild = {"optimizer": {"name": "sgd", "lr": 1e5}, "loss": "square", "until": rule}
    spec = Spec.parse({**PARITY, **wild, "evaluation": {"every": 10, "samples": 64}, "steps": 40})
    run([spec], 3, store)
    said = [each for part in store.parts() for each in store.provenance(part)]
    per = per_member(spec)
    assert per is not None
    assert sum(each["operations"] for each in said) == pytest.approx(3 * (10 * per.step + per.evaluation))


def test_what_cannot_be_counted_does_not_stop_a_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(commits, "LEAST_SECONDS", 0.0)
    nowhere = tmp_path / "file"
    nowhere.touch()
    monkeypatch.setattr(operations, "cache_folder", lambda: nowhere)
    run([Spec.parse(PARITY)], 1, Store(tmp_path / "a"))
    monkeypatch.setattr(operations, "per_member", lambda spec: 1 / 0)
    run([Spec.parse(PARITY)], 1, Store(tmp_path / "b"))
    for name in "ab":
        assert len(Store(tmp_path / name).complete()) == 1


def test_gradient_flow_has_no_number_of_operations():
    (spec, *_) = (s for s in prepare("emergence", "smoke", None, ()).arms.values() if s.plan.name == "population")
    assert per_member(spec) is None


@pytest.mark.slow
def test_the_table_and_its_json(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["run", "deflation", "--scale", "smoke", "--out", str(tmp_path)])
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["status", str(tmp_path), "--times", "--json"])
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["run"] == "deflation-smoke"
    assert row["compile"] > 0
    with pytest.raises(SystemExit):
        main(["status", str(tmp_path), "--times"])
    out = capsys.readouterr().out
    assert all(kind in out for kind in TIMES)


@pytest.mark.slow
def test_a_report_says_once_what_made_several_parts(tmp_path):
    """Seconds differ from part to part; what made them is the same."""
    store = Store(tmp_path)
    asked = prepare("deflation", "smoke", None, ())
    asked.train(store)
    (entry,) = made(store, asked)
    assert entry["parts"] == sum(part.final for part in store.parts()) > 1
    assert entry["took"]["compile"] > 0
    assert took(entry["took"]).startswith(f"{sum(entry['took'][kind] for kind in TIMES):.0f} s: compile ")
    assert took({**dict.fromkeys(TIMES, 0.0), "rate": None}) == ""
    assert not set(OF_ONE_PART) & set(entry)


def test_what_another_version_of_jax_counted_is_not_taken(tmp_path, monkeypatch):
    """Two versions that share a home shared a count: rows under 0.10 had operations of 0.12."""
    import jax

    from lopsided.work import operations

    monkeypatch.setattr(operations, "cache_folder", lambda: tmp_path)
    spec = Spec.parse(PARITY)
    counts = iter([(1.0, 2.0), (3.0, 4.0)])
    monkeypatch.setattr(operations, "per_member", lambda spec: operations.PerMember(*next(counts)))
    assert operations.of_part(spec, "code", 1, 0) == 1.0
    assert operations.of_part(spec, "code", 1, 0) == 1.0  # remembered
    monkeypatch.setattr(jax, "__version__", "99.0")
    assert operations.of_part(spec, "code", 1, 0) == 3.0
