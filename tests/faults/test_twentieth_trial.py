"""What the twentieth and the twenty-first newcomer found."""

import json
import threading
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

import lopsided as lop
import lopsided.data as ld
from lopsided.claims.readings import Final, Reaches
from lopsided.cli import main
from lopsided.cli.other_runs import where_verdicts_are
from lopsided.cli.run_one import _say_coarse
from lopsided.core.arms import arm as named
from lopsided.core.errors import InputError, Stopped
from lopsided.core.execution import Execution
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from lopsided.report.schema import claims_schema
from lopsided.results.grid import grid_text
from lopsided.results.unfinished import so_far
from lopsided.store.leases import Leases
from lopsided.store.members import read_rows
from lopsided.store.parts import Store
from lopsided.store.tables import query
from lopsided.study import manifest
from lopsided.study.checking import FoundRun
from lopsided.study.neighbours import neighbours
from lopsided.study.others import OTHERS
from lopsided.study.overrides import overridden
from lopsided.study.recipe_run import RecipeRun, prepare
from lopsided.work.worker import run
from tests.conftest import PARITY
from tests.faults.helpers import ROOT
from tests.library.small import small_recipe, spec


def cli(*words):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    assert ended.value.code in (0, None)


def test_a_recipe_without_claims_on_times_says_that_its_grid_is_coarse(tmp_path, capsys):
    """Its table had "steps to learn 300" for members that learned at some step before their first evaluation."""
    rare = spec(0.5).replace({"evaluation.every": 300, "steps": 900, "until": None})
    recipe = small_recipe("own", lambda scale: [named(rare, data="one")], [])
    asked = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 2)
    asked.train(Store(tmp_path))
    results = asked.results(Store(tmp_path))
    assert results is not None
    (arm,) = results.arms.values()
    assert (arm.final("test/accuracy") > 0.95).all()
    _say_coarse(FoundRun(asked, results, []))
    assert "learned by its first evaluation: evaluate more often" in capsys.readouterr().err
    for metric, goal in (("test/loss", np.inf), ("no/metric", 0.5)):
        assert grid_text([arm], metric, goal) == ""
    assert "learned by its first evaluation" in grid_text([arm], "test/loss", float(arm.final("test/loss").max()) + 1)


def test_check_of_one_recipe_says_what_is_unfinished(tmp_path, capsys):
    """`check tour` said "not run" of a run that was half done; `check` alone said how far it was."""
    store = Store(tmp_path)
    store.require_writable()
    (store.root / "parts").mkdir(exist_ok=True)
    prepare("tour", "laptop", 2, ()).note(store)
    prepare("set-size", "laptop", 2, ()).note(store)
    cli("check", "tour", "--out", tmp_path)
    said = capsys.readouterr().out
    assert "Unfinished: tour-laptop, 0 of 14 members" in said
    assert "set-size" not in said
    cli("check", "--json", "--out", tmp_path)
    document = json.loads(capsys.readouterr().out)
    assert [(each["run"], each["done"], each["members"]) for each in document["others"]] == [
        ("tour-laptop", 0, 14), ("set-size-laptop", 0, document["others"][1]["members"]),
    ]  # fmt: skip
    jsonschema.validate(document, claims_schema())


def test_a_program_that_was_interrupted_did_train_something(tmp_path, parity):
    """`lop.load` said that no Python program had trained anything in the folder."""
    store, stop = Store(tmp_path), threading.Event()

    def early(progress):
        if progress.step >= 1_000:
            stop.set()

    with pytest.raises(Stopped):
        run([parity(steps=4_000)], 2, store, early, Execution(commit_seconds=0.0), stop)
    steps, committed = [], max(Store(tmp_path).survey().half_done.values())
    again = threading.Event()

    def compiling(progress):
        steps.extend(lease.step for lease in Leases(tmp_path).all())
        again.set()

    with pytest.raises(InputError, match=r"2 members of Python programs in .* are not complete"):
        lop.load(tmp_path, recipe=OTHERS)
    with pytest.raises(Stopped):
        run([parity(steps=4_000)], 2, Store(tmp_path), compiling, stop=again)
    assert steps[0] == committed > 0  # `status` had it at step 0


def test_a_loop_that_leaves_its_epochs_early_is_told(recwarn):
    """Four epochs of ten batches each read the first quarter of a run four times, in silence."""
    data = list(range(100))
    view = ld.View(data, ld.Stream(100, ld.AsIs(), total=400), batch=4)
    for n in [*range(100)] * 2:
        view[n]
    assert not recwarn.list
    with pytest.warns(UserWarning, match="begun again and again, and left before half of it was read"):
        view[0]
    for n in range(1, 400):  # once
        view[n]
    assert not recwarn.list
    meant = ld.View(data, ld.Stream(100, ld.AsIs(), total=400), batch=4, epochs=4)
    for n in [*range(100)] * 3:
        meant[n]
    short = ld.View(data, ld.Stream(100, ld.AsIs(), total=400), batch=4)
    with pytest.warns(UserWarning, match="begun again and again"):
        [short[n] for n in [*range(12)] * 5]
    first = ld.View(data, ld.Stream(100, ld.AsIs(), total=400), batch=4)
    for n in [0, 1, 2, 3] * 5:  # the shapes of a first batch, as often as somebody likes
        first[n]
    assert not recwarn.list


def test_verdicts_of_a_changed_recipe_file_are_not_said_to_be_in_the_report(tmp_path, capsys):
    """`check FILE.py` sent its reader to a report that has no claims of recipe files."""
    cli("new", "recipe", tmp_path / "mine.py", "--from", "set-size")
    cli("run", tmp_path / "mine.py", "--scale", "smoke", "--set", "steps=20", "--out", tmp_path / "o")
    capsys.readouterr()
    (run,) = manifest.recorded(Store(tmp_path / "o"))
    laptop = run.model_copy(update={"scale": "laptop"})
    assert where_verdicts_are(laptop, Store(tmp_path / "o")) == "the command that ran it has its verdicts"


def test_neighbours_were_not_changed_by_hand(tmp_path):
    """A twenty-first trial: `check` said "Changed by hand" of settings that a key had drawn."""
    recipe = registered("recipe")["set-size"]
    store = Store(tmp_path)
    store.require_writable()
    (one,) = neighbours(RecipeRun(recipe, "laptop", recipe.specs("laptop"), 6), 1)
    one.note(store)
    (found,) = manifest.recorded(store)
    assert found.drawn
    replace(one, drawn=False).note(store)  # somebody asks for the same by hand
    assert not manifest.recorded(Store(tmp_path))[0].drawn
    one.note(store)
    assert not manifest.recorded(Store(tmp_path))[0].drawn


def test_the_query_of_the_docs_counts_members_as_the_table_does(tmp_path):
    """A twenty-first trial: it counted the first evaluation that is good enough, without the next."""
    text = (ROOT / "docs/extending.md").read_text()
    sql = text[text.index('lopsided query "\n  WITH tested') :].split('"')[1].replace("0.95", "0.7")
    asked = prepare("set-size", "smoke", 3, ("evaluation.every=4", "steps=60"))
    asked.train(Store(tmp_path))
    (run,) = manifest.recorded(Store(tmp_path))
    found = query(Store(tmp_path), run.rows(Store(tmp_path)), sql.replace("set-size-laptop", run.label)).rows
    results = asked.results(Store(tmp_path))
    assert results is not None
    for lr, steps, learned, members in found:
        arms = [arm for arm in results.arms.values() if arm.setting("optimizer.lr") == float(lr)]
        times = np.concatenate([arm.times("test/accuracy", 0.7, "steps").ordinal for arm in arms])
        assert (learned, members) == (np.isfinite(times).sum(), len(times))
        assert steps == np.median(times)
    assert any(learned for _, _, learned, _ in found)


def test_a_claim_that_fits_several_arms_is_refused_before_training():
    arms = {each.name: each for each in (named(spec(0.5), data="small", n=1), named(spec(0.4), data="small", n=2))}
    for reading in (Final({"data": "small"}), Reaches({"data": "small"}, "test/accuracy", 0.9)):
        with pytest.raises(InputError, match=r"one arm has to lie at .*, found .*; give more coordinates"):
            reading.reads(arms)
        assert reading.reads({name: each for name, each in arms.items() if each.coordinates["n"] == 1})


def test_the_change_that_is_suggested_multiplies_where_the_asked_one_does():
    with pytest.raises(InputError, match=r'"power law: skills.alpha\*=2"'):
        overridden("own", {"power law": spec(0.5)}, ["power law:skills.alpha*=2"])


def test_members_that_wait_for_a_place_are_not_in_the_interim_report(tmp_path, capsys):
    """A twenty-fourth trial: where members leave, those that had not begun were "final 0", "never learned"."""
    text = {**PARITY, "task": {"name": "sparse-parity", "d": 8, "k": 4}, "optimizer": {"name": "sgd", "lr": 0.06},
            "plan": {"name": "fixed", "size": 256, "batch": 32}, "steps": 3_000, "until": {"at_least": 0.98},
            "evaluation": {"every": 50, "samples": 64}}  # fmt: skip
    (tmp_path / "spec.json").write_text(Spec.parse(text).model_dump_json())
    asked, out, stop = prepare(str(tmp_path / "spec.json"), "laptop", 150, ()), tmp_path / "o", threading.Event()

    def early(progress):
        if progress.step >= 100:
            stop.set()

    with pytest.raises(Stopped):
        asked.train(Store(out), early, stop, Execution(commit_seconds=0.0, largest_block=8))
    store = Store(out)
    found = so_far(store, "spec", "laptop", asked.arms, asked.seeds, {})
    assert found is not None
    (arm,) = found.arms.values()
    jobs = {**store.survey().jobs_begun, **store.survey().complete}
    rows = read_rows(store, jobs)
    raw = [(seed, rows["step"][rows["seed"] == seed].max()) for seed in np.unique(rows["seed"])]
    assert 0 < len(arm.seeds) <= len(raw) < 150  # the others wait for a place
    assert arm.steps[-1] <= 3_000
    assert set(arm.seeds) <= {seed for seed, _ in raw}
    assert (arm.final("test/accuracy") > 0.3).all()  # nobody has 0 for want of rows
    last = dict(raw)
    stand = [last[seed] for seed in arm.seeds if last[seed] > arm.steps[-1]]
    assert not stand or arm.name.endswith("of 3,000)")
    cli("status", out)
    said = " ".join(capsys.readouterr().out.split())
    assert "150 members are of jobs that are half done, and committed; the same command goes on" in said
