"""What a fourth newcomer found with the pages alone on 2026-11-28, each as it was found."""

import json

import numpy as np
import pytest

import lopsided as lop
import lopsided.data as ld
from lopsided.core.spec import Spec
from lopsided.explore import curves, runs
from lopsided.stats.race import better
from lopsided.study.overrides import value_of
from tests.conftest import PARITY
from tests.faults.test_doors import command
from tests.faults.test_hostile_folders import put

SMALL = Spec.parse({**PARITY, "steps": 20})
STEPS = range(50, 1001, 50)


def log(folder, arm, seed, values, name="val_loss", steps=STEPS):
    rows = "".join(f"{s},{v}\n" for s, v in zip(steps, values, strict=False))
    put(folder / arm / f"seed_{seed}" / "m.csv", f"step,{name}\n{rows}")


def read(folder, **how):
    return lop.read(folder, arm="{arm}/seed_{seed}/m.csv", **how)


def falling(seed, less=0.0):
    return [2 * np.exp(-s / 400) + 0.01 * seed - less for s in STEPS]


def test_an_accuracy_that_falls_has_not_learned():
    arm = runs.PlacedArm("arm", "0", {}, {})
    steps = np.array([10, 20])
    values = np.array([[0.4, 0.3], [0.5, 0.2]])
    found = curves.ArmCurves(arm, np.arange(2), steps, steps, {}, values, np.zeros(2, bool))
    assert not curves.falls([found], "test/accuracy")
    assert curves.falls([found], "test/loss")
    assert curves.falls([found], "norm/ratio")  # whose name says nothing


def test_an_infinite_value_within_a_log_is_no_end(tmp_path):
    for seed in range(8):
        log(tmp_path, "base", seed, falling(seed))
        values = falling(seed, 0.1)
        values[5] = float("inf")
        log(tmp_path, "cand", seed, values)
    found = read(tmp_path).compare("base", "cand", "val_loss").better()
    assert (found.verdict, round(found.effect, 3)) == ("holds", 0.1)
    log(tmp_path / "first", "base", 0, [float("inf"), *falling(0)[1:]])
    assert len(read(tmp_path / "first").curves("base", "val_loss").tracks[0].value) == len(STEPS) - 1


def test_a_plan_refuses_what_it_does_not_hold(tmp_path, capsys):
    for seed in range(8):
        log(tmp_path, "base", seed, falling(seed))
        log(tmp_path, "cand", seed, falling(seed))
    asked = ["compare", tmp_path, "--arm-from", "{arm}/seed_{seed}/m.csv", "--at", "1.5", "--plan", tmp_path / "p.json"]
    assert "goes with neither --between bounds" in command(capsys, *asked, "--between", "bounds", code=2).err
    assert not (tmp_path / "p.json").exists()


def test_seeds_that_were_left_out_of_a_look_are_said(tmp_path):
    plan = lop.looks(tmp_path / "p.json", baseline="base", candidate="cand", metric="val_loss", at=1.0, runs=(8, 16))
    for seed in [*range(7), 12]:
        log(tmp_path, "base", seed, falling(seed))
        log(tmp_path, "cand", seed, falling(seed, 0.1))
    notes = plan.judge(read(tmp_path)).notes
    assert any("has no seeds 7, 8, 9, 10, 11" in note for note in notes)


def test_an_effect_against_runs_without_a_score_is_not_known():
    """Ranks decide; "better, 1.65 [0.317, 3.18]" was made of worst scores in place of none."""
    none, three = np.full(8, -np.inf), np.full(8, 3.0) + np.arange(8)
    found = better(none, three)
    assert (found.effect, found.reason) == (None, "diverged")
    assert better(three, three + 1).effect == pytest.approx(1.0)


def test_a_clock_that_starts_anew_is_no_axis(tmp_path):
    rows = "".join(
        f"{s},{v},{s / 100 if s <= 500 else (s - 500) / 100}\n" for s, v in zip(STEPS, falling(0), strict=True)
    )
    put(tmp_path / "cand/seed_0/m.csv", f"step,val_loss,seconds\n{rows}")
    with pytest.raises(lop.InputError, match="its seconds go back"):
        read(tmp_path).curves("cand", "val_loss", "seconds")
    assert len(read(tmp_path).curves("cand", "val_loss").tracks[0].value) == len(STEPS)


def test_settings_that_are_taken_together_are_said(tmp_path):
    for rate in ("0.1", "1"):
        for seed in range(3):
            put(tmp_path / f"base/lr_{rate}/seed_{seed}.csv", "step,loss\n1,1\n2,.5\n")
    found = lop.read(tmp_path, arm="{arm}/lr_{lr}/seed_{seed}.csv")
    assert any("base: runs of 2 values of lr (0.1, 1) are taken together" in note for note in found.notes)
    assert "seeds 0, 1, 2\n" in str(found)


def test_the_forecast_says_of_whom_it_says_nothing(tmp_path, capsys):
    for seed in range(12):
        log(tmp_path, "a", seed, [float(s >= 300 + 10 * seed) for s in STEPS], "accuracy")
    log(tmp_path, "a", 99, [0.0] * 8 + [float("nan")] * 12, "accuracy")
    log(tmp_path, "alone", 0, [0.0] * 20, "accuracy")
    asked = ["forecast", tmp_path, "--arm-from", "{arm}/seed_{seed}/m.csv", "--at", "0.9"]
    said = command(capsys, *asked).out
    assert "left out: a: 1 run diverged" in said
    assert "left out: alone: one run" in said
    assert "every run of these logs has reached" not in said
    assert len(json.loads(command(capsys, *asked, "--json").out)["left_out"]) == 2


def test_the_forecast_names_runs_and_counts_those_that_were_followed(tmp_path, capsys):
    for seed in range(13):
        log(tmp_path, "a", seed, [0.0] * (14 if seed == 12 else 8), "accuracy")
    said = command(capsys, "forecast", tmp_path, "--arm-from", "{arm}/seed_{seed}/m.csv", "--at", "0.9").out
    assert "a, seed 0: it cannot be told: 1 of 12 other runs were followed beyond 400 steps without" in said
    assert "a, seed 12: " in said


def test_arms_of_different_lengths_have_no_verdict_on_last_values(tmp_path):
    for seed in range(8):
        log(tmp_path, "base", seed, falling(seed))
        log(tmp_path, "cand", seed, falling(seed)[:8])
    found = read(tmp_path).compare("base", "cand", "val_loss").better()
    assert (found.verdict, found.claim.reason) == ("inconclusive", "ends")
    assert any("runs of cand end at 400 steps, of base at 1,000" in note for note in found.notes)
    assert read(tmp_path, ends="own").compare("base", "cand", "val_loss").better().verdict == "contradicted"


def test_one_curve_on_two_grids_is_one_curve(tmp_path):
    """Evaluated every 50 and every 400 steps, the same runs were "contradicted, p = 0.008"."""
    for seed in range(8):
        log(tmp_path, "base", seed, falling(seed))
        log(tmp_path, "cand", seed, falling(seed)[7::8], steps=list(STEPS)[7::8])
    found = read(tmp_path).compare("base", "cand", "val_loss").faster(at=0.7)
    assert found.verdict == "inconclusive"
    assert "times as often" in str(found)


def test_copies_are_said():
    steps, random = np.arange(1, 21), np.random.default_rng(3)
    one = lop.Curves("a", steps, random.random((8, 20)).cumsum(1), "steps")
    copied = lop.Curves("b", steps, np.repeat(one.values[:1] + 1, 8, axis=0), "steps")
    assert "b: 7 runs the same as another one" in str(lop.compare(one, copied).higher())


def test_members_that_diverged_are_said(tmp_path):
    wild = SMALL.replace({"optimizer.lr": 1e6})
    assert "diverged" in str(lop.run({"wild": wild, "tame": SMALL}, seeds=2, out=tmp_path))


@pytest.mark.slow
def test_a_page_that_is_replaced_is_said(tmp_path, capsys):
    words = ["run", "dense-parity", "--scale", "smoke", "--out", tmp_path]
    command(capsys, *words, "--seeds", "3")
    said = command(capsys, *words, "--seeds", "2").err
    assert "dense-parity-smoke: this folder has 3 seeds of it; the page is now of 2" in said


@pytest.mark.parametrize(("text", "value"), [(".5", 0.5), ("-.5e-3", -0.0005), ("5", 5), (".x", ".x"), ("..", "..")])
def test_a_number_without_its_zero_is_a_number(text, value):
    assert value_of(text) == value


def passes():
    stream = ld.Stream(ld.Groups([0, 1] * 20), ld.Anneal(1.5, 0.0), total=40)
    yield ld.BatchSampler(stream, 10)
    yield ld.SelfAnneal(ld.Groups([0, 1] * 20), total=40, batch=10)
    yield ld.interleave({"a": list("abcd"), "b": list("efgh")}, ld.Uniform(), total=40)


@pytest.mark.parametrize("read", list(passes()), ids=lambda each: type(each).__name__)
def test_a_second_pass_is_said(read):
    """A view refuses it; what a loop over epochs iterates began again without a word, and with it the annealing."""
    list(read)
    with pytest.warns(UserWarning, match="pass 2 begins as the first one did"):
        list(read)


def test_a_line_without_an_end_is_said(tmp_path):
    put(tmp_path / "a.csv", "step,loss\n1,2\n2,1")  # of 11.2
    assert any("its last number may have been cut" in note for note in lop.read(tmp_path / "a.csv").notes)
