"""What the eighteenth newcomer found."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import lopsided as lop
from lopsided.advising.advice import Goal
from lopsided.advising.advice import advise as advise_spec
from lopsided.claims.deciding import reason_of
from lopsided.cli import main, report
from lopsided.cli.other_runs import where_verdicts_are
from lopsided.core.arms import arm as named
from lopsided.core.arms import swept
from lopsided.core.errors import InputError
from lopsided.recipe import Ahead, Own, Statement
from lopsided.report.page_file import require_page
from lopsided.report.words import coarse_text
from lopsided.results.grid import grid_text
from lopsided.stats.bounded import on_a_grid
from lopsided.stats.verdict import Claim, Decision
from lopsided.store.parts import Store
from lopsided.store.tables import query
from lopsided.study import manifest
from lopsided.study.overrides import overridden
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.targets import find, require_no_runs_name
from tests.library.small import small_recipe, spec


def test_a_sweep_made_in_a_loop_is_refused():
    """Rates that were added at its end had the specs of the loop's last arm, under the name of another."""

    def late(scale):
        for size in (None, 64):
            yield from swept(lambda lr: spec(lr, size), {"lr": (0.1, 0.3)}, size=size or 0)  # noqa: B023

    def bound(scale):
        for size in (None, 64):
            yield from swept(partial(spec, size=size), {"lr": (0.1, 0.3)}, size=size or 0)

    with pytest.raises(InputError, match=r"sweep of 'size = 0, lr = 0.1' makes another spec.*functools\.partial"):
        small_recipe("own", late, []).specs("laptop")
    assert len(small_recipe("own", bound, []).specs("laptop")) == 4


def test_files_beside_a_new_page_are_not_replaced(tmp_path):
    page, beside = tmp_path / "all.html", tmp_path / "all-files/num-smoke"
    beside.mkdir(parents=True)
    require_page(page, tmp_path)
    (beside / "figure.png").write_text("mine")
    with pytest.raises(InputError, match="has files already"):
        require_page(page, tmp_path)


def test_a_recipe_is_not_called_like_a_specs_run_or_a_builtin_in_capitals(tmp_path):
    with pytest.raises(InputError, match="what the run of a spec is called"):
        require_no_runs_name("spec-spec-464c75c1", tmp_path / "mine.py")
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from tests.library.small import small_recipe\nrecipe = small_recipe('Tour', lambda scale: [], [])\n"
    )
    with pytest.raises(InputError, match="a recipe of this package is called"):
        find(str(mine))


def test_two_processes_do_not_race_into_one_file(tmp_path):
    """Both answered, each by scores of its own."""
    scores, said = tmp_path / "scores.jsonl", []

    def train(shape, seed):
        if not said:
            with pytest.raises(InputError) as error:
                lop.advise(lambda shape, seed: 0.0, {"one": 1, "two": 2}, "one", out=scores, told=None)
            said.append(str(error.value))
        return {1: 0.0, 2: 1.0}[shape] + seed % 3

    assert lop.advise(train, {"one": 1, "two": 2}, "one", out=scores, told=None).outcome == "use"
    assert "another process is racing" in said[0]
    assert lop.advise(train, {"one": 1, "two": 2}, "one", out=scores, told=None).outcome == "use"  # it has ended


def race_of(failing, told=lambda line: None, **more):
    """A race in which these runs (shape, seed) raise an error."""

    def train(shape, seed):
        if (shape, seed) in failing:
            raise ValueError("oom")
        return {"one": 0.0, "two": 1.0}[shape] + 0.1 * (seed % 3)

    return lop.advise(train, {"one": "one", "two": "two"}, "one", told=told, **more)


def test_an_error_of_the_first_run_counts_as_the_worst_once_another_has_a_score(tmp_path):
    heard = []
    assert dict(race_of({("one", 0)}, heard.append).advice.failed) == {"one": 1}
    assert any("the next run shows whether the program works" in line for line in heard)
    with pytest.raises(ValueError, match="oom"):
        race_of({(shape, seed) for shape in ("one", "two") for seed in range(99)})


def test_an_error_before_any_score_is_tried_again(tmp_path):
    """With the program mended, a file of scores would have had it as the worst for ever."""
    scores, fail = tmp_path / "scores.jsonl", [True]

    def train(shape, seed):
        if fail:
            raise ValueError("oom")
        return {"one": 0.0, "two": 1.0}[shape] + 0.1 * (seed % 3)

    shapes = {"one": "one", "two": "two"}
    with pytest.raises(ValueError, match="oom"):
        lop.advise(train, shapes, "one", out=scores, told=None)
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    assert not [row for row in rows if "score" in row]


def test_the_whole_of_an_error_that_counts_is_shown_if_asked():
    heard = []
    race_of({("two", 1)}, heard.append, traceback=True)
    assert any('raise ValueError("oom")' in line for line in heard)


@pytest.mark.slow
def test_what_a_program_prints_at_its_end_is_not_in_the_json(tmp_path):
    program = tmp_path / "loop.py"
    program.write_text(
        "import atexit\natexit.register(lambda: print('bye'))\nshapes = {'uniform': 0, 'b': 1}\n"
        "def train(shape, seed):\n    return shape + seed % 3\n"
    )
    command = [sys.executable, "-m", "lopsided", "advise", str(program), "--out", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["outcome"] == "use"
    assert "bye" in done.stderr


FEW = Decision("within-seed ratio of", "steps", 1.1, (0.9, 1.4), "inconclusive", 16, "?", p_value=0.3)


@pytest.mark.parametrize(
    ("apart", "reason"), [(0.0, "seeds"), (0.2, "seeds"), (0.3, "grid"), (1.0, "grid")], ids=lambda each: str(each)
)
def test_an_interval_within_two_evaluations_is_open_for_the_grid(apart, reason):
    """ "seeds", and "more than 1,000 of them", where an arm learned by its first evaluation."""
    assert reason_of(on_a_grid(FEW, apart), at_edge=False) == reason


def test_evaluations_further_apart_than_a_tenth_are_said():
    claim = Claim.of("?", FEW)
    assert coarse_text(replace(claim, coarseness=0.1)) == ""
    assert "17% of the time to learn apart" in coarse_text(replace(claim, coarseness=0.167))


@pytest.mark.slow
def test_a_run_says_that_its_evaluations_lie_too_far_apart(tmp_path, capsys):
    """`lop.run` and a run of a spec said nothing where every member learned by the first evaluation."""
    often = spec(0.5).replace({"evaluation.every": 2})
    rare = often.replace({"evaluation.every": 300})
    found = lop.run({"often": often, "rare": rare}, seeds=4, out=tmp_path)
    assert (
        "'rare' reached its goal at the last evaluation alone: train longer, or evaluate more often"
        in capsys.readouterr().err
    )
    assert grid_text([found["often"]]) == ""
    half = lop.run(often.replace({"evaluation.every": 12}), seeds=4, out=tmp_path)
    assert "of the time to learn apart: evaluate more often" in grid_text(half.arms.values())


def test_a_claim_that_lacks_evaluations_says_so(tmp_path, capsys):
    """ "not run", without a reason, after everything had been trained."""
    claim = Statement("faster", Own("?"), Ahead({"data": "one"}, of={"data": "two"}))
    arms = [
        named(spec(rate).replace({"evaluation.every": 300}), data=name) for name, rate in (("one", 0.5), ("two", 0.1))
    ]
    recipe = small_recipe("own", lambda scale: arms, [claim])
    run = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 2, ("evaluation.every=300",))
    run.train(Store(tmp_path))
    claims = run.claims(run.results(Store(tmp_path)))
    if claims[0].verdict == "not run":
        assert "evaluations of every arm or more" in capsys.readouterr().err


def test_check_promises_no_verdicts_of_a_spec(tmp_path):
    store = Store(tmp_path)
    store.require_writable()
    lop.run(spec(0.25), seeds=1, out=tmp_path)
    RecipeRun(small_recipe("spec-a-01234567", lambda scale: [named(spec(0.25), data="one")], []), "laptop",
              {"one": spec(0.25)}, 2, ("steps=80",)).note(store)  # fmt: skip
    (found,) = manifest.recorded(store)
    assert where_verdicts_are(found, store) == "a spec, which makes no claims"


@pytest.mark.slow
def test_a_race_of_specs_counts_all_runs_and_says_which_diverged(tmp_path):
    wild = spec(0.5).replace({"loss": "square", "until": None, "steps": 40, "evaluation.every": 4})
    found = advise_spec(wild, Store(tmp_path), Goal("test/accuracy", 0.9), rates=(1.0, 1e6))
    members = len(Store(tmp_path).complete())
    assert found.advice.runs == members
    assert sum(n for name, n in found.advice.failed.items() if "rate x 1e+06" in name) > 0
    assert np.isfinite(found.seconds)


def test_members_say_what_was_changed(tmp_path):
    """A nineteenth trial: of the two tables that tell runs apart only `arms` did."""
    store = Store(tmp_path)
    asked = RecipeRun(
        small_recipe("own", lambda scale: [named(spec(0.25), data="one")], []), "laptop", {"one": spec(0.25)}, 2
    )
    changed = replace(asked, arms={"one": spec(0.25)}, overrides=("steps=300",))
    for each in (asked, changed):
        each.train(store)
    arms = [row for found in manifest.recorded(store) for row in found.rows(store)]
    (row, *_) = query(store.as_of_now(), arms, "SELECT runs, changes FROM members ORDER BY seed").rows
    assert dict(zip(*row, strict=True)) == {"own-laptop": "", changed.label: "steps=300"}


def test_python_does_not_ask_for_seeds_that_cannot_help(tmp_path):
    """`check` said that evaluations lie too far apart; `compare` of the same rows asked for 27 runs of each side."""
    arms = {name: spec(rate).replace({"evaluation.every": 60}) for name, rate in (("slow", 0.3), ("fast", 0.5))}
    said = str(lop.run(arms, seeds=8, out=tmp_path).compare("slow", "fast").faster(at=0.9))
    assert "runs of each side would" not in said
    assert "evaluat" in said


def test_an_error_at_import_has_its_place_and_traceback(tmp_path, capsys):
    (tmp_path / "boom_helper.py").write_text("raise ValueError('at import')\n")
    (tmp_path / "user.py").write_text("import boom_helper\n")
    for words, shown in (([], "--traceback shows"), (["--traceback"], "Traceback")):
        with pytest.raises(SystemExit):
            main(["run", str(tmp_path / "user.py"), "--out", str(tmp_path / "out"), *words])
        said = capsys.readouterr().err
        assert "boom_helper.py', line 1" in said
        assert shown in said


def test_a_recipe_of_this_package_names_its_run(tmp_path):
    with pytest.raises(InputError, match=r"no store there|has no run 'tour'"):
        lop.load(tmp_path, recipe=lop.recipes.tour)


def test_a_value_that_an_arm_cannot_have_names_the_arm():
    with pytest.raises(InputError, match=r"at most steps = 10.*arm 'one'"):
        overridden("own", {"one": spec(0.25)}, ["steps=10"])
    with pytest.raises(InputError, match=r"arm 'one'"):
        overridden("own", {"one": spec(0.25), "two": spec(0.5)}, ["one: optimizer.lr=-1"])


def test_a_run_of_which_nothing_is_committed_is_said_to_be_left_out(tmp_path, capsys):
    done = RecipeRun(small_recipe("own", lambda scale: [named(spec(0.25), data="one")], []), "laptop",
                     {"one": spec(0.25)}, 2)  # fmt: skip
    done.train(Store(tmp_path))
    replace(done, arms={"one": spec(0.3)}, overrides=("optimizer.lr=0.3",)).note(Store(tmp_path))
    report(tmp_path, output=tmp_path / "all.html")
    assert "own, lr=0.3: left out (no evaluation of it is committed yet" in capsys.readouterr().err
