"""Arms that are equal stay equal, wherever their runs were evaluated and end, and however many there are."""

import json

import numpy as np
import pytest

import lopsided as lop
from lopsided.api.curves import Ragged
from lopsided.api.few_runs import spreads_apart
from lopsided.cli import main
from lopsided.stats.crossing import Track


def sharp(name, grid, g, spread=0.05, runs=8):
    """Runs of one sharp drop at 1,000 steps, whose speeds spread."""
    speed = np.exp(spread * g.normal(size=(runs, 1)))
    return lop.Curves(name, grid, 1 - 1 / (1 + np.exp(-(grid * speed - 1000) / 20)), "steps")


@pytest.mark.parametrize("apart", [180, 190])
def test_other_evaluations_make_no_difference(apart):
    """12 % and 22 % of such pairs were told apart."""
    g, told = np.random.default_rng(0), 0
    for _ in range(20):
        pair = [sharp(name, np.arange(by, 2101, by), g) for name, by in (("a", 100), ("b", apart))]
        told += lop.Comparison(*pair, "val_loss", small=False).faster(at=0.05).verdict != "inconclusive"
    assert told == 0


def test_evaluations_half_a_distance_later_make_no_difference():
    g = np.random.default_rng(0)
    pair = [sharp(name, np.arange(first, 2101, 100), g, 0.002, 16) for name, first in (("a", 100), ("b", 150))]
    assert lop.Comparison(*pair, "val_loss", small=False).faster(at=0.05).verdict == "inconclusive"


def test_evaluations_of_their_own_make_no_difference():
    g = np.random.default_rng(0)

    def arm(name, apart):
        grids = [np.arange(g.uniform(0, apart), 2100, apart)[1:] for _ in range(20)]
        speeds = np.exp(0.005 * g.normal(size=20))
        tracks = [Track(x, 1 - 1 / (1 + np.exp(-(x * v - 1000) / 20))) for x, v in zip(grids, speeds, strict=True)]
        return Ragged(name, tuple(tracks), "steps")

    told = [lop.Comparison(arm("a", 100), arm("b", 120), "val_loss", small=False).faster(at=0.1) for _ in range(20)]
    assert {each.verdict for each in told} == {"inconclusive"}


@pytest.mark.parametrize(("first", "apart"), [(150, 100), (140, 140)])
def test_other_evaluations_make_no_difference_along_a_clock(first, apart):
    g = np.random.default_rng(0)
    grids = np.arange(100, 2101, 100), np.arange(first, 2101, apart)
    pair = [sharp(name, grid, g, 0.002, 16)._replace(unit="seconds") for name, grid in zip("ab", grids, strict=True)]
    assert lop.Comparison(*pair, "val_loss", small=False).faster(at=0.05).verdict == "inconclusive"


def test_a_slower_side_has_the_same_evaluations_later():
    g, grid = np.random.default_rng(0), np.arange(100, 2101, 100)
    slow, fast = (
        sharp(name, grid, g)._replace(unit="seconds", axis=grid * by) for name, by in (("slow", 1.5), ("fast", 1))
    )
    found = lop.Comparison(slow, fast, "val_loss", small=False).faster(at=0.05)
    assert (found.verdict, found.effect) == ("holds", pytest.approx(1.5, rel=0.1))


def test_an_evaluation_before_training_on_one_side_makes_no_difference():
    g = np.random.default_rng(0)
    both = [sharp(name, np.arange(first, 6001, 1500), g) for name, first in (("a", 1500), ("b", 0))]
    assert lop.Comparison(*both, "val_loss", small=False).faster(at=0.05).verdict == "inconclusive"


def test_the_same_evaluations_after_the_goal_are_enough():
    g, grid = np.random.default_rng(0), np.arange(100, 2101, 100)
    slow, fast = sharp("slow", grid, g), sharp("fast", np.append(50, grid), g)
    fast = fast._replace(values=1 - 1 / (1 + np.exp(-(fast.axis * np.exp(0.05 * g.normal(size=(8, 1))) - 600) / 20)))
    assert lop.Comparison(slow, fast, "val_loss", small=False).faster(at=0.05).verdict == "holds"


@pytest.mark.parametrize("end", [990, 980])
def test_a_percent_more_training_is_no_better_arm(end):
    """46 % and 97 % of such pairs were told apart."""
    g, told = np.random.default_rng(0), 0
    for _ in range(40):
        pair = []
        for name, last in (("a", 1000), ("b", end)):
            axis = np.linspace(last / 20, last, 20)
            values = 3.25 + 2.5 * (1000 - axis) / 1000 + 0.002 * g.normal(size=(8, 1))
            pair.append(lop.Curves(name, axis, values, "steps"))
        found = lop.Comparison(*pair, "val_loss", small=False).better()
        told += found.verdict != "inconclusive"
        assert any(f"last values are those at {end:,}" in note for note in found.notes)
    assert told <= 5


def test_runs_that_stopped_by_a_rule_of_their_own_keep_their_ends():
    pair = [lop.Curves(name, np.arange(1, n + 1), np.full((6, n), 1.0)[:] / np.arange(1, n + 1), "steps")
            for name, n in (("a", 100), ("b", 99))]  # fmt: skip
    found = lop.Comparison(*pair, "val_loss", small=False, ends="own").finals()
    assert [float(each[0]) for each in found] == [1 / 100, 1 / 99]


def three_arms(folder, seeds):
    g = np.random.default_rng(0)
    rows = [
        f"{arm},{seed},{step},{level + 0.03 * g.normal():.4f}"
        for arm, level in (("base", 3.12), ("x", 3.0), ("y", 2.8))
        for seed in range(seeds)
        for step in (1, 2)
    ]
    (folder / "log.csv").write_text("\n".join(["arm,seed,step,val_loss", *rows]))
    return lop.read(folder / "log.csv")


@pytest.mark.parametrize("seeds", [5, 6, 7, 8])
def test_a_sixth_seed_undoes_no_verdict(tmp_path, seeds):
    runs = three_arms(tmp_path, seeds)
    found = runs.against("base", "val_loss")
    assert {v.verdict for v in found.values()} == {"holds"}
    assert any("6 pairs could tell no arms apart" in n for v in found.values() for n in v.notes) == (seeds == 6)
    assert {v.verdict for v in runs.ranking("val_loss").pairs.values()} == {"holds"}


def test_pairs_that_were_asked_for_stay_pairs(tmp_path):
    found = three_arms(tmp_path, 6).against("base", "val_loss", paired=True)
    assert {v.verdict for v in found.values()} == {"inconclusive"}


def test_few_runs_that_spread_far_more_are_said_to():
    few, many = np.array([1.0, 9.0, -7.0, 2.0]), np.linspace(0, 1, 12)
    assert "few has fewer runs and spreads far more" in spreads_apart([few, many], ("few", "many"))
    assert spreads_apart([few / 20, many], ("few", "many")) == ""
    assert spreads_apart([few, many[:4]], ("few", "many")) == ""


def test_a_forecast_needs_a_direction_and_leaves_copies_out(tmp_path, capsys):
    for seed in range(12):
        curve = [0.02] * 10 if seed < 7 else np.linspace(0.1, 0.95, 10)
        noise = np.linspace(0, 0.001, 10) * (seed + 1) * (-1) ** np.arange(10)
        lines = [f"{100 * i + 100},{v}" for i, v in enumerate(curve + noise)]
        (tmp_path / f"run_{seed}.csv").write_text("\n".join(["step,mrr", *lines]))
    command = ["forecast", str(tmp_path), "--at", "0.9", "--json"]
    with pytest.raises(SystemExit) as refused:
        main(command)
    assert refused.value.code == 2
    assert "--direction falls or rises" in capsys.readouterr().err
    (tmp_path / "copy.csv").write_text((tmp_path / "run_0.csv").read_text())
    with pytest.raises(SystemExit):
        main([*command, "--direction", "rises"])
    data = json.loads(capsys.readouterr().out)
    assert {run["asked"] for run in data["runs"]} == {11}
    assert data["left_out"] == ["all: 1 run the same as another one, value for value"]
