"""What other runs say of one that has not learned yet."""

import json

import numpy as np
import pytest

import lopsided as lop
from lopsided.cli import main

STEPS = np.arange(10, 2001, 10)


def arm(times, end=2000):
    """Accuracy 0 before a run's time, 1 from then on."""
    values = 1.0 * (np.asarray(times, float)[:, None] <= STEPS)
    return lop.Curves("arm", STEPS[end >= STEPS], values[:, end >= STEPS], "steps")


def test_waiting_is_told_how_long():
    found = lop.forecast(arm(range(500, 1700, 100)), at=1, now=700)
    assert (found.advice, found.asked, found.alike, found.learned) == ("wait", 12, 9, 9)
    assert found.middle == pytest.approx(1200, abs=10)
    assert (found.low, found.high) == (pytest.approx(800, abs=10), pytest.approx(1600, abs=10))
    assert "wait, about" in str(found)


def test_nobody_who_took_so_long_ever_learned():
    found = lop.forecast(arm([100] * 5 + [np.inf] * 12), at=1, now=500)
    assert found.advice == "stop"
    assert found.most == pytest.approx(1 - 0.05 ** (1 / 12))  # none of 12, one-sided
    assert lop.forecast(arm([100] * 5 + [np.inf] * 4), at=1, now=500).advice == "unknown"  # four are too few to say so


def test_what_cannot_be_told_is_said():
    few = lop.forecast(arm([100] * 9 + [900] * 3), at=1, now=500)
    assert (few.advice, few.low, few.high) == ("unknown", 500, np.inf)
    assert "cannot be told" in str(few)
    none = lop.forecast(arm([100] * 9), at=1, now=500)
    assert (none.advice, none.alike) == ("unknown", 0)
    assert lop.forecast(arm([np.inf] * 12, end=500), at=1, now=500).alike == 0  # not followed any further


def test_a_run_that_is_a_step_further_says_nothing_yet():
    """Thirteen runs in progress, watched for 50 steps longer, are no thirteen failures."""
    going = lop.forecast(arm([np.inf] * 13, end=550), at=1, now=500)
    assert (going.advice, going.alike, going.open, going.most) == ("unknown", 13, 13, 1.0)
    assert "13 of them may yet" in str(going)
    assert lop.forecast(arm([np.inf] * 13, end=1000), at=1, now=500).advice == "stop"  # followed twice as long
    ended = lop.forecast(arm([np.inf] * 13, end=500), at=1, now=500)
    assert "none of 13 other runs was followed beyond 500 steps" in str(ended)


def test_runs_in_progress_widen_the_interval_both_ways():
    whole = lop.forecast(arm(range(700, 1700, 100)), at=1, now=500)
    values = np.array(arm([*range(700, 1600, 100), np.inf]).values, float)
    values[-1, STEPS > 520] = np.nan  # the tenth is in progress
    going = lop.forecast(lop.Curves("arm", STEPS, values, "steps"), at=1, now=500)
    assert (going.alike, going.open, going.learned) == (10, 1, 9)
    assert (going.low, going.high) == (520, np.inf)
    assert (whole.low, whole.high) == (pytest.approx(700, abs=10), pytest.approx(1600, abs=10))


def test_a_goal_that_no_share_can_reach_is_refused():
    with pytest.raises(lop.InputError, match="a share"):
        lop.forecast(arm([100, 200]), at=2, now=50)


def test_some_learn_and_some_never_do():
    found = lop.forecast(arm([900] * 7 + [np.inf] * 3), at=1, now=500)
    assert (found.learned, found.high) == (7, np.inf)
    assert found.advice == "wait"
    assert "without end" in str(found)


def test_the_interval_holds_as_often_as_promised():
    """Of exchangeable runs, 80 % or a little more; times are whatever they are."""
    random = np.random.default_rng(100)
    held = []
    for _ in range(300):
        times = np.exp(random.normal(6.5, 0.5, 20))
        found = lop.forecast(arm(times[1:]), at=1, now=300)
        if times[0] > 300 and found.advice == "wait":
            held.append(found.low <= np.ceil(times[0] / 10) * 10 <= found.high)
    assert 0.75 < np.mean(held) < 0.92
    assert len(held) > 200


@pytest.mark.parametrize("change", [{"at": "a"}, {"at": np.nan}, {"now": None}, {"now": True}, {"others": [1, 2]}])
def test_what_is_no_number_is_one_line(change):
    with pytest.raises(lop.InputError):
        lop.forecast(**{"others": arm([100, 200]), "at": 1, "now": 50, **change})


def test_the_command_reads_logs(tmp_path, capsys):
    """Twelve runs of which one has stopped at 500, and a second arm where nobody is there."""
    lines = ["arm,seed,step,accuracy"]
    for seed, time in enumerate([600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 5000]):
        end = 500 if time == 5000 else 1700
        lines += [f"a,{seed},{step},{float(step >= time)}" for step in range(100, end + 1, 100)]
    lines += [f"b,0,{step},0.0" for step in range(100, 600, 100)]
    (tmp_path / "log.csv").write_text("\n".join(lines))

    def asked(*words, code=0):
        with pytest.raises(SystemExit) as ended:
            main(["forecast", str(tmp_path / "log.csv"), *words])
        assert (ended.value.code or 0) == code
        return capsys.readouterr()

    assert "a, " in (said := asked("--at", "1", "--metric", "accuracy").out)
    assert "wait, about 600 steps more" in said
    (only,) = json.loads(asked("--at", "1", "--metric", "accuracy", "--json").out)["runs"]
    assert (only["arm"], only["advice"], only["alike"], only["high"]) == ("a", "wait", 11, 1600)
