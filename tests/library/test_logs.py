"""Anybody's runs: files that real tools wrote (tests/logs/write.py), and what they are compared with."""

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lopsided as lop
from lopsided.api.curves import Ragged
from lopsided.cli import main
from lopsided.report.compare_page import differences
from lopsided.stats.crossing import Track, crossings

LOGS = Path(__file__).parents[1] / "logs"
SPEEDRUN = LOGS / "speedrun" / "speedrun_logs.csv"
STEPS = np.arange(0, 201, 50)
SCALES = {"slow": 100.0, "fast": 40.0}
TEXT = r"step:(?P<step>\d+)/\d+ val_loss:(?P<val_loss>\S+) train_time:(?P<train_ms>\d+)ms"


def value(arm, seed, step):
    return 4 / (1 + step / SCALES[arm]) + int(seed) / 100


def of_both(template):
    return {"arm": template, "seed": template}


READ = {
    "lightning": ("val_loss", {}),
    "trainer": ("eval_loss", of_both("{arm}_{seed}/*/trainer_state.json")),
    "keras": ("val_loss", of_both("{arm}-{seed}.csv")),
    "mlruns": ("val_loss", {}),
    "trackio": ("val_loss", {}),
    "wandb-offline": ("val_loss", {}),
    "tensorboard": ("val/loss", of_both("{arm}/seed_{seed}/*")),
    "plain/long.csv": ("val_loss", {}),
    "plain/*.jsonl": ("val.loss", {"arm": "config.arm", "seed": "config.seed"}),
    "plain/*.log": ("val_loss", {**of_both("{arm}-{seed}.log"), "pattern": TEXT}),
}
NEEDS = {"tensorboard": "tensorboard"}


@pytest.mark.parametrize("name", READ)
def test_what_the_tool_was_told_is_read(name):
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"takes {NEEDS[name]}")
    metric, asked = READ[name]
    runs = lop.read(LOGS / name, **asked)
    assert {(run.arm, run.seed) for run in runs.all} == {(arm, seed) for arm in SCALES for seed in (0, 1)}
    for run in runs.all:
        points = run.metrics[metric]
        steps = points.step if name != "keras" else points.step * 50  # it counts epochs
        assert steps.tolist() == STEPS.tolist()
        expected = [value(run.arm, run.seed, step) for step in STEPS]
        if name == "plain/*.jsonl" and (run.arm, run.seed) == ("slow", 1):
            expected[3:] = [math.nan] * 2
        np.testing.assert_allclose(points.value, expected, rtol=1e-3 if "log" in name else 1e-6)
    effect = runs.compare("slow", "fast", metric).faster(at=2.0).effect
    if name == "plain/*.jsonl":  # a run diverged, and two runs of each side bound nothing
        assert effect is None
    else:
        assert effect == pytest.approx(2.228, abs=1.1)


def test_seconds_are_read_where_the_log_has_them():
    runs = lop.read(LOGS / "plain" / "*.log", **READ["plain/*.log"][1])
    assert runs.all[0].metrics["val_loss"].seconds.tolist() == [0, 1.5, 3.0, 4.5, 6.0]
    compared = runs.compare("slow", "fast", "val_loss", axis="seconds").faster(at=2.0)
    assert compared.effect == pytest.approx(2.228, abs=0.01)
    assert "seconds to learn" in str(compared)
    assert any("goes back in steps, as a resumed log does" in note for note in runs.notes)
    with pytest.raises(lop.InputError, match="its log has no times"):
        lop.read(LOGS / "plain" / "long.csv").compare("slow", "fast", "val_loss", axis="seconds")


def test_an_export_with_gaps_is_no_slower_arm():
    """Every second evaluation missing, as a tracker's table has it, made a faster candidate certainly slower: what is
    not evaluated counted as not reached."""
    arms = {"arm": lambda path, config: config["run"].split("-")[0], "seed": lambda path, config: config["run"][-1]}
    runs = lop.read(LOGS / "plain" / "exported.csv", **arms)
    assert {len(run.metrics["val_loss"].step) for run in runs.all} < {2, 3, 4, 5}
    assert runs.compare("slow", "fast", "val_loss").faster(at=2.0).effect > 1.5


def curves(scale, grid, seeds=8, spread=0.05, key=0):
    g = np.random.default_rng(key)
    return 4 / (1 + grid / (scale * np.exp(spread * g.normal(size=(seeds, 1)))))


def test_gaps_change_no_verdict():
    """The case of the review: the candidate is 2.28 times faster, every second of its evaluations is missing."""
    grid = np.arange(10, 1001, 10)
    slow, fast = curves(228.0, grid), curves(100.0, grid, key=1)
    holes = np.where(np.arange(len(grid)) % 2, np.nan, fast)
    whole, gappy = (lop.compare(slow, each, axis=grid, metric="loss").faster(at=2.0) for each in (fast, holes))
    assert whole.verdict == gappy.verdict == "holds"
    assert gappy.effect == pytest.approx(whole.effect, rel=0.02)
    assert gappy.effect == pytest.approx(2.28, rel=0.15)
    assert any("missing, taken as not evaluated" in note for note in gappy.notes)
    assert lop.compare(holes, slow, axis=grid, metric="loss").faster(at=2.0).verdict == "contradicted"
    with pytest.raises(lop.InputError, match="run 0 of 'baseline' has no value"):
        lop.compare(np.full_like(slow, np.nan), fast, axis=grid, metric="loss")


def test_the_end_of_a_run_and_its_divergence_are_two_things():
    grid = np.arange(10, 1001, 10)
    slow, fast = curves(228.0, grid), curves(100.0, grid, key=1)
    cut = fast.copy()
    cut[:3, 5:] = np.nan
    ended = lop.compare(slow, cut, axis=grid, metric="loss").faster(at=2.0)
    assert any("3 of 8 runs end before the others (diverged='nan'" in note for note in ended.notes)
    gone = lop.compare(slow, cut, axis=grid, metric="loss", diverged="nan").faster(at=2.0)
    assert any("3 of 8 runs diverged" in note for note in gone.notes)
    infinite = np.where(np.isnan(cut), np.inf, cut)
    assert any("3 of 8 runs diverged" in n for n in lop.compare(slow, infinite, axis=grid, metric="loss").notes)
    assert lop.compare(slow, infinite, axis=grid, metric="loss").better().verdict == "inconclusive"


def test_runs_with_steps_of_their_own_are_compared():
    g = np.random.default_rng(0)
    arms = {}
    for name, scale in (("slow", 200.0), ("fast", 100.0)):
        tracks = []
        for _ in range(8):
            steps = np.sort(g.choice(np.arange(1, 1000), 40, replace=False)).astype(float)
            tracks.append(Track(steps, 4 / (1 + steps / (scale * np.exp(0.05 * g.normal())))))
        arms[name] = Ragged(name, tuple(tracks), "steps")
    found = lop.compare(arms["slow"], arms["fast"], metric="loss").faster(at=2.0)
    assert found.verdict == "holds"
    assert found.effect == pytest.approx(2.0, rel=0.1)


def test_a_crossing_lies_between_evaluations_and_the_last_one_counts():
    track = Track(np.array([0.0, 100.0, 400.0]), np.array([4.0, 3.0, 2.0]))
    assert crossings([track], 3.5, True).time.tolist() == [50.0]  # straight from 0 on
    assert crossings([track], 2.5, True).time.tolist() == pytest.approx([200.0])  # straight over the logarithm
    last = crossings([track], 2.0, True)
    assert (last.time.tolist(), last.censored.tolist()) == ([400.0], [False])
    assert crossings([track], 2.0, True, held=True).censored.tolist() == [True]
    assert crossings([track], 1.0, True).time.tolist() == [400.0]
    lost = Track(np.array([0.0, 100.0]), np.array([4.0, 3.0]), diverged=True)
    assert crossings([track, lost], 1.0, True).time.tolist() == [400.0, 400.0]
    noisy = Track(np.arange(1.0, 6.0), np.array([4.0, 1.0, 3.0, 3.0, 0.5]))
    assert crossings([noisy], 1.0, True).time.tolist() == [2.0], "the best value so far"


def test_seeds_pair_runs_whatever_their_order():
    """The same 12 and 12 numbers, one side in another order: p went from .0005 to .50."""
    g = np.random.default_rng(0)
    own = g.normal(0, 1, (12, 1))
    axis, a = np.arange(1, 4), 5 + own + np.zeros((12, 3))
    b = a + 0.2 + 0.05 * g.normal(size=(12, 1))
    seeds, order = list(range(12)), g.permutation(12)
    first = lop.compare(lop.Curves("a", axis, a, seeds=seeds), lop.Curves("b", axis, b, seeds=seeds), metric="score")
    other = lop.compare(
        lop.Curves("a", axis, a, seeds=seeds), lop.Curves("b", axis, b[order], seeds=order.tolist()), metric="score"
    )
    assert first.higher().claim.p_value == other.higher().claim.p_value < 0.001
    assert "within-seed" in str(first.higher())
    alone = lop.compare(a, b, axis=axis, metric="score")
    assert "within-seed" not in str(alone.higher())
    assert any("independent runs" in note for note in alone.notes)
    shuffled = lop.compare(a, b[order], axis=axis, metric="score", paired=True)
    assert any("hardly go together" in note for note in shuffled.notes)
    part = lop.compare(
        lop.Curves("a", axis, a, seeds=seeds), lop.Curves("b", axis, b[:8], seeds=seeds[:8]), metric="score"
    )
    assert part.higher().claim.members == 16
    assert any("left out: 4 runs whose seed the other side lacks" in note for note in part.notes)


@pytest.mark.parametrize(
    ("metric", "falling"),
    [
        ("FID", True),
        ("kl", True),
        ("val/brier", True),
        ("regret", True),
        ("f1", False),
        ("val_acc", False),
        ("x", True),
    ],
)
def test_a_direction_is_known_by_name_or_by_how_curves_move_and_said(metric, falling):
    grid = np.arange(1, 11)
    found = lop.compare(
        *[np.outer(np.ones(6), 10 / grid if falling else grid / 10) * k for k in (1.0, 0.9)], axis=grid, metric=metric
    )
    assert found.falling is falling
    assert any("is taken for learning" in note for note in found.notes) == (metric == "x")
    assert f"{metric} {'≤' if falling else '≥'} 0.5" in found.faster(at=0.5).claim.claim or not falling


def test_questions_that_ask_nothing_are_one_line():
    grid, rising = np.arange(1, 11), np.outer(np.ones(6), np.arange(1, 11) / 10)
    with pytest.raises(lop.InputError, match=r"a share; 95 in percent is 0\.95"):
        lop.compare(rising, rising, axis=grid, metric="accuracy").faster(at=95)
    with pytest.raises(lop.InputError, match="in percent; valid is 90"):
        lop.compare(100 * rising, 100 * rising, axis=grid, metric="accuracy").faster(at=0.9)
    with pytest.raises(lop.InputError, match=r"every run has x ≥ 0\.05 at its first evaluation.*falling=True"):
        lop.compare(rising, rising, axis=grid, metric="x").faster(at=0.05)
    with pytest.raises(lop.InputError, match="2 and 10 evaluations, and no axis"):
        lop.compare(rising, rising[:, 4::5], metric="accuracy")
    with pytest.raises(lop.InputError, match=r"80 rows of 8 values; a row is a run"):
        lop.compare(np.zeros((80, 8)), np.zeros((80, 8)))
    twice = lop.Curves("a", grid, rising, seeds=[0] * 6)
    with pytest.raises(lop.InputError, match="has one seed twice"):
        lop.compare(twice, twice)


def test_an_open_verdict_says_how_many_runs_would_decide():
    g = np.random.default_rng(1)
    a, b = g.normal(0, 1, (6, 4)), g.normal(0.5, 1, (6, 4))
    found = lop.compare(a, b, metric="score").higher()
    assert found.verdict == "inconclusive"
    assert any("runs of each side would probably decide it (now 6)" in note for note in found.notes)


@pytest.fixture(scope="module")
def speedrun():
    return lop.read(SPEEDRUN, arm="record", run="run")


def test_the_speedruns_are_read_and_judged(speedrun):
    """Public logs: 260 runs of 27 arms (ten share one cut name, twice);
    evaluations every 125 or 250 steps, of which the last one is at the goal."""
    assert (len(speedrun), len(speedrun.arms)) == (260, 27)
    prefix, base = (f"2026-07-13_PrefixTokenPrediction_{name}" for name in ("prefix-1375", "baseline-1390"))
    stands = speedrun.reaches(prefix, "val_loss", 3.28)
    assert stands.verdict == "holds"
    assert stands.claim.p_value == pytest.approx(0.000288, rel=0.01)
    assert any("the mean crosses 3.28 at 1369 [1367, 1372] steps" in note for note in stands.notes)
    faster = speedrun.compare(base, prefix, "val_loss").faster(at=3.28)
    assert faster.verdict == "holds"
    assert faster.effect == pytest.approx(1.0136, abs=0.001)
    assert speedrun.compare(base, prefix, "val_loss", axis="seconds").faster(at=3.28).verdict == "holds"
    assert speedrun.reaches(base, "val_loss", 3.28).verdict == "inconclusive"


def test_many_arms_share_their_errors(speedrun):
    some = speedrun.where(lambda run: run.arm.startswith("2026-07-13"))
    base = "2026-07-13_PrefixTokenPrediction_baseline-1390"
    found = some.against(base, "val_loss", 3.28)
    alone = {arm: some.compare(base, arm, "val_loss").faster(at=3.28).claim.p_value for arm in found}
    ordered = sorted(alone, key=alone.get)
    for rank, arm in enumerate(ordered):
        assert found[arm].claim.p_value >= min(1.0, alone[arm] * (len(alone) - rank)) - 1e-12
    assert "Holm's of 4" in str(found[base.replace("baseline-1390", "prefix-1375")])


def test_no_differences_are_found_among_equal_arms_more_often_than_promised():
    """Of 60 pairs of equal arms, on grids of 5, 10 and 50 evaluations, hardly any is told apart."""
    wrong = 0
    for key in range(60):
        grid = np.linspace(0, 1000, (6, 11, 51)[key % 3])[1:]
        a, b = (curves(200.0, grid, 6, 0.1, 2 * key + k) for k in (0, 1))
        wrong += lop.compare(a, b, axis=grid, metric="loss").faster(at=1.5).verdict in ("holds", "contradicted")
    assert wrong <= 7  # 5 % of 60 and two and a half standard deviations


BAD = {
    "nothing": ("no/such/*.csv", {}, "no file fits it"),
    "empty": ("empty.csv", {}, "is empty"),
    "names": ("names.csv", {}, "no values"),
    "ragged": ("ragged.csv", {}, "line 3: 1 values, where the first line names 2"),
    "no steps": ("no_steps.csv", {}, "has no column of steps; step= one of a, b"),
    "no metric": ("no_metric.csv", {}, "no column of numbers beside 'step'"),
    "word": ("word.csv", {"step": "a"}, "a = 'x' is no number"),
    "json": ("bad.jsonl", {}, "line 1: is no JSON"),
    "arm": ("fine.csv", {"arm": "nope"}, "has no such column or setting"),
    "template": ("fine.csv", {"arm": "{arm}/x.csv"}, "does not end like that"),
    "text": ("fine.log", {}, "valid are"),
    "pattern": ("fine.log", {"pattern": "("}, "pattern = '('"),
    "no group": ("fine.log", {"pattern": "x"}, "has no named group"),
    "no line": ("fine.log", {"pattern": "(?P<step>q)"}, "no line holds the pattern"),
    "database": ("bad.db", {}, "is no file of trackio's"),
    "trainer": ("trainer_state.json", {}, "is no trainer_state.json"),
    "checkpoints": ("weights", {}, "holds checkpoints (model.safetensors), and no log"),
    "folder": ("hollow", {}, "holds no log"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_logs_are_one_line(case, tmp_path):
    texts = {
        "empty.csv": "", "names.csv": "step,loss\n", "ragged.csv": "step,loss\n1,2\n3\n", "no_steps.csv": "a,b\n1,2\n",
        "no_metric.csv": "step,word\n1,x\n", "word.csv": "a,b\nx,2\n", "bad.jsonl": "{\n{}\n",
        "fine.csv": "step,x\n1,2\n",
        "fine.log": "hello\n", "bad.db": "no database", "trainer_state.json": "{}", "weights/model.safetensors": "",
    }  # fmt: skip
    (tmp_path / "hollow").mkdir()
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    path, asked, said = BAD[case]
    with pytest.raises(lop.InputError, match=said.replace("(", r"\(").replace(")", r"\)")) as error:
        lop.read(tmp_path / path, **asked)
    assert "\n" not in str(error.value)


def test_a_list_where_a_seed_should_be_is_a_seed_s_name(tmp_path):
    """JSON lines may hold anything: a traceback (unhashable type)."""
    rows = [{"arm": "a", "seed": seed, "step": step, "loss": 1.0} for seed in ([], [1], 0) for step in (1, 2)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert len(lop.read(tmp_path / "log.jsonl")) == 3


@pytest.mark.parametrize("cell", [10**400, -(10**400)])
def test_a_number_of_hundreds_of_digits_is_infinite(tmp_path, cell):
    rows = [{"step": 1, "loss": 1.0}, {"step": 2, "loss": cell}]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (run,) = lop.read(tmp_path / "log.jsonl").all
    assert run.metrics["loss"].value[1] == (np.inf if cell > 0 else -np.inf)


def cli(*words, code=0):
    with pytest.raises(SystemExit) as ended:
        main(["compare", *map(str, words)])
    assert ended.value.code == code, words


def test_the_command_judges_a_folder_and_writes_a_page(tmp_path, capsys):
    page = tmp_path / "page.html"
    cli(LOGS / "lightning", "--metric", "val_loss", "--at", "2", "--baseline", "slow", "-o", page)
    said = " ".join(capsys.readouterr().out.split())
    assert "fast reaches val_loss ≤ 2 in fewer steps than slow: inconclusive" in said
    text = page.read_text()
    assert "Which arm is better" in text
    assert "http" not in text.split("<main")[-1].split("<script")[0]
    cli(LOGS / "lightning", "--metric", "val_loss", "--json")
    data = json.loads(capsys.readouterr().out)
    assert data["baseline"] in SCALES
    assert set(data["verdicts"]) == set(SCALES) - {data["baseline"]}
    assert "We compared 2 arms (4 runs) by val_loss." in data["in_words"]


def test_an_unknown_end_is_drawn_beyond_what_is_known():
    """It was drawn at the effect, as if the interval ended there and no effect lay outside."""
    runs = lop.read(str(LOGS / "lightning"))
    verdict = runs.compare("fast", "slow", metric="val_loss").faster(at=1.5)
    assert verdict.claim.interval[1] is None
    panel = differences({"slow": verdict})
    (line,) = panel.lines
    assert line.high > 1 > line.middle > line.low == 0
    assert list(panel.x_names) == ["slow"]
    assert panel.y_label == "ratio of medians of steps to learn, fast / slow"


def test_the_command_s_mistakes_are_one_line(tmp_path, capsys):
    (tmp_path / "one.csv").write_text("step,loss\n1,2\n")
    for words, said in (
        ((), "takes files"),
        ((tmp_path / "one.csv",), "the logs are all of one arm"),
        ((LOGS / "lightning",), "--metric: which one? train_loss, val_loss"),
        ((LOGS / "lightning", "--metric", "valloss"), "Did you mean 'val_loss'"),
        ((LOGS / "lightning", "--metric", "val_loss", "--baseline", "slo"), "Did you mean 'slow'"),
        ((LOGS / "lightning", "--metric", "val_loss", "--target"), "goes with --at"),
        ((LOGS / "lightning", "--metric", "val_loss", "-o", "x.pdf"), "ends in .html"),
    ):
        cli(*words, code=2)
        assert said in capsys.readouterr().err


def test_ten_runs_under_one_name_are_ten_runs(speedrun, tmp_path):
    """Two arms of ten runs have one cut name each; as resumed logs, their verdicts were those of one run."""
    for arm in ("2026-04-22_MuddFormer_this_pr_v2", "2026-04-22_MuddFormer_this_pr_v3"):
        assert len(speedrun.arms[arm]) == 10
        assert speedrun.reaches(arm, "val_loss", 3.28).verdict == "holds"
    assert any("it is taken for 10 runs" in note for note in speedrun.notes)
    (tmp_path / "broken.csv").write_text("step,loss\n0,3\n50,2\n0,3\n50,2\n100,1\n")  # which of them counts?
    with pytest.raises(lop.InputError, match="loss begins 2 times at step 0"):
        lop.read(tmp_path / "broken.csv")


@pytest.mark.slow
def test_the_speedrun_page_is_what_the_example_prints():
    page = subprocess.run(
        [sys.executable, Path("examples") / "speedrun.py", "report"], capture_output=True, text=True, check=True
    ).stdout
    assert page == (Path("docs") / "speedrun.md").read_text()


def test_an_arm_that_always_diverges_is_slower():
    steps, nan = np.arange(10, 101, 10), np.full((6, 10), np.nan)
    learns = np.linspace(3, 1, 10) + np.linspace(0, 0.1, 6)[:, None]
    nan[:, :2] = 3.0
    found = lop.compare(learns, nan, axis=steps, metric="loss", diverged="nan")
    assert found.faster(at=1.8).verdict == "contradicted"
    assert found.better().verdict == "contradicted"
    assert found.better().effect is None


def test_shares_and_percent_are_not_compared():
    shares, percent = np.full((4, 3), [0.1, 0.5, 0.9]), np.full((4, 3), [10.0, 50.0, 90.0])
    with pytest.raises(lop.InputError, match="is in percent, that of 'baseline' a share"):
        lop.compare(shares, percent, metric="accuracy")
