import json
from pathlib import Path

import numpy as np
import pytest

import lopsided as lop
from lopsided.advising.advice import Goal, advise, shapes_of
from lopsided.cli import main
from lopsided.core.errors import InputError, StoreError
from lopsided.core.spec import Spec
from lopsided.stats.race import RacePlan, race
from lopsided.stats.times import Times
from lopsided.store.parts import Store
from lopsided.work.worker import run
from tests.reference.advising import rates

PARITY = {
    "task": {"name": "sparse-parity", "d": 6, "k": 2},
    "model": {"name": "mlp", "width": 8},
    "plan": {"name": "online", "batch": 8},
    "optimizer": {"name": "sgd", "lr": 0.5},
    "loss": "logistic",
    "steps": 64,
    "evaluation": {"every": 16, "samples": 64},
}
COMPOSED = {
    **PARITY,
    "task": {"name": "k-composition", "d": 6, "k": 2},
    "model": {"name": "product", "r": 0.5},
    "loss": "square",
}
EASY = {"task": {"name": "sparse-parity", "d": 6, "k": 1}, "optimizer": {"name": "sgd", "lr": 0.1}, "steps": 640}
ACCURACY = Goal("test/accuracy")


def by_table(scores, seen=None):
    """A measure that looks values up: name -> function of the seed."""

    def measure(names, seeds):
        if seen is not None:
            seen.append((tuple(names), tuple(seeds)))
        return {name: np.array([scores[name](seed) for seed in seeds], float) for name in names}

    return measure


def noise(seed, of=0):
    return float(np.random.default_rng([seed, of]).normal())


@pytest.mark.slow
def test_equal_shapes_are_seldom_recommended():
    """At most 2.5 %, beyond what 300 races may show by chance (5 in a thousand)."""
    assert rates(effect=0.0, correlation=0.5, races=300)["use"] <= 15


def test_a_better_shape_is_found():
    found = rates(effect=1.0, correlation=0.5, races=50)
    assert found["right"] >= 38
    assert found["use"] - found["right"] <= 2


def test_what_chose_does_not_judge():
    seen = []
    plan = RacePlan(tuple("abcd"), ("a",))
    measure = by_table({name: lambda s, i=i: noise(s, i) + (i == 2) * 9 for i, name in enumerate("abcd")}, seen)
    found = race(plan, measure)
    assert (found.outcome, found.winner) == ("use", "c")
    screening, test = seen[:2], seen[2:]
    assert [len(names) for names, _ in screening] == [4, 2]
    assert max(s for _, seeds in screening for s in seeds) < min(s for _, seeds in test for s in seeds)
    assert all(set(names) == {"c", "a"} for names, _ in test)
    assert found.runs == sum(len(names) * len(seeds) for names, seeds in seen)


def test_every_baseline_has_to_be_beaten():
    """Better than uniform is no reason to change what is as good."""
    scores = {"as is": lambda s: 5 + noise(s, 1), "uniform": lambda s: noise(s, 2), "new": lambda s: 5 + noise(s, 3)}
    seen = [race(RacePlan(tuple(scores), ("as is", "uniform")), by_table(scores)).outcome]
    assert "use" not in seen


def test_uniform_data_may_be_better_than_what_is_in_use():
    scores = {"as is": noise, "uniform": lambda s: 9 + noise(s, 1), "new": lambda s: noise(s, 2)}
    found = race(RacePlan(tuple(scores), ("as is", "uniform")), by_table(scores))
    assert (found.outcome, found.winner, list(found.against)) == ("use", "uniform", ["as is"])


def test_what_is_certainly_worse_is_not_advised():
    """Undecided against uniform data, but certainly better than what is in use: that is not what to train with."""
    lucky = lambda s: 9 + noise(s, 1) + (s < 6) + 0.01 * (-1) ** s  # ahead in the screening alone
    scores = {"as is": noise, "uniform": lambda s: 9 + noise(s, 1), "new": lucky}
    found = race(RacePlan(tuple(scores), ("as is", "uniform")), by_table(scores))
    assert found.winner == "new"
    assert found.outcome != "use"
    assert found.against["as is"].verdict == "holds"
    assert found.use == "uniform"


def test_what_is_in_use_is_kept_without_a_test_if_it_wins_the_screening():
    scores = {"uniform": lambda s: 9 + noise(s), "new": noise}
    found = race(RacePlan(tuple(scores), ("uniform",)), by_table(scores))
    assert (found.outcome, found.winner, found.against, found.seeds) == ("keep", "uniform", {}, 0)


def test_members_that_never_learn_count():
    def measure(names, seeds):
        never = np.ones(len(seeds), bool)
        soon = Times(np.full(len(seeds), 10.0) + np.array([0.1 * noise(s) for s in seeds]), ~never)
        return {name: soon if name == "new" else Times(np.full(len(seeds), 90.0), never) for name in names}

    found = race(RacePlan(("uniform", "new"), ("uniform",)), measure)
    assert (found.outcome, found.winner) == ("use", "new")


def test_shapes_of_a_task_with_skills():
    found = shapes_of(Spec.parse(COMPOSED))
    listening = {"self-annealed", "contrast-annealed"}
    laws = {"uniform", "power law 1.5", "two levels that fade", *listening}
    assert set(found) >= {*laws, "1/8 of the data, repeated", "growing subsets"}
    assert found["power law 1, growing subsets"].skills.name == "power-law"
    assert "as is" not in found  # it is uniform
    lopsided = {**COMPOSED, "skills": {"name": "power-law", "alpha": 0.7}}
    assert {"as is", "uniform"} <= set(shapes_of(Spec.parse(lopsided)))
    assert len({each.content_hash() for each in found.values()}) == len(found)


@pytest.mark.slow
def test_a_loss_has_to_fall_to_its_target(tmp_path):
    spec = Spec.parse({**PARITY, **EASY})
    far, near = (advise(spec, Store(tmp_path), Goal("test/loss", at)).scores["uniform"] for at in (0.3, 0.6))
    assert all(near[seed] < far[seed] for seed in (0, 1))


@pytest.mark.slow
def test_members_do_not_leave_before_the_goal(tmp_path):
    """They would keep the loss that they left with, and seem never to reach a lower one."""
    goal, leaves = Goal("test/loss", 0.3), {"until": {"metric": "test/accuracy", "at_least": 0.55}}
    plain = advise(Spec.parse({**PARITY, **EASY}), Store(tmp_path), goal)
    left = advise(Spec.parse({**PARITY, **EASY, **leaves}), Store(tmp_path), goal)
    assert np.isfinite(list(left.scores["uniform"].values())).all()
    assert left.scores == plain.scores
    assert left.spec.until is not None


def test_shapes_of_a_task_without_skills():
    assert not any("law" in name for name in shapes_of(Spec.parse(PARITY)))


@pytest.mark.slow
def test_the_race_is_ordinary_rows_and_goes_on(tmp_path):
    store, spec = Store(tmp_path), Spec.parse(PARITY)
    first = advise(spec, store, ACCURACY)
    parts = {part.folder for part in store.as_of_now().parts()}
    again = advise(spec, store, ACCURACY)
    assert {part.folder for part in store.as_of_now().parts()} == parts
    assert again.advice == first.advice
    with pytest.raises(StoreError, match="other shapes or learning rates"):
        advise(spec, store, ACCURACY, rates=(0.001, 0.002))


@pytest.mark.slow
def test_the_budget_decides_the_looks_before_the_test(tmp_path):
    with pytest.raises(InputError, match="minutes are needed"):
        advise(Spec.parse(PARITY), Store(tmp_path), ACCURACY, budget=1e-6)
    found = advise(Spec.parse(PARITY), Store(tmp_path), ACCURACY, budget=1e6)
    (file,) = (tmp_path / "advice").glob("*.json")
    assert tuple(json.loads(file.read_text())["looks"]) == found.plan.looks == (8, 16, 32, 64)


def test_rows_of_other_runs_are_not_counted_as_its_time(tmp_path):
    """A folder that holds many seeds already must not look like one in which a run takes long."""
    store, spec = Store(tmp_path), Spec.parse(PARITY)
    run([spec], range(200), store)
    found = advise(spec, store, ACCURACY)
    assert found.seconds < sum(part.seconds for part in store.as_of_now().parts() if part.final)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["spec.json", "--target", "test/loss=-1"], "or a loss"),
        (["spec.json", "--target", "tset/accuracy=.9"], "valid is an accuracy"),
        (["spec.json", "--target", "test/accuracy=90"], "up to 1"),
        (["spec.json", "--target", "accuracy"], "valid is an accuracy"),
        (["spec.json", "--rates", "0"], "above 0"),
        (["spec.json", "--budget", "soon"], "--budget"),
        (["data.parquet"], "--train FILE.py"),
        (["full.json"], "nothing can be shaped"),
    ],
)
def test_mistakes_are_one_line(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.json").write_text(json.dumps(PARITY))
    whole = {**COMPOSED, "plan": {"name": "population", "dynamics": "steps"}}
    (tmp_path / "full.json").write_text(json.dumps(whole))
    with pytest.raises(SystemExit) as stopped:
        main(["advise", *words])
    assert stopped.value.code == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "shapes:" not in line]
    assert said in line


def test_the_command_says_what_to_do(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.json").write_text(json.dumps(PARITY))
    with pytest.raises(SystemExit) as stopped:
        main(["advise", "spec.json", "--json"])
    assert stopped.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["outcome"] in ("use", "keep", "undecided")
    advised = Spec.parse(json.loads(Path(found["spec"]).read_text()))
    assert advised.content_hash() in {each.content_hash() for each in shapes_of(Spec.parse(PARITY)).values()}


def test_anybodys_training_goes_on_from_its_file(tmp_path):
    calls = []

    def train(shape, seed):
        calls.append((shape, seed))
        return shape + noise(seed)

    shapes, file = {"uniform": 0.0, "better": 2.0, "worse": -2.0}, tmp_path / "scores.jsonl"
    first = lop.advise(train, shapes, out=file, told=None)
    assert (first.outcome, first.shape) == ("use", "better")
    assert len(calls) == len(set(calls)) == first.advice.runs
    file.write_text(file.read_text()[:-5])  # killed while it wrote
    again = lop.advise(train, shapes, out=file, told=None)
    assert len(calls) == first.advice.runs + 1
    assert str(again) == str(first)
    file.write_text("nonsense\n" + file.read_text())
    with pytest.raises(StoreError, match="line 1"):
        lop.advise(train, shapes, out=file, told=None)


@pytest.mark.parametrize(
    ("shapes", "baselines", "score", "said"),
    [
        ({"uniform": 0}, "uniform", 1.0, "two or more"),
        ({"a": 0, "b": 1}, "uniform", 1.0, "among"),
        ({"uniform": 0, "b": 1}, "uniform", float("nan"), "none of the first 4 runs gave a score that is a number"),
    ],
)
def test_what_cannot_be_raced_is_refused(shapes, baselines, score, said):
    with pytest.raises(InputError, match=said):
        lop.advise(lambda shape, seed: score, shapes, baselines, told=None)


def diverging(when, how):
    """The candidate is better by 0.1 in every seed; the baseline has no score on the seeds `when`."""

    def train(shape, seed):
        if shape == "uniform" and seed in when:
            return how()
        return (0.5 if shape == "uniform" else 0.6) + 0.02 * noise(seed)

    return train


@pytest.mark.parametrize("how", [lambda: float("nan"), lambda: float("-inf"), lambda: 1 / 0])
def test_a_run_without_a_score_counts_as_the_worst_and_the_answer_says_so(how, tmp_path):
    """It counted as 1e9, which made ties of all other seeds: the baseline stayed because it diverged."""
    heard, file = [], tmp_path / "scores.jsonl"
    train = diverging({7, 9}, how)
    found = lop.advise(train, {"uniform": "uniform", "b": "b"}, out=file, told=heard.append)
    assert (found.outcome, found.shape) == ("use", "b")
    assert found.advice.failed == {"uniform": 2}
    assert "Runs without a score (diverged or failed): 2 of uniform. They count as the worst." in str(found)
    assert sum("it counts as the worst" in line for line in heard) == 2
    again = lop.advise(train, {"uniform": "uniform", "b": "b"}, out=file, told=heard.append)
    assert str(again) == str(found)
    assert sum("it counts as the worst" in line for line in heard) == 2, "read, not run again"


def test_an_error_before_any_score_is_the_programs():
    with pytest.raises(ZeroDivisionError):
        lop.advise(lambda shape, seed: 1 / 0, {"uniform": 0, "b": 1}, told=None)


def test_a_tie_is_no_win():
    found = lop.advise(lambda shape, seed: noise(seed), {"b": 1, "uniform": 0}, told=None)
    assert (found.outcome, found.shape) == ("keep", "uniform")
