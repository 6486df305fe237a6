"""What a twelfth newcomer found."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest

import lopsided as lop
from lopsided.api.ends import once
from lopsided.cli import main
from lopsided.core.arms import arm as named
from lopsided.core.errors import Stopped
from lopsided.recipe import Ahead, Own, Statement
from lopsided.store.parts import Store
from lopsided.study import before
from lopsided.study.recipe_run import RecipeRun, prepare
from lopsided.study.until_decided import until_decided
from lopsided.work.done import Request
from lopsided.work.worker import train
from tests.library.small import small_recipe, spec

STEPS = np.arange(50, 1001, 50)


def log(folder, arm, seed, steps, values, metric="val_loss"):
    file = folder / "logs" / arm / f"seed_{seed}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{step},{value}\n" for step, value in zip(steps, values, strict=True))
    file.write_text(f"step,{metric}\n{rows}")


def falling(seed, speed=1.0, steps=STEPS):
    random = np.random.default_rng(seed)
    return (3 * np.exp(-steps * speed * np.exp(random.normal(0, 0.15)) / 300) + 0.5).round(4)


def compared(folder, capsys, *words):
    with pytest.raises(SystemExit):
        main(["compare", str(folder / "logs"), "--arm-from", "{arm}/seed_{seed}.csv", *words])
    return capsys.readouterr()


def test_copies_of_runs_are_no_further_runs(tmp_path):
    """Four runs and a copy of each were p = 0.0078."""
    for arm, speed in (("base", 1.0), ("mine", 1.3)):
        for seed in range(8):
            log(tmp_path, arm, seed, STEPS, falling(seed % 4, speed))
    found = lop.read(tmp_path / "logs", arm="{arm}/seed_{seed}.csv").compare("base", "mine", "val_loss").lower()
    assert found.verdict == "inconclusive"
    assert "base: 4 runs the same as another one, value for value: left out" in str(found)


def test_runs_of_few_values_may_agree_by_chance():
    curves = lop.Curves("a", np.arange(3), np.ones((8, 1)) * np.array([0.0, 0.5, 1.0]), "steps")
    assert len(once(lop.api.curves.ragged(curves)).tracks) == 8


@pytest.mark.parametrize(("unit", "verdict"), [("steps", "inconclusive"), ("seconds", "holds")])
def test_as_many_evaluations_of_a_shorter_run_are_no_longer_run(unit, verdict):
    """20 evaluations of 200 steps against 20 of 1,000: a slower machine, said the rule, of an axis of steps."""
    long, short = STEPS, STEPS / 5
    arms = [
        lop.Curves(name, axis, np.stack([falling(seed, steps=axis) for seed in range(8)]), unit)
        for name, axis in (("base", short), ("mine", long))
    ]
    assert lop.compare(*arms, metric="val_loss").lower().verdict == verdict


def test_a_run_without_a_single_value_diverged(tmp_path, capsys):
    """The whole comparison was refused."""
    for arm in ("base", "mine"):
        for seed in range(6):
            log(tmp_path, arm, seed, STEPS, falling(seed))
    log(tmp_path, "mine", 0, STEPS, ["nan"] * len(STEPS))
    said = compared(tmp_path, capsys, "--json")
    rows = {row["arm"]: row for row in json.loads(said.out)["arms"]}
    assert (rows["mine"]["runs"], rows["mine"]["diverged"]) == (6, 1)


def test_runs_without_the_metric_are_said(tmp_path, capsys):
    for arm in ("base", "mine"):
        for seed in range(6):
            log(tmp_path, arm, seed, STEPS, falling(seed), "train_loss" if (arm, seed) == ("mine", 0) else "val_loss")
    said = compared(tmp_path, capsys, "--metric", "val_loss")
    assert "mine: 1 of 6 runs have no val_loss" in said.out


def test_an_interval_does_not_end_before_it_begins(tmp_path, capsys, monkeypatch):
    """Beside runs that crashed at 200 it was `392.8 … > 200`."""
    monkeypatch.setenv("COLUMNS", "200")
    for arm in ("base", "mine"):
        for seed in range(8):
            steps = STEPS[STEPS <= 200] if arm == "mine" and seed < 3 else STEPS
            log(tmp_path, arm, seed, steps, falling(seed, steps=steps))
    line = next(line for line in compared(tmp_path, capsys, "--at", "1.0").out.splitlines() if " mine " in line)
    low, high = line.split("…")[1].split()[-1], line.split("> ")[1].split()[0]
    assert float(high) >= float(low)


def test_a_hint_does_not_ask_for_the_runs_that_are_there():
    """`about 6 runs of each side would probably decide it (now 6)`."""
    random = np.random.default_rng(3)
    for _ in range(200):
        one, two = random.normal(0, 1, (6, 1)), random.normal(1.4, 1, (6, 1))
        for note in lop.compare(one, two, axis=[1], falling=False).higher().notes:
            if note.startswith("about "):
                assert int(note.split()[1]) > 6


def test_what_is_said_of_one_arm_holds_beside_what_is_said_of_all():
    """`--set "small: optimizer.lr=1" optimizer.lr=0.5` set 0.5 everywhere, in silence."""
    arm = next(iter(prepare("set-size", "smoke", 2, ()).arms))
    own, all_ = f"{arm}: optimizer.clip=0.5", "optimizer.clip=0.25"
    runs = [prepare("set-size", "smoke", 2, words) for words in ([own, all_], [all_, own])]
    assert [run.arms[arm].optimizer.clip for run in runs] == [0.5, 0.5]
    assert len({run.label for run in runs}) == 1


def arms(scale):
    yield named(spec(0.5), data="fast")
    yield named(spec(0.25), data="slow")


def test_seeds_that_were_tested_before_judge_nothing(tmp_path, capsys):
    """A plan that was made after a run of 12 seeds looked at eight of them as "new"."""
    claim = Statement("fast is ahead", Own(), Ahead({"data": "fast"}, of={"data": "slow"}))
    recipe = small_recipe("seen", arms, [claim])
    store = Store(tmp_path)
    RecipeRun(recipe, "laptop", recipe.specs("laptop"), 12).train(store)
    asked = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 6)
    state, _ = until_decided(asked, Store(tmp_path), looks=(8,))
    assert state.first == 12
    assert "tested at 12 seeds before" in capsys.readouterr().err


FILE = """
from lopsided.core.arms import arm
from lopsided.recipe import Ahead, Own, Statement
from lopsided.work.done import Request
from lopsided.work.worker import train
from tests.library.small import small_recipe, spec

def arms(scale):
    yield arm(spec(0.5), data="fast")
    yield arm(spec(0.25), data="slow")

claim = Statement("fast is ahead", Own(), Ahead({"data": "fast"}, of={"data": "slow"}))
recipe = small_recipe("mine", arms, [claim])
"""


def test_the_seeds_that_judge_are_read_by_the_name_that_status_gives(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    with pytest.raises(SystemExit):
        main(["run", "mine.py", "--until-decided", "--looks", "8", "--out", "out"])
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["status", "out", "--json"])
    names = [row["run"] for row in json.loads(capsys.readouterr().out)["runs"]]
    assert "mine-laptop, looks" in names
    assert lop.load("out", recipe="mine-laptop, looks")["fast"].seeds == tuple(range(6, 14))
    assert lop.load("out", recipe="mine-laptop")["fast"].seeds == tuple(range(6))


def test_a_pause_of_one_clock_hides_no_success(tmp_path):
    """Base was cut to evaluations nearest to those of a run that paused, and its successes were lost (p = 1)."""
    for seed in range(8):
        for arm, pause in (("base", 0), ("mine", 100)):
            file = tmp_path / "logs" / arm / f"seed_{seed}.csv"
            file.parent.mkdir(parents=True, exist_ok=True)
            values = zip(STEPS, falling(seed + pause), strict=True)
            rows = "".join(f"{s},{s * 0.1 + pause * (s > 400)},{v}\n" for s, v in values)
            file.write_text(f"step,time,val_loss\n{rows}")
    runs = lop.read(tmp_path / "logs", arm="{arm}/seed_{seed}.csv")
    assert runs.compare("base", "mine", "val_loss", axis="seconds").faster(at=0.8).verdict == "contradicted"


def test_a_test_of_more_seeds_is_not_forgotten_after_one_of_fewer(tmp_path, capsys):
    """16, 6 and 16 seeds: "tested at 6 seeds before", and a plan then took tested seeds for new ones."""
    recipe = small_recipe("seen", arms, [Statement("c", Own(), Ahead({"data": "fast"}, of={"data": "slow"}))])
    for seeds in (8, 4):
        RecipeRun(recipe, "laptop", recipe.specs("laptop"), seeds).train(Store(tmp_path))
    asked = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 9)
    assert "tested at 8 seeds before" in before.tested_before(asked, Store(tmp_path))
    state, _ = until_decided(replace(asked, seeds=6), Store(tmp_path), looks=(8,))
    assert state.first == 8
    assert "seeds 8 to 15 judge its claims, by a plan; others enter no verdict" in before.tested_before(
        asked, Store(tmp_path)
    )


def test_a_ranking_that_can_tell_nothing_apart_says_so(tmp_path):
    """Four runs against four have no p-value below 0.029: of ten pairs of arms none could be told apart."""
    for arm, speed in (("base", 1), ("a", 1), ("b", 3), ("c", 1), ("d", 1)):
        for seed in range(4):
            log(tmp_path, arm, seed, STEPS, falling(hash_of(arm) + seed, speed))
    runs = lop.read(tmp_path / "logs", arm="{arm}/seed_{seed}.csv")
    said = "so few runs tell no two of these arms apart beside 9 other pairs, whatever they are; 6 of each arm could"
    assert runs.ranking("val_loss", at=1.0).note == said
    assert said in repr(runs.ranking("val_loss", at=1.0))
    assert runs.where(lambda run: run.arm in ("a", "b")).ranking("val_loss", at=1.0).note == ""


def hash_of(arm):
    return 100 * ord(arm[0])


def test_a_run_that_goes_on_begins_where_it_stopped(tmp_path):
    """Its first line said `0% · step 0/400,000` of members that were committed to step 294,000."""
    long, stop, heard = spec(0.0001).replace(steps=3000), threading.Event(), []

    def after_some(progress):
        if progress.step >= 1000:
            stop.set()

    with pytest.raises(Stopped):
        train(Request([long], 2, Store(tmp_path), after_some, stop=stop))
    train(Request([long], 2, Store(tmp_path), heard.append))
    assert heard[0].evaluated is None
    assert heard[0].step >= 1000
    assert heard[0].done > 0.3
