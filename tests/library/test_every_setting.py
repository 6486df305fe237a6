"""A verdict holds at every setting of the side that it speaks against."""

import json
from collections import Counter

import numpy as np
import pytest

from lopsided.claims.deciding import decide
from lopsided.core.arms import arm
from lopsided.recipe import OWN, Ahead, NotAhead, Statement, WiderGap
from lopsided.results.stored import Arm, Results
from lopsided.results.sweeps import best
from lopsided.stats.verdict import Rivals
from tests.library.small import small_recipe, spec

STEPS = np.arange(20, 301, 20)


def made_up(times, seeds=12, noise=0.1, frozen=()):
    """Results whose arms learn at given times (by side and rate), with a spread of log times."""
    arms = {}
    for i, ((side, lr), middle) in enumerate(times.items()):
        rng = np.random.default_rng(i)
        reached = middle * np.exp(noise * rng.normal(size=seeds))
        values = {"test/accuracy": (STEPS[None] >= reached[:, None]).astype(float)}
        name = f"{side}, lr = {lr:g}"
        none = np.zeros(seeds, bool)
        at = {"side": side, "lr": lr}
        arms[name] = Arm(name, spec(lr), tuple(range(seeds)), STEPS, STEPS, STEPS, 1.0, none, values, at, ("lr",))
    return Results("test", "laptop", arms, frozen=tuple(frozen))


def sides(**of):
    return {(side, lr): middle for side, rates in of.items() for lr, middle in rates.items()}


A, B, C, D = ({"side": side} for side in "ABCD")
RATES = (0.3, 0.45, 0.675, 1.0, 1.5)


def curve(*middles):
    return dict(zip(RATES, middles, strict=True))


CLEAR = sides(A=curve(200, 150, 100, 150, 200), B=curve(290, 280, 220, 260, 290))


def test_a_side_that_is_ahead_of_every_setting_is_ahead():
    found = Ahead(A, of=B).decide(made_up(CLEAR))
    assert found.verdict == "holds"
    assert found.rivals == Rivals(5, ("B",), True)
    assert found.interval[0] > 1.5
    assert Ahead(B, of=A).decide(made_up(CLEAR)).verdict == "contradicted"


def test_a_side_that_is_ahead_of_the_chosen_setting_alone_is_not():
    """Frozen at a rate that is not the best of B: A is ahead of that one, and not of the best one."""
    times = sides(A=curve(200, 150, 100, 150, 200), B=curve(200, 180, 100, 150, 200))
    frozen = made_up(times, frozen=("A, lr = 0.675", "B, lr = 0.45"))
    assert best(frozen, **B).arm.name == "B, lr = 0.45"
    found = Ahead(A, of=B).decide(frozen)
    assert found.verdict == "inconclusive"
    assert found.rivals == Rivals(5, ("B",), False)
    assert found.interval[0] < 1 < found.effect


def test_what_is_not_ahead_is_behind_at_every_one_of_its_settings():
    times = sides(A=curve(200, 150, 100, 60, 200), B=curve(200, 150, 100, 150, 200))
    frozen = made_up(times, frozen=("A, lr = 0.675", "B, lr = 0.675"))
    assert NotAhead(A, of=B).decide(frozen).verdict == "inconclusive"
    assert NotAhead(A, of=B).decide(made_up({**times, ("A", 1.0): 150})).verdict == "holds"


def test_a_wider_gap_is_wider_against_other_settings_of_its_slow_and_the_others_fast_side():
    wide = {"A": curve(290, 280, 220, 260, 290), "B": curve(90, 60, 40, 60, 90)}
    narrow = {"C": curve(200, 150, 110, 150, 200), "D": curve(200, 150, 100, 150, 200)}
    at = {"A": "wide", "B": "wide", "C": "narrow", "D": "narrow"}
    results = made_up(sides(**wide, **narrow))
    arms = {}
    for name, each in results.arms.items():
        side = each.coordinates["side"]
        where = {**each.coordinates, "gap": at[side], "side": "slow" if side in "AC" else "fast"}
        arms[name] = Arm(**{**vars(each), "coordinates": where})
    test = WiderGap({"gap": "wide"}, {"gap": "narrow"}, slow={"side": "slow"}, fast={"side": "fast"})
    found = test.decide(Results("test", "laptop", arms))
    assert found.verdict == "holds"
    assert found.rivals.settings == 25


def test_arms_without_a_sweep_are_judged_as_they_are():
    times = {("A", 0.5): 100, ("B", 0.5): 200}
    found = Ahead(A, of=B).decide(made_up(times))
    assert found.verdict == "holds"
    assert found.rivals is None


@pytest.mark.slow
def test_equal_arms_at_swept_rates_are_seldom_told_apart():
    """Both sides choose among rates of which three are nearly as good; 200 times, each claim through `decide`."""
    middles = {0.45: 130.0, 0.675: 120.0, 1.0: 120.0, 1.5: 130.0, 2.25: 200.0}
    claim = Statement("A is ahead", OWN, Ahead(A, of=B))
    recipe = small_recipe("equal", lambda scale: iter([arm(spec(0.5), side="A")]), [claim])
    rng, found = np.random.default_rng(7), Counter()
    for _ in range(200):
        arms = {}
        for side in "AB":
            for lr, middle in middles.items():
                reached = middle * np.exp(0.18 * rng.normal(size=12))
                values = {"test/accuracy": (STEPS[None] >= reached[:, None]).astype(float)}
                name, at = f"{side}, lr = {lr:g}", {"side": side, "lr": lr}
                none = np.zeros(12, bool)
                arms[name] = Arm(name, spec(lr), tuple(range(12)), STEPS, STEPS, STEPS, 1.0, none, values, at, ("lr",))
        (said,) = decide(recipe, Results("equal", "laptop", arms))
        found[said.verdict] += 1
    assert found["holds"] + found["contradicted"] <= 0.05 * 200, json.dumps(found)
