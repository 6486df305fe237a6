"""Known faults of earlier trials, mended later; and what a thirteenth newcomer found."""

import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import lopsided as lop
import lopsided.data as ld
from lopsided.core.arms import arm as named
from lopsided.core.arms import swept
from lopsided.core.errors import InputError, StoreError
from lopsided.recipe import Ahead, Own, Statement
from lopsided.store.parts import Store
from lopsided.study.checking import found_in
from lopsided.study.manifest import recorded
from lopsided.study.recipe_run import RecipeRun, prepare
from lopsided.study.remembered import of_manifest
from lopsided.study.until_decided import _written as plan_of_looks
from lopsided.study.until_decided import looked, until_decided
from tests.library.small import small_recipe, spec


def test_a_folder_judges_a_recipe_files_run_by_its_own_goal(tmp_path):
    """A report of the folder took 0.95 of the test accuracy, whatever the recipe had called learned."""
    specs = {"slow": spec(0.25)}
    arms = [named(each, data=name) for name, each in specs.items()]
    store = Store(tmp_path)
    store.require_writable()
    for metric, threshold in (("train/loss", None), ("test/accuracy", 0.7), ("test/accuracy", None)):
        recipe = replace(small_recipe("own", lambda scale: arms, []), metric=metric, threshold=threshold)
        RecipeRun(recipe, "laptop", specs, 2, ()).note(store)
        again = of_manifest(recorded(store)[-1]).recipe
        assert (again.metric, again.goal) == (recipe.metric, recipe.goal)


@pytest.mark.slow
def test_a_plan_whose_choosing_rows_are_gone_trains_them_again(tmp_path, capsys):
    """It was a traceback (`KeyError`) where an arm of a later round was gone, also of `check`."""
    claims = [Statement("the large rate is faster", Own("?"), Ahead({"lr": 0.5}, of={"lr": 0.05}))]
    recipe = small_recipe("gone", lambda scale: swept(spec, {"lr": (0.05, 0.5)}, data="fresh"), claims)
    asked = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 6)
    before, _ = until_decided(asked, Store(tmp_path), looks=(8,))
    for part in (tmp_path / "parts").iterdir():
        shutil.rmtree(part)
    (tmp_path / "index.jsonl").unlink(missing_ok=True)
    with pytest.raises(StoreError, match="are gone"):
        looked(asked, Store(tmp_path))
    again, done = until_decided(asked, Store(tmp_path))
    assert again.claims == before.claims
    arms = asked.grown(Store(tmp_path))[0].arms
    assert len(arms) > 2  # the sweep has a round
    assert done.trained == 6 * len(arms) + sum(before.judged.values())
    assert "trained again" in capsys.readouterr().err


def write(file, columns):
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = zip(*columns.values(), strict=True)
    file.write_text("\n".join([",".join(columns), *(",".join(map(str, line)) for line in lines)]) + "\n")


STEPS = np.arange(0, 1001, 100)


def test_a_metric_of_a_stuck_run_is_no_setting_of_it(tmp_path):
    """Runs that learned were an arm, and "certainly better" than the arm of those that did not (p = 0.0002)."""
    for arm in ("base", "cand"):
        for seed in range(6):
            stuck = seed % 2
            accuracy = np.zeros(len(STEPS)) if stuck else np.linspace(0, 1, len(STEPS))
            write(tmp_path / arm / f"{seed}.csv", {"step": STEPS, "loss": 2 - accuracy + seed, "accuracy": accuracy})
    assert {name: len(runs) for name, runs in lop.read(tmp_path).arms.items()} == {"base": 6, "cand": 6}


def test_measurements_of_runs_that_were_evaluated_once_are_no_settings(tmp_path):
    for seed in range(8):
        write(tmp_path / f"{seed}.csv", {"step": [100], "accuracy": [seed / 7]})
    assert list(lop.read(tmp_path).arms) == ["all"]
    for seed in range(8):
        write(tmp_path / f"{seed}.csv", {"step": [100], "accuracy": [seed / 7], "lr": [0.1 * (seed % 2)]})
    assert list(lop.read(tmp_path).arms) == ["lr = 0.0", "lr = 0.1"]


def test_folders_of_one_name_are_not_pooled(tmp_path):
    """Two experiments of equal arms, 16 runs against 4 and 4 against 16, made one "contradicted" at 0.43."""
    for model in ("small", "large"):
        for arm in ("adamw", "muon"):
            for seed in range(3):
                write(tmp_path / model / arm / f"{seed}.csv", {"step": STEPS, "loss": 2 - STEPS / 1000})
    assert sorted(lop.read(tmp_path).arms) == ["large/adamw", "large/muon", "small/adamw", "small/muon"]
    assert lop.read(tmp_path).notes[-1] == "12 files: steps from 'step'"
    assert sorted(lop.read(tmp_path / "small").arms) == ["adamw", "muon"]


def test_numbers_that_stay_do_not_overrule_folders(tmp_path):
    for arm in ("base", "cand"):
        for seed in range(4):
            write(tmp_path / arm / f"{seed}.csv", {"step": STEPS, "loss": 2 - STEPS / 1e3, "restarts": [seed % 2] * 11})
    runs = lop.read(tmp_path)
    assert sorted(runs.arms) == ["base", "cand"]
    assert any("2 values of restarts" in note for note in runs.notes)


@pytest.mark.parametrize(("names", "arms"), [(("seed_0/adamw", "seed_1/adamw", "seed_0/muon"), ["adamw", "muon"])])
def test_folders_that_number_runs_are_no_part_of_an_arm(tmp_path, names, arms):
    for name in names:
        write(tmp_path / name / "metrics.csv", {"step": STEPS, "loss": 2 - STEPS / 1000})
    assert sorted(lop.read(tmp_path).arms) == arms


def test_nan_that_comes_again_and_again_is_not_divergence(tmp_path):
    """One more training row at the end of each log made eight equal runs diverge."""
    for arm, rows in (("base", 201), ("cand", 202)):
        for seed in range(6):
            steps = np.arange(0, rows * 10, 10)
            value = np.where(steps % 100 == 0, 2 - steps / 2000 + seed / 50, np.nan)
            write(tmp_path / arm / f"{seed}.csv", {"step": steps, "loss": value})
    runs = lop.read(tmp_path)
    for arm in runs.arms:
        assert not any(track.diverged for track in runs.curves(arm, "loss").tracks)
    for seed in range(6):  # longer than ever between two values, or infinite: it diverged
        value = np.where(STEPS % 200 == 0, 2 - STEPS / 2000, np.nan)
        value[-3:] = np.nan if seed % 2 else [1.0, 1.0, np.inf]
        write(tmp_path / "gone" / f"{seed}.csv", {"step": STEPS, "loss": value})
    assert all(track.diverged for track in lop.read(tmp_path / "gone").curves("all", "loss").tracks)


def accuracy(time, steps):
    return 1 / (1 + (np.maximum(steps, 1e-9) / time) ** -20)


def test_a_factor_between_two_evaluations_is_not_contradicted():
    """Twice as fast, by evaluations four times as far apart as the faster arm needs: "contradicted" at 1.5."""
    steps, random = np.arange(0, 4001, 400.0), np.random.default_rng(2)
    arms = [np.stack([accuracy(t * np.exp(0.04 * random.normal()), steps) for _ in range(12)]) for t in (200, 100)]
    said = lop.compare(*arms, steps, metric="accuracy").faster(at=0.5, at_least=1.5)
    assert (said.verdict, said.claim.reason) == ("inconclusive", "grid")
    fine = np.arange(0, 401, 10.0)
    arms = [np.stack([accuracy(t * np.exp(0.04 * random.normal()), fine) for _ in range(12)]) for t in (200, 100)]
    assert lop.compare(*arms, fine, metric="accuracy").faster(at=0.5, at_least=1.5).verdict == "holds"


def test_a_ratio_of_pairs_that_never_got_there_says_what_it_is_of():
    steps, random = np.arange(0, 2001, 50.0), np.random.default_rng(1)
    times = [600 * np.exp(0.15 * random.normal(size=12)) for _ in range(2)]
    times[0][:3] *= 50
    arms = [np.stack([accuracy(t, steps) for t in each]) for each in times]
    said = lop.compare(*arms, steps, metric="accuracy", paired=True).faster(at=0.5)
    assert any("in 3 of 12 pairs a run never got there" in note for note in said.notes)
    whole = lop.compare(arms[0][3:], arms[1][3:], steps, metric="accuracy", paired=True).faster(at=0.5)
    assert not any("never got there" in note for note in whole.notes)


def test_runs_that_ended_at_once_do_not_say_how_often_others_are_evaluated():
    """Half of a side stopped at step 0: "baseline is evaluated 2 times as often", and a warning of NumPy's."""
    steps, random = np.arange(0, 2001, 50.0), np.random.default_rng(1)
    arms = [np.stack([accuracy(t * np.exp(0.1 * random.normal()), steps) for _ in range(12)]) for t in (600, 200)]
    arms[1][:6, 1:] = np.nan
    said = lop.compare(*arms, steps, metric="accuracy").faster(at=0.9)
    assert not any("times as often" in note for note in said.notes)


def test_a_clock_that_went_on_in_a_pause_is_said(tmp_path):
    for arm, pause in (("base", 0), ("cand", 36_000)):
        for seed in range(4):
            clock = np.arange(11) * 60.0 + np.where(np.arange(11) > 5, pause, 0)
            write(tmp_path / arm / f"{seed}.csv", {"step": STEPS, "loss": 2 - STEPS / 1000, "seconds": clock})
    runs = lop.read(tmp_path)
    assert any("4 of 4 runs paused" in note for note in runs.curves("cand", "loss", "seconds").notes)
    assert not runs.curves("base", "loss", "seconds").notes
    assert not runs.curves("cand", "loss").notes


def test_copies_do_not_count_as_runs_that_diverged(tmp_path):
    for seed in range(6):
        value = 2 - STEPS / 1000 + seed % 3
        value[8:] = np.nan if seed % 3 == 0 else value[8:]
        write(tmp_path / f"{seed}.csv", {"step": STEPS, "loss": value})
    assert any("1 of 3 runs diverged" in note for note in lop.read(tmp_path).observed("all", "loss").notes)


RECIPE = """
from lopsided.recipe import Figure, Recipe, arm
from tests.library.small import spec
recipe = Recipe(name="moved", paper="ours", figure_number="none", question="?", about="x", scales={"laptop": (2, 1)},
    arms=lambda scale: [arm(spec(0.5), data="a")], figure=lambda r: Figure("x", []), claims=[])
"""


def test_a_project_that_was_moved_goes_on(tmp_path):
    """Its recipe's file is the same, at another path."""
    store = Store(tmp_path / "out")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "moved.py").write_text(RECIPE)
    first = prepare(str(tmp_path / "one" / "moved.py"), "laptop", None, ())
    store.require_writable()
    first.note(store)
    prepare(str(tmp_path / "two" / "moved.py"), "laptop", None, ()).require_own_file(store)
    (tmp_path / "two" / "moved.py").write_text(RECIPE.replace("0.5", "0.25"))
    other = prepare(str(tmp_path / "two" / "moved.py"), "laptop", None, ())
    with pytest.raises(InputError, match="another recipe file of that name"):
        other.require_own_file(store)


def test_seeds_that_chose_do_not_judge_while_the_first_look_is_under_way(tmp_path):
    """`check` said "holds" of them, and `status` "look 1 of 4, 1 open"."""
    claims = [Statement("the large rate is faster", Own("?"), Ahead({"data": "large"}, of={"data": "small"}))]
    arms = [named(spec(0.5), data="large"), named(spec(0.05), data="small")]
    recipe = small_recipe("first", lambda scale: arms, claims)
    asked, store = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 6), Store(tmp_path)
    asked.train(store)
    assert found_in(asked, store.as_of_now()).claims[0].verdict == "holds"
    plan_of_looks(asked, store, (8,))
    found = found_in(asked, store.as_of_now())
    assert found.claims[0].verdict == "not run"
    assert "first look of --until-decided is not over" in found.judged_by
    assert found.seeds == 6


@pytest.mark.slow
def test_a_topic_of_most_texts_is_one(tmp_path):
    """All its words are common ones: 900 of 1,440 texts "say nothing"."""
    pytest.importorskip("sklearn")
    random = np.random.default_rng(0)
    topics = (
        "salt pepper oven bread butter flour",
        "orbit rocket planet star moon comet",
        "court judge appeal verdict",
    )
    texts = [
        " ".join(random.choice(topic.split(), 20))
        for topic, n in zip(topics, (300, 100, 50), strict=True)
        for _ in range(n)
    ]
    sizes = Counter(ld.discover([*texts, "", ""]).names)
    assert sorted(sizes.values()) == [2, 50, 100, 300]
    assert sizes["unknown"] == 2
