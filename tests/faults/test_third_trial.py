"""What a third newcomer found with the pages alone on 2026-11-28, each as it was found."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import lopsided as lop
from lopsided.advising.any_training import advise
from lopsided.cli import main
from lopsided.core.spec import Spec
from lopsided.store.parts import Store
from lopsided.store.tables import query
from lopsided.study.manifest import recorded
from lopsided.study.others import OTHERS, arm_rows
from tests.conftest import PARITY
from tests.faults.test_doors import command
from tests.faults.test_hostile_folders import put

SMALL = Spec.parse({**PARITY, "steps": 20})


def logs(folder, ends, name="val_loss"):
    """Runs of two arms whose losses fall alike; `ends` of those of `new`."""
    for seed, end in enumerate(ends):
        for arm, last in (("base", 1000), ("new", end)):
            rows = "".join(f"{s},{2 * np.exp(-s / 400) + 0.01 * seed}\n" for s in range(50, last + 1, 50))
            put(folder / arm / f"seed_{seed}" / "m.csv", f"step,{name}\n{rows}")
    return lop.read(folder, arm="{arm}/seed_{seed}/m.csv")


@pytest.mark.parametrize("ends", [[400] * 7 + [1000], range(400, 800, 50)])
def test_last_values_of_runs_of_different_length_have_no_verdict(tmp_path, ends):
    """The same dynamics were "contradicted, p = 0.008", since seven of eight runs ended at 400 of 1,000 steps."""
    found = logs(tmp_path, ends).compare("base", "new", "val_loss").better()
    assert (found.verdict, found.claim.reason, found.effect) == ("inconclusive", "ends", None)
    assert any("runs of new end by" in note for note in found.notes)
    assert "runs end at different places" in str(found)


def test_a_rule_that_ends_runs_may_be_said(tmp_path):
    logs(tmp_path, range(400, 800, 50))
    runs = lop.read(tmp_path, arm="{arm}/seed_{seed}/m.csv", ends="own")
    assert runs.compare("base", "new", "val_loss").better().verdict == "contradicted"


def test_targets_and_tables_know_how_far_runs_were_followed(tmp_path, capsys):
    logs(tmp_path, [400] * 7 + [1000])
    asked = ["compare", tmp_path, "--arm-from", "{arm}/seed_{seed}/m.csv", "--metric", "val_loss", "--at", "0.5"]
    assert "> 400" in command(capsys, *asked).out
    said = command(capsys, *asked, "--target").out
    assert "end by 400 of 1,000 steps" in said
    assert "Compared with" not in said


def test_runs_of_one_length_in_steps_may_differ_in_seconds():
    """Machines differ in speed: runs with as many evaluations are of one length."""
    tracks = [lop.Curves("a", np.arange(1, 9) * speed, np.linspace(2, 1, 8)[None], "seconds") for speed in (1.0, 1.5)]
    one = tuple(track for each in tracks for track in lop.compare(each, each).baseline.tracks)
    assert not lop.compare(tracks[0], tracks[0]).baseline._replace(tracks=one).uneven


def test_a_look_is_not_spent_on_runs_in_progress(tmp_path):
    plan = lop.looks(tmp_path / "plan.json", baseline="base", candidate="new", metric="val_loss", runs=(8, 16))
    with pytest.raises(lop.InputError, match="takes whole runs; 7 of 8 runs of new end by 400"):
        plan.judge(logs(tmp_path, [400] * 7 + [1000]))
    again = lop.looks(tmp_path / "plan.json", baseline="base", candidate="new", metric="val_loss")
    assert again.plan["looks"] == [8, 16]  # nobody has to say them twice


def test_pairs_that_tell_nothing_are_named():
    steps = np.arange(100, 1100, 100)
    learns, never = 1.0 * (steps >= 600), 0.0 * steps
    short = np.where(steps <= 300, 0.0, np.nan)
    fast = lop.Curves("m", steps, np.stack([learns] * 10 + [short] * 2), "steps", range(12))
    slow = lop.Curves("n", steps, np.stack([never] * 12), "steps", range(12))
    found = lop.compare(slow, fast, metric="accuracy").faster(at=0.9)
    assert "in 2 of 12 pairs a run ended before it could be known which side is faster (seeds 10, 11)" in str(found)


def test_a_run_that_diverged_is_the_reason():
    steps = np.arange(1, 9)
    good, bad = np.linspace(0.1, 0.9, 8), np.append(np.linspace(0.1, 0.5, 7), -np.inf)
    found = lop.compare(
        lop.Curves("a", steps, np.stack([good] * 8), "steps"),
        lop.Curves("b", steps, np.stack([good] * 7 + [bad]), "steps"), metric="accuracy", paired=True,
    ).higher()  # fmt: skip
    assert "a run diverged or failed, and has no last value" in str(found)


def test_runs_that_are_the_same_are_said_to_be():
    curves = lop.Curves("a", np.arange(1, 9), np.random.default_rng(0).random((8, 8)).cumsum(1), "steps")
    assert "the same, value for value" in str(lop.compare(curves, curves._replace(name="b")).higher())


def test_the_query_that_help_prints_is_of_last_values(tmp_path, capsys):
    from lopsided.cli import query as described

    small = {"a": SMALL.replace({"steps": 10, "evaluation.every": 10}), "b": SMALL}
    lop.run(small, seeds=3, out=tmp_path)
    (text,) = [line for line in (described.__doc__ or "").split('"') if line.strip().startswith("SELECT arm")]
    sql = " ".join(text.split()).replace("tour-laptop", OTHERS)
    said = command(capsys, "query", sql, tmp_path, "--json").out
    found = (
        dict(json.loads(said)["rows"])
        if isinstance(json.loads(said), dict)
        else {row["arm"]: row['median("last")'] for row in json.loads(said)}
    )
    for name, arm in lop.load(tmp_path, recipe=OTHERS).arms.items():
        assert found[name] == pytest.approx(np.median(arm.final("test/accuracy")))


def test_python_runs_have_seeds_of_their_own_and_can_be_loaded(tmp_path):
    """All arms had the largest seed of the folder as their number of seeds."""
    from lopsided.store.parts import Store

    fresh = SMALL.replace({"steps": 30})
    lop.run({"small": SMALL, "fresh": fresh}, seeds=3, out=tmp_path)
    lop.run(SMALL, seeds=range(100, 102), out=tmp_path)
    store = Store(tmp_path)
    assert sorted(row.seeds for row in arm_rows(store, recorded(store))) == [3, 102]
    loaded = lop.load(tmp_path, recipe=OTHERS)
    assert sorted(len(arm.seeds) for arm in loaded.arms.values()) == [3, 5]
    assert str(loaded).startswith("final test/accuracy: median [lowest, highest]")
    sql = "SELECT spec, count(DISTINCT seed) FROM rows JOIN arms USING (spec) WHERE seed < seeds GROUP BY spec"
    assert sorted(dict(query(store, arm_rows(store, recorded(store)), sql)[1]).values()) == [3, 5]


def tied(shape, seed):
    if seed % 2:
        raise ValueError("boom")
    return 0.5


@pytest.mark.parametrize("train", [lambda shape, seed: 0.1 * seed, tied])
def test_a_tie_is_no_win(train):
    found = lop.advise(train, {"uniform": 1, "a": 2, "b": 3}, told=None)
    assert found.outcome == "keep"
    assert "on every seed of the screening all shapes score alike" in str(found)


def test_some_shapes_tie_with_what_is_in_use():
    scores = {"uniform": 1.0, "same": 1.0, "worse": 0.0}
    found = lop.advise(lambda shape, seed: scores[shape] + seed, {name: name for name in scores}, told=None)
    assert "none ranks ahead of it, and same as it does" in str(found)


def test_looks_are_planned_once(tmp_path):
    """`--budget` after a look chose another number of them, each time at the full 5 %."""
    noise = np.random.default_rng(7).random((200, 3))
    said: list[str] = []

    def train(shape, seed):
        return float(noise[seed, shape])

    shapes = {"uniform": 0, "a": 1, "b": 2}
    first = advise(train, shapes, out=tmp_path / "scores.jsonl", told=None)
    more = advise(train, shapes, out=tmp_path / "scores.jsonl", budget=1e6, told=said.append)
    assert (more.plan.looks, more.advice.seeds) == (first.plan.looks, first.advice.seeds)
    assert any("--budget changes nothing now" in line for line in said)


LOOP = """
import time
def train(stream, seed):
    time.sleep(0.3)
    return float(seed)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_race_that_is_stopped_says_where_it_goes_on(tmp_path, number, code):
    put(tmp_path / "loop.py", LOOP)
    put(tmp_path / "table.csv", "skill\n" + "\n".join("abcab" * 8))
    words = ["advise", "table.csv", "--train", "loop.py", "--skill", "skill", "--samples", "40", "--out", "out"]
    race = subprocess.Popen([sys.executable, "-m", "lopsided", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("out/advice/*.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(race.pid, number)
    _, said = race.communicate(timeout=60)
    assert race.returncode == code
    assert "the scores so far are in out/advice/" in said


def test_seeds_that_are_added_after_a_verdict_are_said(tmp_path, monkeypatch):
    from lopsided.store.parts import Store
    from lopsided.study import manifest, recipe_run
    from lopsided.study.before import tested_before

    asked, more = (recipe_run.prepare("deflation", "laptop", seeds, ()) for seeds in (6, 9))
    assert tested_before(more, Store(tmp_path)) == ""
    hashes = [spec.content_hash() for spec in asked.arms.values()]

    class Before:
        seeds, tested, arms = 6, 0, manifest.arms_of(asked.arms)

        def members(self):
            return [(digest, seed) for digest in hashes for seed in range(6)]

    monkeypatch.setattr(manifest, "read", lambda store, label: Before())
    assert tested_before(more, Store(tmp_path)) == ""  # they are not complete
    monkeypatch.setattr(Store, "complete", lambda self: dict.fromkeys(Before().members()))
    assert "tested at 6 seeds before, and are now tested anew at 9" in tested_before(more, Store(tmp_path))
    assert tested_before(asked, Store(tmp_path)) == ""


def test_skills_that_are_not_found_are_not_written(tmp_path, capsys):
    put(tmp_path / "t.csv", "text\n" + "\n".join(f"word{i} about{i} thing{i}" for i in range(60)))
    said = command(capsys, "skills", tmp_path / "t.csv", "--text", "text", "-o", tmp_path / "o.csv", code=2).err
    assert "digits do not count" in said or "none found" in said
    assert not (tmp_path / "o.csv").exists()


def test_a_goal_that_accuracy_cannot_reach_is_refused_by_the_forecast(tmp_path, capsys):
    rows = "".join(f"{seed},{step},0.1\n" for seed in range(3) for step in (1, 2, 3))
    put(tmp_path / "a.csv", f"seed,step,accuracy\n{rows}")
    with pytest.raises(SystemExit) as ended:
        main(["forecast", str(tmp_path / "a.csv"), "--at", "2"])
    assert ended.value.code == 2


@pytest.mark.slow
def test_a_list_without_end_does_not_fill_the_machine(tmp_path):
    """Random commands had used 20 GB and were killed: `range(1000000000)`, which DuckDB's own limit does not see."""
    lop.run(SMALL, seeds=1, out=tmp_path)
    ask = "import resource, sys; from lopsided.cli import main\n"
    peak = "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    for sql in ("SELECT range(1000000000), range(1000000000)", "SELECT range(20000000)"):
        code = f"{ask}try:\n    main(['query', {sql!r}, {str(tmp_path)!r}])\nfinally:\n    {peak}"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert found.returncode == 2, found
        assert "query: " in found.stderr
        assert int(found.stderr.split()[-1]) < 6_000_000, found.stderr  # kB
    assert query(Store(tmp_path), [], "SELECT range(3) AS a, 1 AS b;").rows == [([0, 1, 2], 1)]
