"""What a fifth newcomer found with the pages alone on 2026-11-28, each as it was found."""

import numpy as np
import pytest

import lopsided as lop
from tests.faults.test_doors import command
from tests.faults.test_fourth_trial import STEPS, falling, log, read

X = np.arange(100, 2001, 100)


def curves(rows, seeds=None):
    return lop.Curves("arm", X, np.asarray(rows, float), "steps", seeds)


def test_runs_that_diverged_before_say_nothing_of_one_that_has_not():
    """Twelve logs that ended in NaN at step 150 were "followed beyond 700 steps", and the advice was to stop."""
    gone, plateau = np.where(X <= 100, 0.1, -np.inf), np.full(len(X), 0.1)
    found = lop.forecast(curves([gone] * 12 + [plateau]), at=0.9, now=700)
    assert (found.alike, found.advice) == (1, "unknown")
    later = np.where(X <= 900, 0.1, -np.inf)  # alive at 700, and never there
    assert lop.forecast(curves([later] * 12), at=0.9, now=700).advice == "stop"


def test_flat_noise_of_an_unknown_name_has_no_direction():
    """The verdict was a coin flip between "holds" and "contradicted"."""
    random = np.random.default_rng(5)
    one, two = (level + 0.02 * random.normal(size=(8, 11)) for level in (0.5, 0.8))
    compared = lop.compare(one, two, metric="dist", paired=False)
    with pytest.raises(lop.InputError, match="neither its name nor its curves say"):
        compared.better()
    assert compared.higher().verdict == "holds"  # which asks for no direction
    assert lop.compare(one, two, metric="dist", paired=False, falling=True).better().verdict == "contradicted"


@pytest.mark.parametrize(
    "name", ["accuracy_gap", "acc_drop", "neg_loss", "loss_reduction", "error_free_rate", "neg_reward"]
)
def test_a_word_that_turns_a_name_is_heard(name):
    up, down = np.tile(np.linspace(0, 1, 11), (6, 1)), np.tile(np.linspace(1, 0, 11), (6, 1))
    for rows, said in ((up, "rises in these curves"), (down, "falls in these curves")):
        compared = lop.compare(rows + 0.01 * np.arange(6)[:, None], rows, metric=name)
        assert compared.falling == ("falls" in said)
        assert any(said in note for note in compared.notes)


def test_the_command_takes_a_direction(tmp_path, capsys):
    for seed in range(6):
        log(tmp_path, "base", seed, [0.5 + 0.01 * ((s // 50 + seed) % 3) for s in STEPS], "dist")
        log(tmp_path, "cand", seed, [0.8 + 0.01 * ((s // 50 + seed) % 3) for s in STEPS], "dist")
    asked = ["compare", tmp_path, "--arm-from", "{arm}/seed_{seed}/m.csv"]
    assert "--direction falls or rises" in command(capsys, *asked, code=2).err
    assert "cand ends with a lower dist than base: contradicted" in command(capsys, *asked, "--direction", "falls").out


def test_an_arm_that_is_still_running_at_92_percent_has_no_verdict(tmp_path):
    steps = range(20, 1001, 20)
    for seed in range(8):
        values = [5 - s / 300 + 0.005 * seed for s in steps]
        log(tmp_path, "a", seed, values, steps=steps)
        log(tmp_path, "b", seed, values[:46], steps=steps)
    assert read(tmp_path).compare("a", "b", "val_loss").better().claim.reason == "ends"


def test_a_counter_that_began_again_is_no_resumed_log(tmp_path):
    steps = [*range(0, 501, 50), *range(50, 501, 50)]
    log(tmp_path, "b", 0, [5 - i / 10 for i in range(len(steps))], steps=steps)
    with pytest.raises(lop.InputError, match="at step 50 after 500: a counter that began again"):
        read(tmp_path)
    resumed = [*range(0, 501, 50), *range(400, 801, 50)]
    log(tmp_path / "fine", "b", 0, [5 - i / 10 for i in range(len(resumed))], steps=resumed)
    assert len(read(tmp_path / "fine")) == 1


def test_a_look_at_a_goal_is_not_spent_on_runs_in_progress(tmp_path):
    plan = lop.looks(tmp_path / "p.json", baseline="base", candidate="cand", metric="val_loss", at=0.5, runs=(8, 16))
    for seed in range(8):
        log(tmp_path, "base", seed, falling(seed))
        log(tmp_path, "cand", seed, falling(seed, 0.2)[:5])
    with pytest.raises(lop.InputError, match="8 runs of cand end before 1,000 steps, not there yet"):
        plan.judge(read(tmp_path))
    for seed in range(8):
        log(tmp_path, "cand", seed, falling(seed, 0.2))
    assert plan.judge(read(tmp_path)).verdict == "holds"


def test_a_pilot_of_copies_is_refused():
    with pytest.raises(lop.InputError, match="a copy says nothing of how runs spread"):
        lop.plan(curves(np.tile(np.linspace(4, 1, 20), (5, 1))), effect=1.2, at=2.0, metric="val_loss")


def test_the_forecast_knows_percent_and_what_shares_can_reach(tmp_path, capsys):
    for seed in range(4):
        log(tmp_path, "a", seed, [95.0 * s / 1000 for s in STEPS], "accuracy")
    asked = ["forecast", tmp_path, "--arm-from", "{arm}/seed_{seed}/m.csv"]
    assert "in percent; valid is 90" in command(capsys, *asked, "--at", "0.9", code=2).err
    with pytest.raises(lop.InputError, match="a share"):
        lop.forecast(curves([np.linspace(0, 0.9, 20)] * 3), at=1.2, now=100)


def test_what_is_swept_is_not_said_to_be_taken_together(tmp_path, capsys):
    for rate in ("0.1", "0.3", "1"):
        for arm in ("a", "b"):
            for seed in range(6):
                log(tmp_path / arm, f"lr_{rate}", seed, falling(seed, float(rate) / 10))
    asked = ["compare", tmp_path, "--arm-from", "{arm}/lr_{lr}/seed_{seed}/m.csv", "--metric", "val_loss"]
    assert "taken together" in command(capsys, *asked).out
    assert "taken together" not in command(capsys, *asked, "--sweep", "lr").out
