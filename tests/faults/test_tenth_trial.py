"""What a tenth and an eleventh newcomer found, with the pages alone."""

import json
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import lopsided as lop
from lopsided.api.curves import Curves
from lopsided.cli import main
from lopsided.core.arms import arm as named
from lopsided.core.errors import InputError, Stopped
from lopsided.executors.head import Wanted
from lopsided.logs.points import _kept
from lopsided.stats.compare import compare_times
from lopsided.stats.followed import dropped, follow_up, worst_cases
from lopsided.stats.selection import score
from lopsided.stats.times import Times
from lopsided.store.parts import Store
from lopsided.study import before
from lopsided.study.before import replaces
from lopsided.study.manifest import recorded
from lopsided.study.others import arm_rows, members
from lopsided.study.recipe_run import RecipeRun
from lopsided.work.done import Request
from lopsided.work.jobs import cut, wanted_members
from lopsided.work.worker import run
from tests.library.small import small_recipe, spec


def falling(speed, axis):
    return 1 + 2 * np.exp(-speed * axis / 1000)


def written(path, runs):
    """A CSV of (arm, seed, steps, values)."""
    lines = ["arm,seed,step,val_loss"]
    lines += [
        f"{arm},{seed},{step:g},{value}"
        for arm, seed, steps, values in runs
        for step, value in zip(steps, values, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("crashed", ["base", "new"])
def test_one_run_that_ended_early_does_not_hide_an_effect(tmp_path, paired, crashed):
    """p was 1 beside 1.51 [1.46, 1.57]: every run was followed no farther than the one that crashed."""
    random, axis, runs = np.random.default_rng(0), np.arange(0, 2001, 50), []
    for arm, speed in (("base", 1.0), ("new", 1.5)):
        for seed in range(20):
            end = 300 if (arm, seed) == (crashed, 0) else 2000
            there = axis[axis <= end]
            values = falling(speed * np.exp(random.normal(0, 0.05)), there)
            runs.append((arm, seed if paired else f"{arm}{seed}", there, values))
    found = lop.read(written(tmp_path / "d.csv", runs)).compare("base", "new", "val_loss").faster(at=1.9)
    assert found.verdict == "holds"
    assert found.claim.p_value < 0.005
    assert "counts against either side" in str(found)


def test_half_of_an_arm_that_ended_early_decides_nothing():
    slow = Times(np.full(8, 900.0), np.zeros(8, bool))
    fast = Times(np.where(np.arange(8) < 4, 300.0, 500.0), np.arange(8) < 4)
    assert follow_up(fast) == 300
    assert not dropped(fast).any()
    assert compare_times(slow, fast, paired=False).tails.above == 1


def test_runs_of_one_budget_are_followed_to_it():
    times = Times(np.array([500.0, 800.0, 1000.0, 1000.0]), np.array([False, False, True, True]))
    assert follow_up(times) == 1000
    assert not dropped(times).any()
    assert follow_up(Times(times.time, np.zeros(4, bool))) == np.inf


def test_who_was_followed_does_not_depend_on_the_unit():
    """The largest time was taken to be at least 0, which that of logarithms, or of times below 1, is not."""
    time, censored = np.array([10.0, 400, 500, 600, 700, 800, 900, 1000]), np.arange(8) == 0
    slow, fast = Times(time, np.zeros(8, bool)), Times(time / 2, censored)
    verdicts = [
        compare_times(*(Times(times.time * unit, times.censored) for times in (slow, fast)), paired=False).tails
        for unit in (1, 1e-6)
    ]
    assert verdicts[0] == pytest.approx(verdicts[1])
    logs = [Times(np.log(times.time * 1e-6), times.censored) for times in (slow, fast)]
    assert all(times.time.max() < 0 for pair in worst_cases(*logs) for times in pair)


def test_follow_up_of_many_members_is_that_of_a_few():
    time = np.arange(1.0, 200_001)
    ended = time % 2 == 0
    assert follow_up(Times(time, ended)) == follow_up(Times(time[::-1], ended[::-1]))
    one_by_one, left = np.inf, 1.0
    for i, end in enumerate(time[:2000]):
        left *= 1 - (i % 3 == 0) / (2000 - i)
        if left <= 0.5:
            one_by_one = end
            break
    assert follow_up(Times(time[:2000], np.arange(2000) % 3 == 0)) == one_by_one


@pytest.mark.parametrize("paired", [False, True])
def test_runs_that_crash_make_no_effect(paired):
    wrong = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        times = [Times(1000 * np.exp(random.normal(0, 0.2, 12)), np.zeros(12, bool)) for _ in range(2)]
        cut_at = random.uniform(100, 900, 12)
        crashed = (np.arange(12) < 3) & (times[1].time > cut_at)
        times[1] = Times(np.where(crashed, cut_at, times[1].time), crashed)
        wrong += min(compare_times(*times, paired=paired).tails) <= 0.025
    assert wrong <= 4  # 2 of 40 are expected at most


@pytest.mark.parametrize("held", [False, True])
def test_evaluating_more_often_is_no_advantage(held):
    """Of equal arms with noise the one with 20 times as many evaluations "won" in 11 of 12 pairs."""
    wins = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        arms = []
        for name, every in (("base", 100), ("new", 5)):
            axis = np.arange(every, 1501, every)
            arms.append(Curves(name, axis, falling(1.0, axis) + random.normal(0, 0.15, (10, len(axis)))))
        found = lop.compare(*arms, metric="val_loss", held=held).faster(at=2.0)
        wins += found.verdict in ("holds", "contradicted")
        assert "times as often" in str(found)
    assert wins <= 1


def test_an_effect_is_seen_although_one_side_is_evaluated_more_often():
    axes = np.arange(50, 2001, 50), np.arange(5, 2001, 5)
    random = np.random.default_rng(0)
    base, new = (
        Curves(name, axis, falling(speed, axis) + random.normal(0, 0.01, (8, len(axis))))
        for name, speed, axis in zip(("base", "new"), (1.0, 1.5), axes, strict=True)
    )
    found = lop.compare(base, new, metric="val_loss").faster(at=1.9)
    assert found.verdict == "holds"
    assert found.effect == pytest.approx(1.5, rel=0.1)


def test_a_resumed_log_has_nothing_of_the_attempt_before(tmp_path):
    """Curves were spliced: a run that died at step 700 ended with what another attempt had at step 1000."""
    before, again = np.arange(0, 1001, 100), np.arange(600, 701, 100)
    steps = np.concatenate([before, again])
    runs = [("new", s, steps, np.concatenate([3 - before / 500, [3.5, 4.0]])) for s in range(8)]
    runs += [("base", s, before, 3 - before / 1000) for s in range(8)]
    found = lop.read(written(tmp_path / "stale.csv", runs))
    (track, *_) = [run.metrics["val_loss"] for run in found.all if run.arm == "new"]
    assert track.step.tolist() == [0, 100, 200, 300, 400, 500, 600, 700]
    assert track.value[-1] == 4.0
    assert "is dropped" in str(found)
    assert found.compare("base", "new", "val_loss").lower().verdict == "inconclusive"


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ([1, 2, 3, 4, 5, 3, 4], [1, 2, 3, 4]),
        ([1, 2, 3, 3, 4], [1, 2, 3, 4]),
        ([1, 3, 2, 4], [1, 2, 3, 4]),  # written late
        ([100, 200, 300, 400, 150, 250], [100, 150, 250]),
        ([1, 2, 3, 4, 2, 3, 4, 3, 4, 5], [1, 2, 3, 4, 5]),
    ],
)
def test_which_rows_of_a_log_count(steps, kept):
    assert [steps[i] for i in _kept(np.array(steps, float))] == kept


def test_a_bound_of_few_runs_is_no_estimate():
    """`0.24 [0, ∞]` stood for "at most 0.24, if anything"."""
    learned, never = Times(np.full(3, 240.0), np.zeros(3, bool)), Times(np.full(3, 1000.0), np.ones(3, bool))
    assert np.isnan(compare_times(learned, never, paired=False).effect)
    assert compare_times(learned, learned._replace(time=np.array([120.0, 130.0, 140.0])), paired=False).effect > 1


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_a_signal_in_a_python_program_commits(tmp_path, number, code):
    """Up to 60 s of training were lost, though the pages promise a commit."""
    program = tmp_path / "program.py"
    program.write_text(
        # A suite that a shell runs in the background ignores SIGINT, and so would its children. The program
        # itself hears again: `preexec_fn` would fork, which JAX warns of wherever it has started.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import lopsided as lop\n"
        "spec = lop.Spec(task=lop.tasks.SparseParity(d=8, k=2), model=lop.models.MLP(width=16), loss='logistic',\n"
        "    plan=lop.plans.Online(batch=16), optimizer=lop.optim.SGD(lr=0.1), steps=10**8,\n"
        "    evaluation={'every': 1000, 'samples': 16})\n"
        f"lop.run(spec, seeds=1, out={str(tmp_path / 'out')!r}, progress=True)\n"
    )
    with subprocess.Popen([sys.executable, program], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            while "member-steps" not in (line := process.stderr.readline()):
                assert line
            process.send_signal(number)
            said = process.communicate(timeout=120)[1]
        finally:
            process.kill()
    assert process.returncode in (code, -number)
    assert "what is computed is kept" in said
    assert [part.final for part in Store(tmp_path / "out").parts()] == [False]


@pytest.mark.slow
def test_an_idle_worker_says_that_a_signal_ended_it(tmp_path):
    """An evicted pod would have counted as complete."""
    Store(tmp_path).require_writable()
    words = [sys.executable, "-m", "lopsided.cli", "worker", "--out", str(tmp_path), "--idle", "5m"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not list((tmp_path / "workers").glob("*")):
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 143


def test_what_an_earlier_command_committed_is_not_made_now(tmp_path, parity):
    """With workers, half-done members of before made the time left two to four times too short."""
    spec, store = parity(), Store(tmp_path)
    members = wanted_members([spec], 4)

    class Half(Exception):
        pass

    def stop(progress):
        if progress.evaluated is not None and progress.step >= spec.steps // 3:
            raise Half

    with pytest.raises(Half):
        run([spec], 4, store, stop, job_size=len(cut(members)[0]))
    request = Request([spec], 4, store, None)
    wanted = Wanted(request)
    done = sum(store.survey().half_done.values()) / spec.steps
    assert wanted._open == pytest.approx(4 - done)


def test_runs_that_diverged_in_a_sweep_are_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = score(Times(np.ones(3), np.zeros(3, bool)), np.array([np.nan, np.inf, 1e308]), False)
    assert found.final == np.inf


def test_a_text_in_a_column_of_numbers_is_named(tmp_path):
    file = tmp_path / "text.csv"
    file.write_text("step,loss\n0,3\n1,2\n2,failed\n")
    with pytest.raises(InputError, match=r"'loss' has 'failed' in row 3"):
        lop.read(file)


def test_a_folder_of_text_logs_is_read_with_a_pattern(tmp_path):
    for arm in "ab":
        (tmp_path / f"{arm}.log").write_text("".join(f"step {i} loss {3 - i / 10}\n" for i in range(5)))
    pattern = r"step (?P<step>\d+) loss (?P<loss>[\d.]+)"
    assert len(lop.read(tmp_path, "{arm}.log", pattern=pattern).all) == 2
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match=r"name its files by a pattern"):
        lop.read(empty, pattern=pattern)


def test_a_setting_that_is_swept_is_not_asked_for_as_a_metric(tmp_path, capsys):
    rows = [
        f"{arm},{seed},{rate},{step},{3 - step * rate * (2 if arm == 'b' else 1)}"
        for arm in "ab"
        for seed in range(6)
        for rate in (0.1, 0.2)
        for step in range(5)
    ]
    file = tmp_path / "sweep.csv"
    file.write_text("\n".join(["arm,seed,lr,step,loss", *rows]) + "\n")
    with pytest.raises(SystemExit) as ended:
        main(["compare", str(file), "--sweep", "lr", "--run", "lr", "--json"])
    found = capsys.readouterr()
    assert ended.value.code in (0, None), found.err
    assert json.loads(found.out)["metric"] == "loss"


PRINTS = """
import os

from lopsided.recipe import Ahead, Figure, Own, Recipe, Statement, arm, curves
from tests.library.small import spec

def arms(scale):
    print("in arms")
    os.system("echo in a process")
    yield arm(spec(0.5), data="a")
    yield arm(spec(0.25), data="b")

def figure(r):
    print("in figure")
    return Figure("x", [curves(r, "test/accuracy", "steps", "y")])

recipe = Recipe(name="prints", paper="ours", figure_number="none", question="?", about="x",
    scales={"laptop": (2, 1)}, arms=arms, figure=figure, claims=[Statement("a is ahead", Own("x"), %s)])
"""


def test_prints_of_a_recipe_file_do_not_spoil_json(tmp_path, monkeypatch, capfd):
    """An eleventh trial: those of its functions stood before the document, as did those of a process that they
    start."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prints.py").write_text(PRINTS % 'Ahead({"data": "a"}, of={"data": "b"})')
    for words in (["run", "prints.py", "--json"], ["check", "prints.py", "--json"]):
        with pytest.raises(SystemExit):
            main(words)
        found = capfd.readouterr()
        assert json.loads(found.out), found.err
        assert "in arms" in found.err
        assert "in a process" in found.err


def test_a_claim_that_compares_no_reading_is_one_line(tmp_path, monkeypatch, capsys):
    """It was a traceback, and with --set only after training."""
    monkeypatch.chdir(tmp_path)
    text = PRINTS.replace("import Ahead,", "import Higher,") % 'Higher({"data": "a"}, {"data": "b"}, "x")'
    (tmp_path / "prints.py").write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["run", "prints.py", "--set", "steps=20"])
    assert ended.value.code == 2
    assert "valid is what reads a value of each member" in capsys.readouterr().err


def test_seeds_with_gaps_are_stretches_of_the_table(tmp_path):
    """An eleventh trial: the range from 4 to 30 had the seeds of a look in between."""
    recipe = small_recipe("gaps", lambda scale: [named(spec(0.5), data="a")], [])
    RecipeRun(recipe, "laptop", recipe.specs("laptop"), 2).train(Store(tmp_path))
    lop.run(spec(0.5), seeds=[4, 5, 30], out=tmp_path)
    store = Store(tmp_path)
    rows = arm_rows(store, recorded(store))
    assert [(row.judged_from, row.judged_to) for row in rows] == [(4, 6), (30, 31)]


def test_a_program_that_was_interrupted_is_in_status(tmp_path, parity):
    half, stop = Store(tmp_path), threading.Event()

    def see(progress):
        if progress.evaluated is not None:
            stop.set()

    with pytest.raises(Stopped):
        run([parity(steps=4000, evaluation={"every": 1000, "samples": 64})], 2, half, see, stop=stop)
    assert half.survey().half_done
    (found,) = members(Store(tmp_path), {}).values()
    assert len(found) == 2


def test_a_plan_is_not_tested_anew(tmp_path, monkeypatch):
    recipe = small_recipe("planned", lambda scale: [named(spec(0.5), data="a")], [])
    asked = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 3)
    asked.train(Store(tmp_path))
    fewer = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 2)
    assert "is now of 2" in replaces(fewer, Store(tmp_path))
    monkeypatch.setattr(before, "plan_in_force", lambda store, label, key: object())
    assert replaces(fewer, Store(tmp_path)) == ""
