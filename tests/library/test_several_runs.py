"""Anybody's runs on several tasks, with swept settings, ranked, planned and looked at."""

import json
from dataclasses import replace

import numpy as np
import pytest

import lopsided as lop
from lopsided.api.curves import Ragged
from lopsided.api.ranking import _letters
from lopsided.api.runs import Runs
from lopsided.api.several import holm
from lopsided.cli import main
from lopsided.logs.run import Points, Run
from lopsided.stats import planning, stratified
from lopsided.stats.crossing import Track, crossings
from lopsided.stats.times import Times

STEPS = np.arange(25.0, 2001.0, 25.0)


def loss(time):
    """Falls to 2.5 after `time` steps."""
    return 2 + 2 * np.exp(-STEPS * np.log(4) / time)


def a_run(arm, seed, time, task=None, **config):
    return Run(f"{arm}-{seed}", arm, {"loss": Points(STEPS, loss(time))}, seed, config, task)


def runs_of(speeds, seeds, tasks=(None,), spread=0.1, key=0):
    """Runs whose times to 2.5 are 500 / speed, with a log-normal spread."""
    rng = np.random.default_rng(key)
    return Runs(
        tuple(
            a_run(arm, seed, 500 / speed * np.exp(spread * rng.normal()), task)
            for task in tasks
            for arm, speed in speeds.items()
            for seed in range(seeds)
        )
    )


# Several tasks


def test_tasks_are_compared_each_with_itself():
    """Simpson's paradox: pooled, the arm with more runs of the easy task looks faster, though it is slower on each."""
    mixed = Runs(
        tuple(a_run("a", i, 200 * np.exp(0.05 * i), "easy") for i in range(2))
        + tuple(a_run("a", i, 1000 * np.exp(0.02 * i), "hard") for i in range(8))
        + tuple(a_run("b", 10 + i, 260 * np.exp(0.02 * i), "easy") for i in range(8))
        + tuple(a_run("b", 10 + i, 1300 * np.exp(0.05 * i), "hard") for i in range(2))
    )
    found = mixed.over_tasks("a", "b", "loss", at=2.5)
    assert found.verdict == "contradicted"
    assert found.effect < 0.9
    assert "faster in 0 of 2 tasks" in found.notes[0]


def test_the_effect_over_tasks_is_the_geometric_mean_of_ratios():
    found = runs_of({"old": 1.0, "new": 1.3}, 6, ("a", "b", "c"), spread=1e-9).over_tasks("old", "new", "loss", at=2.5)
    assert found.effect == pytest.approx(1.3, rel=0.01)
    assert found.verdict == "holds"


def test_goals_by_task_and_mistakes_are_one_line():
    runs = runs_of({"old": 1.0, "new": 1.3}, 4, ("a", "b"))
    assert runs.over_tasks("old", "new", "loss", at={"a": 2.5, "b": 2.8}).effect > 1
    with pytest.raises(lop.InputError, match="no goal for b"):
        runs.over_tasks("old", "new", "loss", at={"a": 2.5})
    with pytest.raises(lop.InputError, match=r"runs of 2 tasks.*over_tasks"):
        runs.compare("old", "new", "loss")
    with pytest.raises(lop.InputError, match="0 tasks in common"):
        runs_of({"old": 1.0, "new": 1.3}, 4).over_tasks("old", "new", "loss", at=2.5)


def test_last_values_over_tasks_are_a_probability():
    runs = Runs(
        tuple(
            Run(f"{arm}{seed}", arm, {"loss": Points(STEPS, np.full(len(STEPS), value + seed / 100))}, None, {}, task)
            for task, value in (("a", 1.0), ("b", 50.0))
            for arm, better in (("old", 0.0), ("new", 0.5))
            for seed in range(6)
            for value in [value - better]
        )
    )
    found = runs.over_tasks("old", "new", "loss")
    assert (found.effect, found.verdict) == (1.0, "holds")


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("censored", [True, False])
def test_equal_arms_over_tasks_are_told_apart_as_rarely_as_promised(paired, censored):
    """400 trials of three tasks whose times differ tenfold; 5 % are promised, 7.6 % is three standard errors above."""
    rng, wrong, trials = np.random.default_rng(5), 0, 400
    for _ in range(trials):
        tasks = []
        for scale, n in ((100.0, 4), (1000.0, 6), (300.0, 5)):
            pair = []
            for _side in range(2):
                time = scale * np.exp(0.3 * rng.normal(size=n))
                late = time > scale * 1.3 if censored else np.zeros(n, bool)
                pair.append(Times(np.where(late, scale * 1.3, time), late))
            tasks.append(tuple(pair))
        found = stratified.compare_times(tasks, 0.95, paired)
        wrong += min(found.tails.above, found.tails.below) <= 0.025
    assert wrong / trials <= 0.083


def test_intervals_over_tasks_hold_the_truth():
    rng, held, trials = np.random.default_rng(6), 0, 400
    for _ in range(trials):
        tasks = [
            tuple(
                Times(scale / speed * np.exp(spread * rng.normal(size=n)), np.zeros(n, bool)) for speed in (1.0, 1.25)
            )
            for scale, spread, n in ((100.0, 0.1, 3), (1000.0, 0.4, 5), (300.0, 0.2, 4))
        ]
        found = stratified.compare_times(tasks, 0.95, paired=False)
        held += found.low <= 1.25 <= found.high
    assert held / trials >= 0.92


def test_a_profile_says_who_is_fastest_on_how_many_tasks():
    runs = Runs(
        tuple(
            a_run(arm, seed, time * np.exp(0.001 * seed), task)
            for task, times in (("a", (300, 450)), ("b", (300, 1000)), ("c", (400, 360)))
            for arm, time in zip(("new", "old"), times, strict=True)
            for seed in range(3)
        )
    )
    found = runs.profile("loss", 2.5)
    assert found.shares["new"][0] == pytest.approx(2 / 3)
    assert found.shares["old"][0] == pytest.approx(1 / 3)
    assert found.shares["new"][-1] == found.shares["old"][-1] == 1
    assert list(found.scores) == ["new", "old"]
    # By hand: new is at 1/3 less than full from 1 to 1.11; old lacks a until 1.5 and b until 3.33.
    by_hand = 1 - (np.log(1.5) + np.log(10 / 3)) / 3 / np.log(4)
    assert found.scores["old"] == pytest.approx(by_hand, abs=0.01)
    low, high = found.bands["old"]
    assert (low <= found.shares["old"]).all()
    assert (found.shares["old"] <= high).all()


# Swept settings


def test_the_best_setting_is_chosen_by_runs_that_are_not_judged():
    """A run that is lucky at a bad setting is not judged there: the other folds do not choose it."""
    times = {(lr, seed): {0.1: 800, 0.3: 400, 1.0: 600}[lr] for lr in (0.1, 0.3, 1.0) for seed in range(6)}
    times[1.0, 2] = 50
    runs = Runs(tuple(a_run("a", seed, time, lr=str(lr)) for (lr, seed), time in times.items()))
    found = runs.best("lr", "loss", at=2.5)
    assert [(run.seed, run.config["lr"]) for run in found.all] == [(seed, "0.3") for seed in range(6)]
    assert found.notes == ("a: best lr of 3: 0.3 (3 of 3 folds)",)


def test_a_best_setting_at_an_end_of_the_sweep_is_said():
    runs = Runs(tuple(a_run("a", seed, 1000 / lr, lr=lr) for lr in (1, 2, 4) for seed in range(3)))
    assert "the largest lr that was tried: it may be better beyond" in runs.best("lr", "loss", at=2.5).notes[0]


def test_sweeps_that_cannot_be_judged_are_one_line():
    runs = Runs(tuple(a_run("a", seed, 500, lr=lr) for lr in (1, 2) for seed in range(2)))
    with pytest.raises(lop.InputError, match="2 named seeds"):
        runs.best("lr", "loss", at=2.5)
    with pytest.raises(lop.InputError, match="says no width; its settings are lr"):
        runs.best("width", "loss", at=2.5)


def test_a_setting_in_the_path_or_in_a_column_that_stands_still_is_swept(tmp_path):
    for lr in (0.1, 0.3):
        for seed in range(3):
            file = tmp_path / f"muon_lr{lr}_{seed}.csv"
            file.write_text(f"step,loss,wd\n0,4,{lr}\n100,{3 - lr},{lr}\n200,{2.4 - lr},{lr}\n")
    template = "{arm}_lr{lr}_{seed}.csv"
    runs = lop.read(tmp_path, arm=template, seed=template)
    assert {run.config["lr"] for run in runs.all} == {"0.1", "0.3"}
    assert not any("more than once" in note for note in runs.notes)
    assert {run.config["lr"] for run in runs.best("lr", "loss").all} == {"0.3"}
    assert {run.config["lr"] for run in runs.best("wd", "loss", at=2.5).all} == {"0.3"}


# Ranks


@pytest.mark.parametrize(
    ("apart", "letters"),
    [
        ([], ["a", "a", "a"]),
        ([("x", "z")], ["a", "ab", "b"]),
        ([("x", "z"), ("x", "y"), ("y", "z")], ["a", "b", "c"]),
        ([("x", "y"), ("x", "z")], ["a", "b", "b"]),
    ],
)
def test_arms_share_a_letter_if_and_only_if_they_are_not_told_apart(apart, letters):
    assert _letters(["x", "y", "z"], {frozenset(pair) for pair in apart}) == letters


def test_letters_say_what_the_pairs_say():
    rng = np.random.default_rng(3)
    for _ in range(200):
        names = [f"n{i}" for i in range(6)]
        pairs = [frozenset((a, b)) for i, a in enumerate(names) for b in names[i + 1 :]]
        apart = {pair for pair in pairs if rng.random() < 0.4}
        letters = dict(zip(names, _letters(names, apart), strict=True))
        for pair in pairs:
            a, b = pair
            assert bool(set(letters[a]) & set(letters[b])) == (pair not in apart)


def test_a_ranking_tells_apart_what_differs():
    found = runs_of({"slow": 0.5, "mid": 1.0, "mid2": 1.02, "fast": 2.0}, 10).ranking("loss", at=2.5)
    assert [row["arm"] for row in found.rows][0::3] == ["fast", "slow"]
    letters = {row["arm"]: row["letters"] for row in found.rows}
    assert letters["mid"] == letters["mid2"]
    assert len({letters["fast"], letters["mid"], letters["slow"]}) == 3
    assert "Holm" in str(found)


# Between evaluations


def test_bounds_need_a_verdict_wherever_between_evaluations_a_run_got_there():
    coarse = np.array([0.0, 250.0, 500.0, 750.0, 1000.0])
    both = {arm: 4 - 3 * coarse / time + 0 * np.arange(8)[:, None] for arm, time in (("old", 900.0), ("new", 800.0))}
    line = lop.compare(both["old"], both["new"], axis=coarse, metric="loss").faster(at=2.5)
    bounds = lop.compare(both["old"], both["new"], axis=coarse, metric="loss", between="bounds").faster(at=2.5)
    assert line.verdict in ("holds", "negligible")
    assert (bounds.verdict, bounds.claim.reason) == ("inconclusive", "grid")
    assert bounds.interval[0] <= 0.500001
    assert bounds.interval[1] >= 1.99999
    far = lop.compare(both["old"], 4 - 3 * coarse / 200 + 0 * both["new"], axis=coarse, metric="loss", between="bounds")
    assert far.faster(at=2.5).verdict in ("holds", "inconclusive")
    track = [Track(coarse, both["old"][0])]
    ends = [crossings(track, 2.5, True, between=where).time[0] for where in ("before", "line", "after")]
    assert (ends[0], ends[2]) == (pytest.approx(250, rel=1e-5), 500)
    assert ends[0] < ends[1] < ends[2]


def test_bounds_and_held_do_not_go_together():
    with pytest.raises(lop.InputError, match="nothing to bound"):
        lop.compare(np.ones((3, 4)), np.ones((3, 4)), held=True, between="bounds")


# Plans


@pytest.mark.slow
def test_a_plan_finds_what_it_promises():
    """Of 200 trials with the planned runs, the effect is found in about 80 %: by the test that is used."""
    rng, spread, effect = np.random.default_rng(8), 0.15, 1.2
    for paired in (False, True):
        runs = planning.runs_for(np.log(effect), spread, paired, 0.8)
        found = 0
        for _ in range(200):
            old, new = (np.exp(spread / (2**0.5 if paired else 1) * rng.normal(size=runs)) for _ in range(2))
            curves = [4 - 1.5 * np.array([0, 1.0]) / (500 * t)[:, None] for t in (old, new / effect)]
            sides = [
                Ragged(name, tuple(Track(np.array([1.0, 1000.0 * t]), np.array([4.0, 1.0])) for t in own), "steps")
                for name, own in (("old", old), ("new", new / effect))
            ]
            del curves
            found += lop.compare(*sides, metric="loss", paired=paired).faster(at=1.0).verdict == "holds"
        assert 0.68 <= found / 200 <= 0.92, (paired, runs, found)


def test_a_plan_says_runs_spread_and_cost():
    pilot = runs_of({"old": 1.0}, 5).curves("old", "loss")
    found = lop.plan(pilot, 1.1, 2.5, metric="loss")
    assert found.runs < found.at_most
    assert found.finds(found.runs) <= 1.1 < found.finds(found.runs - 1)
    assert found.cost == pytest.approx(2 * found.runs * 500, rel=0.15)
    assert "independent runs of each side" in str(found)
    with pytest.raises(lop.InputError, match="do not reach"):
        lop.plan(pilot, 1.1, 1.0, metric="loss")
    with pytest.raises(lop.InputError, match="ratio above 1"):
        lop.plan(pilot, 0.9, 2.5)


def test_a_pilot_of_both_sides_plans_pairs():
    rng = np.random.default_rng(1)
    shared = 500 * np.exp(0.3 * rng.normal(size=6))
    both = Runs(
        tuple(a_run("old", s, t) for s, t in enumerate(shared))
        + tuple(a_run("new", s, t / 1.2 * np.exp(0.01 * rng.normal())) for s, t in enumerate(shared))
    )
    old, new = (both.curves(arm, "loss") for arm in ("old", "new"))
    assert lop.plan(old, 1.1, 2.5, candidate=new).runs < lop.plan(old, 1.1, 2.5).runs / 4


# Looks


def planned(path, **more):
    asked = {"baseline": "old", "candidate": "new", "metric": "loss", "at": 2.5, "runs": (8, 16), **more}
    return lop.looks(path, **asked)


def test_a_look_is_taken_once_and_at_its_own_level(tmp_path):
    path = tmp_path / "plan.json"
    plan = planned(path)
    runs = runs_of({"old": 1.0, "new": 1.02}, 16)
    few = Runs(tuple(run for run in runs.all if run.seed < 5))
    assert (plan.judge(few).verdict, json.loads(path.read_text())["taken"]) == ("not run", [])
    eight = Runs(tuple(run for run in runs.all if run.seed < 8))
    first = planned(path).judge(eight)
    assert first.claim.look.number == 1
    assert first.claim.look.level < 0.05
    assert planned(path).judge(eight).claim == first.claim
    more = Runs(tuple(run for run in runs.all if run.seed < 11))
    assert planned(path).judge(more).claim == first.claim, "between looks nothing new is looked at"
    assert planned(path).judge(runs).claim.look.number == 2
    assert plan.digest == planned(path).digest


def test_what_is_decided_stays_decided(tmp_path):
    plan = planned(tmp_path / "plan.json")
    first = plan.judge(runs_of({"old": 1.0, "new": 2.0}, 8))
    assert first.verdict == "holds"
    assert plan.judge(runs_of({"old": 1.0, "new": 2.0}, 8)).claim == first.claim


def test_a_plan_cannot_be_changed_nor_its_runs_exchanged(tmp_path):
    path = tmp_path / "plan.json"
    planned(path).judge(runs_of({"old": 1.0, "new": 1.02}, 8))
    with pytest.raises(lop.InputError, match="another plan"):
        planned(path, at=2.8)
    with pytest.raises(lop.InputError, match="other ones now"):
        planned(path).judge(runs_of({"old": 1.0, "new": 1.02}, 8, key=1))
    text = json.loads(path.read_text())
    path.write_text(json.dumps({**text, "at": 2.9}))
    with pytest.raises(lop.InputError, match="changed after it was written"):
        planned(path, at=2.9)
    path.write_text("no plan")
    with pytest.raises(lop.InputError, match="is no plan"):
        planned(path)


def test_looks_that_could_reject_nothing_are_refused(tmp_path):
    with pytest.raises(lop.InputError, match="reject nothing"):
        planned(tmp_path / "plan.json", runs=(2, 5))
    assert not (tmp_path / "plan.json").exists()


def test_logs_older_than_the_plan_are_said(tmp_path):
    for arm, end in (("old", 2.0), ("new", 1.0)):
        for seed in range(8):
            (tmp_path / f"{arm}-{seed}.csv").write_text(f"step,loss\n0,4\n100,{end + seed / 50}\n")
    runs = lop.read(tmp_path / "*.csv", arm="{arm}-{seed}.csv", seed="{arm}-{seed}.csv")
    path = tmp_path / "plan.json"
    plan = planned(path, runs=(8,), at=2.5)
    plan.plan["written"] = "2999-01-01T00:00:00+00:00"
    assert "16 of 16 logs are older than the plan" in plan.judge(runs).notes


# The command


@pytest.fixture
def logs(tmp_path):
    rng = np.random.default_rng(2)
    for task in ("wiki", "code"):
        for arm, speed in (("adamw", 1.0), ("muon", 1.4), ("sgd", 0.6)):
            for seed in range(8):
                folder = tmp_path / "logs" / task / arm
                folder.mkdir(parents=True, exist_ok=True)
                values = loss(500 / speed * np.exp(0.05 * rng.normal()))
                lines = "\n".join(f"{step:g},{value}" for step, value in zip(STEPS, values, strict=True))
                (folder / f"seed_{seed}.csv").write_text(f"step,loss\n{lines}\n")
    return tmp_path / "logs"


def judge(capsys, *command):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, command)))
    return ended.value.code, capsys.readouterr()


def test_the_command_compares_over_tasks(logs, capsys):
    template = "{task}/{arm}/seed_{seed}.csv"
    how = ("--arm-from", template, "--task-from", template, "--metric", "loss", "--at", "2.5", "--baseline", "adamw")
    code, shown = judge(capsys, "compare", logs, *how, "--json")
    data = json.loads(shown.out)
    assert code == 0
    assert data["tasks"] == ["code", "wiki"]
    assert {arm: v["verdict"] for arm, v in data["verdicts"].items()} == {"muon": "holds", "sgd": "contradicted"}
    assert next(iter(data["profile"])) == "muon"
    code, shown = judge(capsys, "compare", logs, *how)
    assert code == 0
    assert "Profile over 2 tasks" in shown.out


def test_the_command_ranks_and_looks(logs, capsys, tmp_path):
    template = "{arm}/seed_{seed}.csv"
    how = ("--arm-from", template, "--metric", "loss", "--at", "2.5", "--baseline", "adamw")
    code, shown = judge(capsys, "compare", logs / "wiki", *how, "--rank", "--json")
    assert [row["letters"] for row in json.loads(shown.out)["ranking"]] == ["a", "b", "c"]
    two = (logs / "wiki" / "adamw", logs / "wiki" / "muon")
    look = (*how, "--plan", tmp_path / "plan.json", "--looks", "8", "16")
    code, shown = judge(capsys, "compare", *two, *look)
    assert code == 0
    assert "look 1 of 2" in shown.out
    code, shown = judge(capsys, "compare", *two, *how, "--looks", "8")
    assert code == 2
    assert "--plan FILE" in shown.err


def test_the_explorer_shows_logs(logs):
    pytest.importorskip("dash")
    from lopsided.cli.explore import _logs
    from lopsided.explore.logs import make_logs_app

    source = _logs(logs / "wiki", "{arm}/seed_{seed}.csv", None, None, None)
    app = make_logs_app(source, "/x/")
    show = next(iter(app.callback_map.values()))["callback"].__wrapped__
    found = str(show("loss", 2.5, "adamw", "steps"))
    assert "muon reaches loss" in found
    assert "not told apart" in found
    assert "wrong" in str(show("loss", 5.0, "adamw", "steps")), "a goal that asks nothing is a sentence on the page"


def test_who_is_open_only_beside_others_says_how_many_runs_would_do():
    """With several arms none of the open verdicts said it, where alone each did."""
    rng = np.random.default_rng(0)
    alone = lop.compare(rng.normal(0, 1, (8, 1)), rng.normal(3, 1, (8, 1)), axis=[1], falling=False).higher()
    verdicts = {p: alone._replace(claim=replace(alone.claim, p_value=p, verdict="holds")) for p in (0.02, 0.03, 0.04)}
    found = holm(verdicts)
    assert {each.verdict for each in found.values()} == {"inconclusive"}
    assert [each.notes[-1] for each in found.values()] == [
        f"about {n} runs of each side would probably decide it beside the others (now 8)" for n in (16, 17, 15)
    ]
