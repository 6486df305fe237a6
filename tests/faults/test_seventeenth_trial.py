"""What the seventeenth newcomer found."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import lopsided as lop
import lopsided.data as ld
from lopsided.cli import report
from lopsided.cli.check import check
from lopsided.cli.new import new
from lopsided.cli.options import no_store
from lopsided.core.arms import arm as named
from lopsided.core.errors import InputError
from lopsided.executors.head import Wanted
from lopsided.explore.folder import Folder
from lopsided.explore.pages import live
from lopsided.recipe import Ahead, Own, Statement
from lopsided.report import folder_tables
from lopsided.report.page_file import require_page
from lopsided.stats.race import RacePlan, race
from lopsided.stats.times import Times
from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.store.status import folder_status
from lopsided.study import before, looks, manifest
from lopsided.study.changes import change_of
from lopsided.study.checking import found_in
from lopsided.study.file_owner import OwnFile
from lopsided.study.others import members_of
from lopsided.study.overrides import overridden
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.until_decided import until_decided
from lopsided.work.done import Request
from tests.library.small import small_recipe, spec

FASTER = Statement("faster", Own("?"), Ahead({"data": "large"}, of={"data": "small"}))


def asked(small=0.05, overrides=(), seeds=6):
    """A run of two arms, the large rate against a small one."""
    arms = [named(spec(0.5), data="large"), named(spec(small), data="small")]
    recipe = small_recipe("own", lambda scale: arms, [FASTER])
    return RecipeRun(recipe, "laptop", recipe.specs("laptop"), seeds, overrides)


@pytest.mark.slow
def test_a_plan_that_was_passed_over_judges_nothing_anywhere(tmp_path, capsys):
    """`run` and `check` said that the looks were passed over; `load` and the table `arms` had them judge the claims."""
    store, first = Store(tmp_path), asked()
    until_decided(first, store, looks=(8,))
    rows = {row.arm: row for row in manifest.recorded(store)[-1].rows(store)}
    assert (rows["large"].judged_from, rows["large"].judged_to) == (6, 14)
    edited = asked(small=0.06)
    edited.train(store)
    (now,) = manifest.recorded(store)
    assert "passed over" in found_in(edited, store).judged_by
    assert {(row.judged_from, row.judged_to) for row in now.rows(store)} == {(0, 0)}
    assert manifest.looked_at(store, [now]) == {}
    assert before.tested_before(replace(edited, seeds=7), store) != ""
    assert "by a plan" not in before.tested_before(replace(edited, seeds=7), store)
    lop.load(tmp_path, recipe="own-laptop")
    assert "is passed over; its verdicts are of these 6 seeds" in capsys.readouterr().err
    with pytest.raises(InputError, match="passed over"):
        lop.load(tmp_path, recipe="own-laptop, looks")


def test_a_manifest_of_before_has_the_plan_that_the_folder_has(tmp_path):
    store, first = Store(tmp_path), asked()
    until_decided(first, store, looks=(8,))
    (found,) = manifest.recorded(store)
    assert found.plan == first.plan_key
    assert looks.plan_in_force(store, found.label, "") is not None
    assert looks.plan_in_force(store, found.label, "another") is None


def test_a_job_that_came_further_has_not_failed(tmp_path, monkeypatch):
    """A worker died; another took its job over and committed more, and `status` still said "failed"."""
    one = spec(0.25)
    lop.run(one, seeds=1, out=tmp_path)
    store, member = Store(tmp_path), (one.content_hash(), 0)
    other = (one.content_hash(), 1)
    leases = Leases(tmp_path)
    leases.record_failure("b" * 16, [other], "its process died", step=40)

    def row(step):
        survey = store.survey()
        survey.__dict__["half_done"] = {other: step} if step else {}
        monkeypatch.setattr(store, "survey", lambda: survey)
        found = folder_status(store, {"run": [member, other]})
        return found["runs"][0]["failed"], found["runs"][0]["waiting"], len(found["failed"])

    assert row(0) == row(40) == (1, 0, 1)
    assert row(60) == (0, 1, 0)


def test_a_head_does_not_count_the_time_before_anything_moved(tmp_path, parity, monkeypatch):
    """It said "1.8 h left" of 40 seconds: workers were started, and compiled."""
    said, now = [], [0.0]
    monkeypatch.setattr("lopsided.executors.head.time.perf_counter", lambda: now[0])
    store = Store(tmp_path)
    store.require_writable()
    (tmp_path / "parts").mkdir(exist_ok=True)
    wanted = Wanted(Request([parity()], 4, store, said.append))
    monkeypatch.setattr(Wanted, "_half_done", lambda self, missing, held: made[0])
    made = [0.0]
    for now[0], made[0] in ((100.0, 0.0), (101.0, 0.5), (105.0, 1.0), (121.0, 1.5)):
        wanted.show()
    assert [each.left for each in said] == [None, None, None, pytest.approx(20 * 2.5 / 1.0)]


def test_a_head_says_what_its_workers_say(tmp_path, parity):
    said, store = [], Store(tmp_path)
    store.require_writable()
    (tmp_path / "parts").mkdir(exist_ok=True)
    wanted = Wanted(Request([parity()], 4, store, said.append))
    leases = Leases(tmp_path)
    with leases.lock():
        lease = leases.take("b" * 16, sorted(wanted.names), 60)
    with leases.hold(lease) as holder:
        leases.write(holder.lease._replace(seconds_left=42.0))
        wanted.show()
    assert said[-1].left == 42.0


def test_looks_and_times_are_called_as_their_run(tmp_path, monkeypatch):
    """`own-laptop-f5304f01, looks`, without the change that the digest stands for."""
    store, changed = Store(tmp_path), asked(overrides=("steps=300",))
    until_decided(changed, store, looks=(8,))
    manifests = manifest.recorded(store)
    runs = members_of(store, manifests)
    titles, changes = manifest.called(runs, manifests)
    assert set(titles.values()) == {"own, steps=300", "own, steps=300, looks"}
    assert set(map(tuple, changes.values())) == {("steps=300",)}
    shown = io.StringIO()
    monkeypatch.setattr(folder_tables, "_console", lambda: Console(file=shown, width=200))
    folder_tables.status_tables(folder_status(store, runs), titles)
    assert "own, steps=300, looks" in shown.getvalue()
    empty = dict.fromkeys(("seconds", "compile", "rate", "place"), 0.0)
    shown.truncate(0)
    folder_tables.times_table([{"run": run, **empty} for run in runs], ["compile"], [None, None], titles)
    assert changed.label not in shown.getvalue()


def test_the_live_view_calls_looks_as_their_run(tmp_path):
    store, changed = Store(tmp_path), asked(overrides=("steps=300",))
    until_decided(changed, store, looks=(8,))
    folder = Folder(tmp_path)
    folder._read_manifests()
    folder.close()
    folder.status = folder_status(store, members_of(store, manifest.recorded(store)))
    assert "own, steps=300, looks" in str(live._tables(folder))


def test_every_member_is_in_one_row_while_a_look_is_in_hand(tmp_path):
    """`look 2 of 3` had the members of look 1 once more."""
    store, run = Store(tmp_path), asked()
    until_decided(run, store, looks=(8,))
    specs = [each.content_hash() for each in run.arms.values()]
    looks.tell(store, run.label, "look 2 of 2, 1 open", specs, range(6, 22))
    every = [member for each in members_of(store, manifest.recorded(store)).values() for member in each]
    assert len(every) == len(set(every)) == 2 * 22


def test_idle_belongs_to_a_worker(capsys):
    workers = [{"worker": "one", "idle": True}, {"worker": "two", "idle": False}]
    rest = {key: [] for key in ("runs", "running", "stale", "failed", "unreadable", "foreign", "damaged")}
    folder_tables.status_tables({"workers": workers, **rest}, {})
    assert "workers (2): one (idle), two" in capsys.readouterr().out


@pytest.mark.slow
def test_a_report_replaces_no_file_of_others(tmp_path):
    """`report -o notes.html` took the place of somebody's notes, and of another folder's report."""
    notes, page = tmp_path / "notes.html", tmp_path / "all.html"
    notes.write_text("<html>my own notes</html>")
    for folder in ("a", "b"):
        asked().train(Store(tmp_path / folder))
    report(tmp_path / "a", output=page)
    report(tmp_path / "a", output=page)  # its own, again
    with pytest.raises(InputError, match="no report of this folder"):
        report(tmp_path / "b", output=page)
    with pytest.raises(InputError, match="no page of lopsided"):
        report(tmp_path / "a", output=notes)
    assert notes.read_text() == "<html>my own notes</html>"
    require_page(page)  # of `compare` and `paper`, which are of no folder


def test_results_are_a_collection_of_arms(tmp_path):
    found = lop.run({"one": spec(0.25), "two": spec(0.5)}, seeds=1, out=tmp_path)
    assert ("one" in found, "three" in found, list(found), len(found)) == (True, False, ["one", "two"], 2)


def test_check_says_how_many_members_can_be_loaded(tmp_path, capsys):
    lop.run(spec(0.25), seeds=2, out=tmp_path)
    with Leases(tmp_path).hold(Leases(tmp_path).take("b" * 16, [(spec(0.25).content_hash(), 7)], 60)):
        check(out=tmp_path)
    assert "has the 2 of them that are complete (1 unfinished)" in " ".join(capsys.readouterr().out.split())


def test_a_file_is_no_folder_and_an_empty_folder_no_recipe(tmp_path):
    file = tmp_path / "facts.py"
    file.write_text("")
    assert "is a file" in str(no_store(file))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no store there"):
        check(str(tmp_path / "empty"))


def test_check_says_that_a_recipe_comes_from_a_file(tmp_path):
    """ "unknown recipe", of a folder that has its run."""
    store = Store(tmp_path)
    store.require_writable()
    lop.run(spec(0.25), seeds=1, out=tmp_path)
    replace(asked(), file=OwnFile("a" * 16, "b" * 16)).note(store)
    with pytest.raises(InputError, match=r"own: from a recipe file.*check FILE\.py"):
        check("own", out=tmp_path)
    with pytest.raises(InputError, match="unknown recipe 'owm'"):
        check("owm", out=tmp_path)


def test_load_names_runs_whose_task_is_not_imported(tmp_path):
    store = Store(tmp_path)
    asked().train(store)
    file = tmp_path / "runs" / "own-laptop.json"
    said = json.loads(file.read_text())
    for arm in said["arms"].values():
        arm["spec"]["task"] = {"name": "facts"}
    (tmp_path / "runs" / "facts-laptop.json").write_text(json.dumps({**said, "recipe": "facts", "called": ""}))
    with pytest.raises(InputError, match=r"Valid: 'own-laptop' \(once the files .* are imported also 'facts-laptop'\)"):
        lop.load(tmp_path)


def test_shapes_that_all_score_alike_are_all_tied():
    """Five of ten, and a runner-up: the halves that went on did so by their order alone."""
    plan = RacePlan(tuple("abcdefghij"), ("c", "a"))
    found = race(plan, lambda names, seeds: {name: np.full(len(seeds), 0.5) for name in names})
    assert (found.winner, found.outcome, found.runner_up, found.told_apart) == ("c", "keep", None, False)
    assert sorted(found.tied) == sorted(set(plan.arms) - {"c"})
    assert set(found.screened.values()) == {5.5}


def test_equal_ranks_are_not_equal_scores():
    """Each of two shapes won on half of the seeds: "on every seed all shapes score alike"."""

    def measure(names, seeds):
        turn = np.array(list(seeds)) % 2
        return {name: turn.astype(float) if name == "a" else 1.0 - turn for name in names}

    assert race(RacePlan(("a", "b"), ("a",)), measure).told_apart


def test_small_slips_are_named(tmp_path):
    arms = {"alpha = 0.5": spec(0.25), "alpha = 1": spec(0.5)}
    with pytest.raises(InputError, match=r"unknown arm 'alpha=0.5'.*Did you mean 'alpha = 0.5'"):
        overridden("own", arms, ["alpha=0.5: steps=40"])
    with pytest.raises(InputError, match="names no arm before the colon"):
        overridden("own", arms, [": steps=40"])
    with pytest.raises(InputError, match="no spaces around the last equality sign"):
        overridden("own", arms, ["alpha = 0.5: steps = 40"])
    assert change_of("a=b, c: d=1: plan.size=128")[:2] == ("a=b, c: d=1", "plan.size")
    with pytest.raises(InputError, match=r"scale of tour 'smok'.*Did you mean 'smoke'"):
        lop.recipes.tour.recipe.specs("smok")
    script = tmp_path / "mine.py"
    script.write_text("raise SystemExit('was run')")
    with pytest.raises(InputError, match="valid is the name of a recipe"):
        new("recipe", tmp_path / "other.py", from_=str(script))


def test_positions_may_be_few_or_a_slice():
    stream = ld.Stream(10, ld.AsIs(), total=20)
    assert stream.at([]).shape == (0,)
    view = ld.View(list(range(10)), stream)
    assert view[0:3] == stream.at(range(3)).tolist()


def test_times_say_alike_by_each_seed():
    arm = Times(np.array([1.0, 2.0]), np.zeros(2, bool))
    plan = RacePlan(("a", "b"), ("a",), screening=(2,))
    assert not race(plan, lambda names, seeds: dict.fromkeys(names, arm)).told_apart


def test_an_arms_colon_has_a_space():
    with pytest.raises(InputError, match=r'--set "fresh: optimizer.lr=0.5"'):
        overridden("own", {"fresh": spec(0.25)}, ["fresh:optimizer.lr=0.5"])
