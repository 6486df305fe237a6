"""What a ninth newcomer found, with the pages alone."""

import json
import shlex
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import lopsided as lop
import lopsided.data as ld
from lopsided.cli import main
from lopsided.core.arms import arm
from lopsided.core.errors import InputError
from lopsided.explore import selection
from lopsided.explore.curves import pooled
from lopsided.explore.folder import Folder
from lopsided.store.parts import Store
from lopsided.study.before import replaces
from lopsided.study.manifest import recorded
from lopsided.study.others import OTHERS, arm_rows
from lopsided.study.recipe_run import RecipeRun
from tests.library.small import small_recipe, spec


def test_reports_before_the_first_batch_are_heard():
    """Evaluating before training ended the program, and left a log that no state could be loaded from."""
    sampler = ld.SelfAnneal(ld.Groups([*"aab"] * 40), total=400, batch=10)
    for _ in range(30):
        sampler.follow(sampler.report(1.0))
    assert sampler.exponent < 1.5
    other = ld.SelfAnneal(ld.Groups([*"aab"] * 40), total=400, batch=10)
    other.load_state_dict(sampler.state_dict())
    assert list(other) == list(sampler)


@pytest.mark.parametrize("seed", range(4))
def test_a_skill_that_is_switched_off_comes_no_more(seed):
    """One that was just due came once more, by rounding, and its time was 0 times infinity."""
    stream = ld.Stream(ld.Groups([*"abc"] * 3), ld.Uniform(), 400, seed=seed)
    for at in range(1, 300):
        changed = stream.then(ld.Weights({"a": 1}), at=at).at(np.arange(at, at + 8))
        assert set(changed % 3) == {0}, at
    large = ld.Stream(ld.Groups(np.arange(5000) % 5), ld.Uniform(), 9000, seed=seed)
    for at in range(1, 3000, 97):
        off = large.then(ld.Weights([0.5, 0, 0, 0.5, 0]), at=at).at(np.arange(at, at + 200)) % 5
        assert set(off) == {0, 3}, at


def written(folder, arms):
    """Logs: {arm: [[(step, value), ...] of each seed]} of a metric that no name explains."""
    for name, seeds in arms.items():
        for seed, rows in enumerate(seeds):
            file = folder / name / f"seed_{seed}" / "m.csv"
            file.parent.mkdir(parents=True)
            file.write_text("step,verlust\n" + "\n".join(f"{step},{value}" for step, value in rows))
    return folder


def moving(slope, seeds, spread=0.01):
    random = np.random.default_rng(abs(int(slope * 100)))
    return [[(t, 4 + slope * t / 1000 + random.normal(0, spread)) for t in range(0, 1001, 100)] for _ in range(seeds)]


def read(folder, **more):
    return lop.read(folder, "{arm}/seed_{seed}/m.csv", **more)


def test_an_arm_that_fails_does_not_turn_the_direction(tmp_path):
    """A loss of no known name that rose was "at least 3.5: holds", beside arms of which it was "at most"."""
    logs = written(tmp_path, {"good": moving(-2, 8), "mid": moving(-1, 8), "bad": moving(2, 8)})
    with pytest.raises(InputError, match="say it"):
        read(logs).reaches("bad", "verlust", 3.5)
    told = read(logs, falling=True)
    assert "at most" in told.reaches("bad", "verlust", 3.5).claim.claim
    assert told.reaches("bad", "verlust", 3.5).verdict == "contradicted"


def test_a_plan_says_what_a_comparison_says_and_keeps_its_direction(tmp_path):
    runs = moving(1, 8, 0.3)
    logs = written(tmp_path / "logs", {"base": [*runs, runs[6]], "mine": moving(1.5, 8, 0.3)})
    plan = lop.looks(tmp_path / "p.json", baseline="base", candidate="mine", metric="verlust", runs=(8, 16))
    plain = read(logs).compare("base", "mine", "verlust").better()
    found = plan.judge(read(logs))
    said = [note for note in plain.notes if "same as another" in note or "rises in these" in note]
    assert len(said) == 2
    assert set(said) <= set(found.notes)
    again = lop.looks(tmp_path / "p.json", baseline="base", candidate="mine", metric="verlust", runs=(8, 16))
    assert set(said) <= set(again.judge(read(logs)).notes)
    with pytest.raises(InputError, match="falling False, not True"):
        again.judge(read(logs, falling=True))


def test_a_forecast_over_a_gap_says_that_it_knows_less():
    """Half of the runs had learned by 900; nobody had evaluated them between 500 and 1,300."""
    steps, done = np.array([100, 500, 1300, 1700, 2100]), np.linspace(520, 1250, 12)
    others = lop.Curves("m", steps, 1.0 * (steps >= done[:, None]), "steps")
    found = lop.forecast(others, at=0.9, now=900)
    assert (found.alike, found.unclear, found.advice) == (0, 12, "unknown")
    known = lop.forecast(others, at=0.9, now=500)
    assert (known.alike, known.unclear) == (12, 0)
    assert (known.low, known.high) == (500, 1300)  # the evaluations before and after


def test_a_recipe_whose_arm_was_edited_says_so(tmp_path):
    """Run and page were replaced without a word where one spec had stayed."""
    specs = {"a": spec(0.5), "b": spec(0.5, 256)}
    recipe = small_recipe("edited", lambda scale: (arm(each, data=name) for name, each in specs.items()), [])
    asked = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 2)
    store = Store(tmp_path)
    asked.note(store)
    assert replaces(asked, store) == ""
    changed = replace(asked, arms={**asked.arms, "b": spec(0.5, 64)})
    assert "'b' has other specs than before" in replaces(changed, store)


def test_a_cell_of_several_settings_says_over_what_it_is():
    at = [{"lr": lr, "k": k} for lr in (0.1, 1) for k in (1, 2)]
    drawn = [SimpleNamespace(arm=SimpleNamespace(at=each)) for each in at]
    assert pooled(drawn, "lr", "") == ["k"]
    assert pooled(drawn, "lr", "k") == []
    assert pooled(drawn[:1] + drawn[3:], "lr", "") == []  # one k in each cell: nothing is mixed


def test_seeds_that_a_program_adds_to_a_runs_own_specs_are_shown(tmp_path, capsys):
    """They belonged to nothing: `status` left them out, and `load` said that no program had trained anything."""
    recipe = small_recipe("added", lambda scale: [arm(spec(0.5), data="a")], [])
    RecipeRun(recipe, "laptop", recipe.specs("laptop"), 2).train(Store(tmp_path))
    lop.run(spec(0.5), seeds=range(100, 103), out=tmp_path)
    with pytest.raises(SystemExit):
        main(["status", str(tmp_path), "--json"])
    rows = {row["run"]: row["members"] for row in json.loads(capsys.readouterr().out)["runs"]}
    assert rows == {"added-laptop": 2, OTHERS: 3}
    (found,) = lop.load(tmp_path, recipe=OTHERS).arms.values()
    assert found.seeds == (100, 101, 102)
    store = Store(tmp_path)
    (row,) = arm_rows(store, recorded(store))
    assert [row.has(seed) for seed in (0, 1, 99, 100, 102, 103)] == [False, False, False, True, True, False]


def test_the_explorer_draws_seeds_that_a_program_added(tmp_path, capsys):
    """A tenth trial: they were in `status` and `load`, and in no picture."""
    recipe = small_recipe("added", lambda scale: [arm(spec(0.5), data="a")], [])
    RecipeRun(recipe, "laptop", recipe.specs("laptop"), 2).train(Store(tmp_path))
    lop.run(spec(0.5), seeds=[100, 101, 102, 200], out=tmp_path)  # two stretches: rows came once for each
    lop.run(spec(0.25), seeds=2, out=tmp_path)
    folder = Folder(tmp_path)
    folder.mirror.refresh()
    folder.start()
    run = folder.runs[OTHERS]
    chosen = selection.choose(run, "test/accuracy", {})
    drawn = {each.arm.digest: each.seeds.tolist() for each in folder.reader.curves(chosen.arms, "test/accuracy")}
    assert sorted(drawn.values()) == [[0, 1], [100, 101, 102, 200]]
    lines = selection.csv(folder.mirror, chosen).splitlines()
    with pytest.raises(SystemExit):
        main([*shlex.split(selection.command(chosen, tmp_path))[1:], "--json"])
    asked = json.loads(capsys.readouterr().out)
    assert len(asked["rows"]) == len(lines) - 1
    folder.close()
