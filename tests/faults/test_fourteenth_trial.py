"""Known faults of earlier trials, mended later; and what the fourteenth to sixteenth newcomer found."""

import io
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import lopsided as lop
import lopsided.data as ld
from lopsided.advising.advice import Goal, _read
from lopsided.claims.deciding import reason_of
from lopsided.cli import report
from lopsided.cli.check import _of_other_specs
from lopsided.cli.new import new
from lopsided.core.arms import arm as named
from lopsided.core.errors import InputError
from lopsided.explore import runs
from lopsided.explore.folder import Folder
from lopsided.explore.pages import live
from lopsided.recipe import Ahead, Own, Statement
from lopsided.report import terminal
from lopsided.stats import race
from lopsided.stats.lost import worse_than_all
from lopsided.stats.seeds_needed import seeds_needed
from lopsided.stats.verdict import Claim, Decision
from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.store.status import folder_status
from lopsided.study import before, manifest
from lopsided.study.checking import found_in
from lopsided.study.file_owner import OwnFile
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.remembered import of_manifest
from lopsided.study.reports import write_report
from lopsided.study.targets import require_no_runs_name
from lopsided.study.until_decided import until_decided
from tests.library.small import small_recipe, spec


@pytest.mark.parametrize("name", ["par-laptop", "par-Smoke", "par-paper-0123abcd"])
def test_a_recipe_is_not_called_like_a_run(tmp_path, name):
    """`lop.load(folder, recipe="par-laptop")` was the run of `par`, or the recipe's."""
    with pytest.raises(InputError, match="what a run is called"):
        require_no_runs_name(name, tmp_path / "mine.py")
    require_no_runs_name(f"{name}s-own", tmp_path / "mine.py")


def test_a_narrow_table_shows_whole_names(monkeypatch):
    names = [f"state-tracking-laptop-and-a-very-long-name-{i}" for i in (1, 2)]
    shown = io.StringIO()
    monkeypatch.setattr(terminal, "_console", lambda: Console(file=shown, width=60))
    terminal.query_table(["run", "arm", "median"], [[name, "frequency = power law", 0.25] for name in names])
    first = [line.split()[0] for line in shown.getvalue().splitlines()[2:] if line.strip()]
    assert all(name in "".join(first) for name in names)


def test_specs_that_an_edit_made_were_not_tested_before(tmp_path, monkeypatch):
    """Two sentences said both: that the specs are others, and that their claims are tested anew."""
    runs, claim = {}, Statement("?", Own("none"), Ahead({"data": "one"}, of={"data": "two"}))
    for rate in (0.25, 0.5):
        specs = {"one": spec(rate)}
        arms = [named(each, data=name) for name, each in specs.items()]
        runs[rate] = RecipeRun(small_recipe("own", lambda scale, arms=arms: arms, [claim]), "laptop", specs, 2, ())
    store = Store(tmp_path)
    store.require_writable()
    runs[0.25].note(store)
    monkeypatch.setattr(manifest, "tested", lambda store, label: 2)
    more = {rate: replace(run, seeds=4) for rate, run in runs.items()}
    assert "tested anew" in before.tested_before(more[0.25], store)
    assert before.tested_before(more[0.5], store) == ""
    assert "its specs are others" in before.replaces(more[0.5], store)


def test_too_few_members_are_not_members_that_are_alike():
    """Three seeds, all apart: "ties", and a measure was asked for in which members differ."""
    few = Decision("difference of medians", "norm", 0.2, (None, None), "inconclusive", 6, "?")
    assert reason_of(few, at_edge=False) == "seeds"
    assert reason_of(few._replace(interval=(0.0, 0.0)), at_edge=False) == "ties"


@pytest.mark.parametrize(
    ("metric", "threshold", "goal"),
    [("test/loss", 0.1, 0.1), ("test/accuracy", 0.9, 0.9), ("test/accuracy", None, 0.95), ("test/loss", None, None)],
)
def test_the_explorer_takes_a_recipe_files_own_goal(tmp_path, metric, threshold, goal):
    """It took 0.95 of the test accuracy."""
    recipe = replace(
        small_recipe("own", lambda scale: [named(spec(0.25), data="one")], []), metric=metric, threshold=threshold
    )
    store = noted(tmp_path, RecipeRun(recipe, "laptop", {"one": spec(0.25)}, 2, file=OwnFile("a" * 16, "b" * 16)))
    found = runs.of_manifest(manifest.recorded(store)[-1])
    assert (found.metric, found.threshold) == (metric, goal)


def noted(folder, *asked):
    """A folder that remembers these runs."""
    store = Store(folder)
    store.require_writable()
    for each in asked:
        each.note(store)
    return store


def own(text, path="f" * 16, name="own", **changes):
    """A run of a recipe file with this digest of its text."""
    recipe = small_recipe(name, lambda scale: [named(spec(0.25), data="one")], [])
    run = RecipeRun(recipe, "laptop", {"one": spec(0.25)}, 2, file=OwnFile(path, text))
    return replace(run, **changes)


def test_another_file_of_that_name_is_refused_at_every_scale_and_change(tmp_path):
    store = noted(tmp_path, own("a" * 16))
    for changes in ({}, {"scale": "smoke"}, {"overrides": ("steps=80",)}):
        own("b" * 16, **changes).require_own_file(store)  # the same file, edited
        own("a" * 16, "e" * 16, **changes).require_own_file(store)  # moved
        for other in (own("b" * 16, "e" * 16, **changes), own("a" * 16, name="Own", **changes)):
            with pytest.raises(InputError, match="another recipe file of that name"):
                other.require_own_file(store)


def test_what_was_changed_of_an_earlier_text_of_a_file_says_so(tmp_path):
    """`mine, steps*=2` stood beside the edited file's runs, as if it were twice their steps."""
    changed = own("a" * 16, overrides=("steps*=2",))
    store = noted(tmp_path, own("a" * 16), changed)
    assert set(manifest.titles(manifest.recorded(store)).values()) == {"own-laptop", "own, steps*=2"}
    os.utime(tmp_path / "runs" / f"{changed.label}.json", (1, 1))
    noted(tmp_path, own("b" * 16))
    names = manifest.titles(manifest.recorded(store))
    assert names == {"own-laptop": "own-laptop", changed.label: "own, steps*=2" + manifest.EDITED}


def test_seeds_that_chose_are_said_where_the_claims_are_not_known(tmp_path, capsys):
    """A folder's report and `lop.load` had those seeds only, without a word."""
    claim = Statement("faster", Own("?"), Ahead({"data": "large"}, of={"data": "small"}))
    arms = [named(spec(0.5), data="large"), named(spec(0.05), data="small")]
    recipe = small_recipe("own", lambda scale: arms, [claim])
    asked, store = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 6), Store(tmp_path)
    until_decided(asked, store, looks=(8,))
    remembered = of_manifest(manifest.recorded(store)[-1])
    found = found_in(remembered, store)
    assert "the first 6 seeds, which chose" in found.judged_by
    assert "the first 6 seeds, which chose" in write_report(store, [found], tmp_path / "all.html").read_text()
    assert len(lop.load(tmp_path, recipe="own")["large"].seeds) == 6
    assert "'own-laptop, looks' has those that judge" in capsys.readouterr().err
    assert len(lop.load(tmp_path, recipe="own-laptop, looks")["large"].seeds) == 8


def test_a_failed_job_that_is_trained_again_is_said_to_be(tmp_path):
    store, member = Store(tmp_path), ("a" * 16, 0)
    store.require_writable()
    lop.run(spec(0.25), seeds=1, out=tmp_path)  # which makes the folders
    leases = Leases(tmp_path)
    leases.record_failure("b" * 16, [member], "its process died")
    assert [(e["attempts"], e["again"]) for e in folder_status(store, {"run": [member]})["failed"]] == [(1, False)]
    with leases.hold(leases.take("b" * 16, [member], 100)):
        assert [e["again"] for e in folder_status(store, {"run": [member]})["failed"]] == [True]


@pytest.mark.parametrize("read", [60, 99, 100])
def test_a_view_that_was_half_read_does_not_begin_again(read):
    """Sixty of a hundred, five times over: annealing began anew each time."""
    view = ld.View(list(range(50)), ld.Stream(50, ld.AsIs(), total=100))
    for _ in range(2):  # somebody looks at the first batch
        [view[n] for n in range(8)]
    [view[n] for n in range(read)]
    with pytest.raises(InputError, match="pass 2 begins"):
        view[0]


def test_a_view_that_goes_on_in_its_second_half_may_repeat_a_position():
    view = ld.View(list(range(50)), ld.Stream(50, ld.AsIs(), total=100))
    for n in (70, 70, 71, 71, 72):
        view[n]


def test_recipes_can_be_named_in_python():
    assert lop.recipes.tour.recipe.name == "tour"
    with pytest.raises(AttributeError, match="Did you mean 'tour'"):
        lop.recipes.tuor  # noqa: B018


@pytest.mark.parametrize(
    ("column", "unit"), [("samples", "samples"), ("global_step", "steps"), ("epoch", "epochs"), ("tokens", "tokens")]
)
def test_a_unit_is_called_as_the_column_that_counts(tmp_path, column, unit):
    """ "fewer steps", whatever counted."""
    for arm, factor in (("slow", 2), ("fast", 1)):
        for seed in range(6):
            rows = "\n".join(f"{n * factor},{4 - n - 0.01 * seed}" for n in range(4))
            (tmp_path / f"{arm}-{seed}.csv").write_text(f"{column},loss\n{rows}\n")
    runs = lop.read(tmp_path, arm="{arm}-{seed}.csv", seed="{arm}-{seed}.csv", step=column)
    said = str(runs.compare("slow", "fast", "loss").faster(at=2.0))
    assert f"in fewer {unit} than slow" in said


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
def test_a_shape_that_crashes_is_not_recommended(share):
    """A fifteenth trial: of 32 runs 24 crashed, and the answer was "use d": a crash counted as the worst score of both
    arms, which lay a hair below the baseline's."""
    scores = np.random.default_rng(0).normal([[0.5], [0.6]], 0.001, (2, 32))
    scores[1, : int(share * 32)] = -np.inf
    found = race.better(scores[0], scores[1])
    assert found.verdict == ("inconclusive" if share == 0.5 else "contradicted")
    assert found.reason == "diverged"


@given(st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=1), st.booleans())
def test_a_lost_run_outweighs_what_another_gains(values, falling):
    (found,) = worse_than_all([np.array(values)], falling)
    known = np.array(values)[np.isfinite(values)]
    lost = found[~np.isfinite(values)]
    if known.size and lost.size:
        sign = -1 if falling else 1
        assert (sign * lost < (sign * known).min()).all()
        assert (np.abs(lost[:, None] - known).min(1) >= np.ptp(known) * (1 - 1e-9)).all()


def test_a_score_that_is_no_number_counts_once_the_program_has_worked(tmp_path):
    """`None` on one late seed ended the whole race."""

    def train(shape, seed):
        return None if seed == 7 and shape == "two" else {"one": 0.0, "two": 1.0}[shape] + 0.001 * seed

    heard = []
    found = lop.advise(train, {"one": "one", "two": "two"}, baselines=("one",), told=heard.append)
    assert any("score None is no number; it counts as the worst" in line for line in heard)
    assert dict(found.advice.failed) == {"two": 1}
    with pytest.raises(InputError, match="no number to compare"):
        lop.advise(lambda shape, seed: None, {"one": 1, "two": 2}, baselines=("one",))


def test_a_race_of_specs_says_which_diverged(tmp_path):
    """Accuracies of members that diverged are 0, and the answer was that all shapes score alike."""
    store = Store(tmp_path)
    arms = {"gone": spec(0.5).replace({"optimizer.lr": 1e6, "loss": "square", "until": None, "steps": 40})}
    lop.run(arms, seeds=2, out=store)
    assert lop.load(arms, 2, store)["gone"].diverged.all()
    assert (_read(arms, (0, 1), store, Goal("test/accuracy"))["gone"] == -np.inf).all()


def test_the_live_view_names_runs_and_counts_idle_workers(tmp_path):
    """It gave a digest, and said that workers wait that were busy."""
    changed = own("a" * 16, overrides=("steps*=2",))
    noted(tmp_path, changed)
    folder = Folder(tmp_path)
    folder._read_manifests()
    row = dict.fromkeys(("members", "done", "running", "stale", "failed", "waiting"), 1)
    workers = [{"idle": False}, {"idle": True}]
    folder.status = {"runs": [{"run": changed.label, **row, "seconds_left": None}], "running": [], "failed": [],
                     "stale": [], "damaged": [], "workers": workers}  # fmt: skip
    shown = str(live._tables(folder))
    folder.close()
    assert "own, steps*=2" in shown
    assert "2 workers, 1 of them idle." in shown


def test_a_new_recipe_is_not_called_like_one_of_this_package(tmp_path):
    with pytest.raises(InputError, match="this package has a recipe 'tour'"):
        new("recipe", tmp_path / "tour.py", from_="state-tracking")


def test_check_says_that_a_folders_run_has_other_specs(tmp_path):
    """ "not run", of a file that had run and was edited since."""
    arms = {"one": spec(0.25)}
    recipe = small_recipe("own", lambda scale: [named(spec(0.25), data="one")], [])
    noted(tmp_path, RecipeRun(recipe, "laptop", arms, 2))
    manifests = manifest.recorded(Store(tmp_path))
    assert _of_other_specs(recipe, manifests) == ""
    edited = small_recipe("own", lambda scale: [named(spec(0.5), data="one")], [])
    assert (
        _of_other_specs(edited, manifests) == "own: own-laptop of this folder has other specs than the recipe has now"
    )


def test_two_files_of_one_name_that_begin_at_once_are_told_apart(tmp_path):
    """A sixteenth trial: both had found no run of the other, and one report replaced the other's."""
    first, other = own("a" * 16), own("b" * 16, "e" * 16)
    store = noted(tmp_path)
    for each in (first, other):
        each.require_own_file(store)  # what both see before either writes
    first.note(store)
    with pytest.raises(InputError, match="another recipe file of that name"):
        other.note(store)
    assert [each.text for each in manifest.recorded(store)] == ["a" * 16]


def test_no_seeds_mend_evaluations_that_lie_too_far_apart():
    few = Decision("ratio", "steps", 1.2, (0.9, 1.5), "inconclusive", 96, "?", p_value=0.1)
    claim = Claim.of("?", few)
    assert seeds_needed(claim, 48) is not None
    assert seeds_needed(replace(claim, reason="grid"), 48) is None


def test_a_folders_report_does_not_replace_a_runs_own_page(tmp_path, monkeypatch):
    """One without claims took the place of one with them, also where the folder has a single run."""
    arms = {"one": spec(0.25)}
    recipe = small_recipe("own", lambda scale: [named(arms["one"], data="one")], [])
    RecipeRun(recipe, "laptop", arms, 2).train(Store(tmp_path))
    for page in (tmp_path / "reports" / "own-laptop" / "index.html", Path("reports/own-laptop/other.html")):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match="a run has its own page"):
            report(tmp_path, output=page)
    report(tmp_path, output=tmp_path / "own-laptop" / "index.html")  # elsewhere, whatever the folder is called
