"""Where time went: every part says it, and `lopsided status --times` adds it up."""

import json

import pytest

from lopsided.cli import main
from lopsided.core.spec import Spec
from lopsided.runs.recipe_run import prepare
from lopsided.runs.reports import OF_ONE_PART, made
from lopsided.runs.worker import run
from lopsided.store.parts import Store
from lopsided.store.status import TIMES, times
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


def test_a_report_says_once_what_made_several_parts(tmp_path):
    """Seconds differ from part to part; what made them is the same."""
    store = Store(tmp_path)
    asked = prepare("deflation", "smoke", None, ())
    asked.train(store)
    (entry,) = made(store, asked)
    assert entry["parts"] == sum(part.final for part in store.parts()) > 1
    assert not set(OF_ONE_PART) & set(entry)
