"""Runs of one recipe are told apart everywhere, and what was run is said: names, queries, reports, Python."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import lopsided as lop
from lopsided.cli import main
from lopsided.core.errors import InputError, Stopped
from lopsided.core.execution import Execution
from lopsided.core.spec import Spec
from lopsided.explore import runs as explored
from lopsided.explore import selection
from lopsided.store.parts import Store
from lopsided.store.tables import query
from lopsided.study import manifest
from lopsided.study.checking import interim
from lopsided.study.others import arm_rows
from lopsided.study.recipe_run import prepare
from lopsided.work.worker import run
from tests.conftest import PARITY
from tests.faults.helpers import ROOT

pytestmark = pytest.mark.xdist_group("which run")  # one worker makes what its tests share

CHANGES = ("evaluation.every=8", "steps=24")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """One recipe three times: as it is, changed by hand, with one arm changed."""
    root = tmp_path_factory.mktemp("which") / "store"
    arm = next(iter(prepare("set-size", "smoke", 2, ()).arms))
    for overrides in ((), CHANGES, (f"{arm}: optimizer.lr=0.25",)):
        prepare("set-size", "smoke", 2, overrides).train(Store(root))
    return root


def cli(*words, code=0):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    assert ended.value.code in (code, None if code == 0 else code), words


def asked(root, sql):
    store = Store(root).as_of_now()
    found = manifest.recorded(store)
    return query(store, [row for each in found for row in each.rows()] + arm_rows(store, found), sql).rows


def test_runs_are_named_by_what_was_changed(out):
    titles = {each.title for each in manifest.recorded(Store(out))}
    assert "set-size-smoke" in titles
    assert "set-size-smoke, every=8, steps=24" in titles
    assert any(": lr=0.25" in title for title in titles)
    assert manifest.title_of("state-tracking", "laptop", ["task.group=D5", "task.hops=2"], []) == (
        "state-tracking, group=D5, hops=2"
    )


def test_status_says_what_was_changed(out, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    cli("status", out)
    said = capsys.readouterr().out
    assert "set-size-smoke, every=8, steps=24" in said
    cli("status", out, "--json")
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert [row["changes"] for row in rows if row["changes"] and ":" not in row["changes"][0]] == [list(CHANGES)]


def test_the_tables_tell_runs_apart(out):
    """A median over arms of two runs was a number that neither had."""
    steps = asked(out, "SELECT run, max(step) FROM rows JOIN arms USING (spec) GROUP BY run ORDER BY run")
    assert len({run for run, _ in steps}) == 3
    assert ("set-size-smoke", 60) in steps
    changed = asked(out, "SELECT DISTINCT changes FROM arms WHERE changes LIKE '%steps%'")
    assert changed == [("evaluation.every=8 steps=24",)]
    (codes,) = asked(out, "SELECT count(DISTINCT code) FROM members WHERE code LIKE 'ast-1:%'")
    assert codes[0] >= 1
    shared = asked(out, "SELECT max(len(runs)) FROM members")
    assert shared[0][0] >= 2, "arms that were not changed belong to two runs"


def test_the_query_that_the_page_prints_selects_what_it_shows(out):
    store = Store(out)
    run([next(iter(prepare("set-size", "smoke", 2, ()).arms.values()))], 3, store)  # a seed that no run asked for
    for each in manifest.recorded(store):
        found = explored.of_manifest(each)
        chosen = selection.choose(found, "test/accuracy", {})
        words = selection.command(chosen, out)
        sql = words.split('"')[1] if '"' in words else words.split("'", 1)[1].rsplit("'", 1)[0].replace("'\"'\"'", "'")
        got = asked(out, sql)
        assert {(arm, seed) for arm, seed, *_ in got} == {(name, s) for name in each.arms for s in range(each.seeds)}
        assert max(step for _, _, step, *_ in got) == (24 if each.overrides == CHANGES else 60)


def test_one_arm_is_changed_alone():
    before, after = (prepare("state-tracking", "smoke", 1, changes).arms for changes in
                     ((), ("power law: skills.alpha=1",)))  # fmt: skip
    assert after["power law"].skills.alpha == 1
    assert {n: s for n, s in before.items() if n != "power law"} == {n: s for n, s in after.items() if n != "power law"}
    with pytest.raises(InputError, match=r"unknown arm 'powr law'. Did you mean 'power law'"):
        prepare("state-tracking", "smoke", 1, ("powr law: skills.alpha=1",))
    with pytest.raises(InputError, match=r"unknown key of arm 'uniform' 'alpha'.*For one arm: --set \"ARM: skills"):
        prepare("state-tracking", "smoke", 1, ("skills.alpha=1",))


def test_a_recipe_s_run_is_read_in_one_line(out):
    results = lop.load(out, recipe="set-size-smoke")
    assert len(results.arms) == len(prepare("set-size", "smoke", 2, ()).arms)
    assert len(lop.load(Store(out), recipe="set-size").to_pandas()) > 0
    names = list(results.arms)
    assert results.compare(names[0], names[1]).higher().verdict in (
        "inconclusive",
        "holds",
        "contradicted",
        "negligible",
    )
    with pytest.raises(InputError, match=r"has no run 'nothing'. Valid: 'set-size-smoke'"):
        lop.load(out, recipe="nothing")
    with pytest.raises(InputError, match="goes with a folder"):
        lop.load(Spec.parse(PARITY), recipe="set-size")


def test_check_says_what_else_the_folder_has(out, capsys):
    cli("check", "--out", out)
    said = capsys.readouterr().out
    assert "Changed by hand: set-size-smoke, every=8, steps=24, 8 members" in said
    (part, *_) = Store(out).parts()
    store = Store(out)
    unfinished = manifest.recorded(store)[0].model_copy(update={"seeds": 40})
    manifest.write(store, unfinished)
    cli("check", "--out", out)
    assert "Unfinished: set-size-smoke, " in capsys.readouterr().out
    manifest.write(store, unfinished.model_copy(update={"seeds": 2}))
    assert part


@pytest.mark.slow
def test_one_page_of_several_runs_has_one_folder_beside_it(out, tmp_path, capsys):
    page = tmp_path / "all.html"
    cli("report", out, "-o", page)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all-files", "all.html"]
    text = page.read_text()
    assert "<nav><h1>3 runs</h1>" in text
    assert text.count('<section id="run-') == 3
    assert len(list((tmp_path / "all-files").glob("*/figure.png"))) == 3
    capsys.readouterr()
    cli("report", out, "-o", tmp_path / "all.pdf", code=2)
    assert "a report is an HTML page" in capsys.readouterr().err


def test_an_unfinished_run_has_an_interim_report(tmp_path, capsys):
    store = Store(tmp_path)
    asked_for = prepare("set-size", "smoke", 2, ())
    arms = list(asked_for.arms.values())
    store.require_writable()
    manifest.write(
        store,
        manifest.Manifest(
            recipe="set-size", scale="smoke", seeds=2, overrides=(), job_size=None, jobs=(),
            arms=manifest.arms_of(asked_for.arms, asked_for.planned),
        ),
    )  # fmt: skip
    run(arms[:2], 2, store)
    cli("report", tmp_path)
    page = Path(capsys.readouterr().out.strip())
    assert f"Interim report: 2 of {len(arms)} arms, 4 of {2 * len(arms)} members are complete" in page.read_text()
    # It is of its recipe: a page that asked "What do these specs learn?" counted steps to another threshold.
    assert asked_for.recipe.question in page.read_text()


@pytest.fixture
def half_done(tmp_path):
    """A run of two members that was stopped on the way."""
    (tmp_path / "spec.json").write_text(Spec.parse({**PARITY, "steps": 4_000}).model_dump_json())
    unfinished, stop = prepare(str(tmp_path / "spec.json"), "laptop", 2, ()), threading.Event()

    def seen(progress):
        if progress.step >= 1_000:
            stop.set()

    with pytest.raises(Stopped):
        unfinished.train(Store(tmp_path / "o"), seen, stop, Execution(commit_seconds=0.0))
    return unfinished, tmp_path / "o"


def test_half_done_members_are_in_the_interim_report(half_done, capsys):
    """A run without one complete arm had no report: a reader of hours of training was told that nothing is there."""
    unfinished, out = half_done
    cli("report", out)
    page = Path(capsys.readouterr().out.strip()).read_text()
    assert "Interim report: 0 of 1 arms, 0 of 2 members are complete, 2 that are half done are shown. Claims" in page
    found = interim(unfinished, Store(out))
    assert found is not None
    assert found.results is not None
    (begun,) = found.results.arms.values()
    reached = int(begun.steps[-1])
    assert 0 < reached < 4_000
    assert begun.name == f"spec (to step {reached:,} of 4,000)"
    assert f"spec (to step {reached:,} of 4,000)" in page
    assert "not learned yet" in page
    assert "never learned" not in page
    unfinished.train(Store(out))
    whole = unfinished.results(Store(out))
    assert whole is not None
    for name, values in begun.values.items():  # the first rows of the whole run, no others
        np.testing.assert_array_equal(values, whole["spec"].values[name][:, : len(begun.steps)])


def test_a_run_committed_before_its_first_evaluation_has_no_report_yet(tmp_path, capsys):
    (tmp_path / "spec.json").write_text(Spec.parse({**PARITY, "steps": 40_000}).model_dump_json())
    asked = prepare(str(tmp_path / "spec.json"), "laptop", 2, ("evaluation.every=40000",))
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        asked.train(Store(tmp_path / "o"), None, stop, Execution(commit_seconds=0.0))
    assert Store(tmp_path / "o").survey().half_done
    assert interim(asked, Store(tmp_path / "o")) is None
    cli("report", tmp_path / "o", code=2)
    assert "not finished: spec-spec-" in capsys.readouterr().err


def test_a_file_with_a_recipe_s_name_is_refused(tmp_path, capsys):
    cli("new", "recipe", tmp_path / "mine.py", "--from", "set-size")
    text = (tmp_path / "mine.py").read_text()
    assert 'name="mine"' in text
    assert prepare(str(tmp_path / "mine.py"), "smoke", 1, ()).recipe.name == "mine"
    (tmp_path / "other.py").write_text(text.replace('name="mine"', 'name="set-size"'))
    with pytest.raises(InputError, match="a recipe of this package is called 'set-size'"):
        prepare(str(tmp_path / "other.py"), "smoke", 1, ())
    capsys.readouterr()
    for words, said in {
        ("recipe", tmp_path / "mine.py", "--from", "set-size"): "exists already",
        ("recipe", tmp_path / "set-size.py", "--from", "set-size"): "this package has a recipe 'set-size'",
        ("recipe", tmp_path / "x.txt", "--from", "set-size"): "its name ends in .py",
        ("recipe", tmp_path / "x.py", "--from", "setsize"): "Did you mean 'set-size'",
    }.items():
        cli("new", *words, code=2)
        assert said in capsys.readouterr().err


def test_two_specs_of_one_name_are_two_runs(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder, steps in (("a", 20), ("b", 40)):
        (tmp_path / folder / "spec.json").write_text(json.dumps({**PARITY, "steps": steps}))
    labels = {prepare(str(tmp_path / folder / "spec.json"), "laptop", 1, ()).label for folder in "ab"}
    assert len(labels) == 2


def test_rows_of_two_versions_are_said_where_they_are_compared(tmp_path, monkeypatch, capsys):
    from lopsided.work import worker

    old, new = Spec.parse(PARITY), Spec.parse({**PARITY, "optimizer": {"name": "sgd", "lr": 0.4}})
    with monkeypatch.context() as patch:
        patch.setattr(worker, "code_digests", lambda specs: {s.content_hash(): "ast-1:0000000000000000" for s in specs})
        lop.run({"old": old}, seeds=2, out=tmp_path)
    assert "versions" not in capsys.readouterr().err
    lop.run({"old": old, "new": new}, seeds=2, out=tmp_path)
    assert "These rows come from 2 versions of the code" in capsys.readouterr().err
    found = asked(tmp_path, "SELECT count(DISTINCT code) FROM members")
    assert found == [(2,)]


def test_rows_of_two_versions_of_a_plain_spec_are_said_by_its_run_and_on_its_page(tmp_path, monkeypatch, capsys):
    """Only claims said so, and a spec has none."""
    from lopsided.work import worker

    (tmp_path / "spec.json").write_text(json.dumps(PARITY))
    with monkeypatch.context() as patch:
        patch.setattr(worker, "code_digests", lambda specs: {s.content_hash(): "ast-1:0000000000000000" for s in specs})
        cli("run", tmp_path / "spec.json", "--seeds", "2", "--out", tmp_path / "out")
    assert "versions" not in capsys.readouterr().err
    cli("run", tmp_path / "spec.json", "--seeds", "4", "--out", tmp_path / "out")
    assert "These rows come from 2 versions of the code" in capsys.readouterr().err
    (page,) = (tmp_path / "out/reports").glob("*/index.html")
    assert "These rows come from 2 versions" in page.read_text()


@pytest.mark.slow
def test_a_signal_has_its_own_exit_code(tmp_path):
    """`lopsided run` answered SIGTERM with 130; clusters.md promises 143."""
    (tmp_path / "spec.json").write_text(json.dumps({**PARITY, "steps": 10**7, "evaluation": {"every": 10**5}}))
    words = [sys.executable, "-m", "lopsided.cli", "run", "spec.json", "--out", "o"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                               env={**__import__("os").environ, "PYTHONPATH": str(ROOT / "src")})  # fmt: skip
    for line in process.stderr:
        if "step" in line or "%" in line:
            break
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143


def test_stopping_workers_says_whom_it_found(tmp_path, capsys):
    run([Spec.parse(PARITY)], 1, Store(tmp_path))
    cli("worker", "--stop", "--out", tmp_path)
    assert "0 workers alive here. 0 orders withdrawn." in capsys.readouterr().out


def test_half_done_work_is_shown(half_done, capsys):
    cli("status", half_done[1])
    said = " ".join(capsys.readouterr().out.split())
    assert "2 members are half done, committed to step" in said
