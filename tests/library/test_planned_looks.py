"""What looks may spend, and what would decide a claim that is open after them."""

from dataclasses import replace

import numpy as np
import pytest

from lopsided.report.words import effect_text, would_decide
from lopsided.stats.seeds_needed import seeds_needed as seeds_for
from lopsided.stats.sequential import bounds, level, seeds_needed, valid_looks
from lopsided.stats.verdict import Claim, Rivals


def test_levels_are_those_of_the_literature():
    """Lan and DeMets, Pocock-type spending of .025, looks at 1/8, 1/4, 1/2 and all (R's gsDesign: 2.586, 2.560, 2.384,
    2.231)."""
    assert bounds((8, 16, 32, 64)) == pytest.approx((2.586, 2.560, 2.384, 2.231), abs=0.005)
    assert level(0, (8,)) == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize("looks", [(64, 512), (32, 128, 512), (8, 16, 32, 64, 128, 256, 512, 1024)])
def test_other_looks_spend_no_more_than_five_percent(looks):
    """400,000 random walks: a share of 5 % is outside the bounds at some look, within five standard errors."""
    valid_looks(looks)
    rng, walks = np.random.default_rng(0), 400_000
    walk, left, before = np.zeros(walks), np.zeros(walks, bool), 0
    for n, bound in zip(looks, bounds(looks), strict=True):
        walk += rng.normal(size=walks) * (n - before) ** 0.5
        left |= np.abs(walk) / n**0.5 > bound
        before = n
    assert left.mean() == pytest.approx(0.05, abs=5 * (0.05 * 0.95 / walks) ** 0.5)


def open_claim(**fields):
    """A claim that is open, with these fields."""
    plain = {"recipe": "r", "claim": "c", "scale": "laptop", "kind": "ahead", "source": "paper", "paper": ""}
    return Claim(**plain, **{"verdict": "inconclusive", "members": 16, "method": "sign flips", "ratio": True} | fields)


def test_what_would_decide_a_claim_in_words():
    claim = open_claim(effect=1.1, interval=(0.9, 1.3), reason="seeds")
    assert would_decide(claim, 25) == "~25 seeds"
    assert would_decide(claim, 10**6) == "> 1,000 seeds"
    assert would_decide(claim, None) == "more seeds"
    beside = replace(claim, reason="rivals", rivals=Rivals(5, ("a",), False))
    assert would_decide(beside, None) == "more seeds that choose"
    assert would_decide(beside, 25) == "~25 seeds"
    assert would_decide(replace(claim, bounds=(1.25, 0.8)), None) == "more seeds"
    assert would_decide(replace(claim, reason="budget"), 25) == "longer runs"
    assert would_decide(replace(claim, reason="edge"), 25) == "a wider sweep"
    assert would_decide(replace(claim, reason="grid"), 25) == "evaluations closer together"
    assert would_decide(replace(claim, verdict="holds"), None) == ""


def test_seeds_that_would_show_that_there_is_no_difference_that_matters():
    """Log ratios of mean 0 and sd .5 at 16 seeds: (1.645 + .84)^2 (.5 / log 1.25)^2 = 31.04, whatever p is."""
    half = 1.96 * 0.5 / 16**0.5
    interval = (float(np.exp(-half)), float(np.exp(half)))
    claim = open_claim(interval=interval, effect=1.0, members=32, p_value=1.0, small=(0.8, 1.25))
    assert seeds_for(claim, 16) == 32
    assert seeds_for(replace(claim, small=None), 16) == 10**6
    assert seeds_for(replace(claim, interval=(0.0, None)), 16) == 10**6
    different = replace(claim, effect=1.5, interval=(1.2, 1.9), p_value=0.06)
    assert seeds_for(different, 16) == seeds_needed(0.06, 16)


@pytest.mark.parametrize(("p_value", "needed"), [(0.1, 61), (0.9, 77), (0.98, None)])
def test_seeds_that_would_decide_an_equivalence_for_it_or_against_it(p_value, needed):
    """Its p-value is one-sided. .9 says that the effect is beyond the margin: then seeds contradict, they do not help
    it. (1.645 + .84)^2 / 1.2816^2 of what there is to hold, (1.96 + .84)^2 / 1.2816^2 to be contradicted; this said a
    million for .9. At .98 the test has contradicted it already: its interval is what it waits for."""
    claim = open_claim(interval=(-0.7, -0.59), effect=-0.65, bounds=(-0.4, -0.6), p_value=p_value)
    assert seeds_for(claim, 16) == needed


def test_an_effect_with_one_known_end_is_a_bound():
    claim = open_claim(interval=(0.5, 2.0), effect=0.9, estimand="ratio of", unit="steps")
    assert effect_text(claim) == "0.9 [0.5, 2] ratio of steps"
    assert effect_text(replace(claim, interval=(0.5, None))) == "≥ 0.9 [0.5, ∞] ratio of steps"
    assert effect_text(replace(claim, interval=(0.0, 2.0))) == "≤ 0.9 [0, 2] ratio of steps"
    assert effect_text(replace(claim, interval=(0.0, None))) == "0.9 [0, ∞] ratio of steps"
    assert effect_text(replace(claim, interval=(0.0, 2.0), ratio=False, estimand="difference of")) == (
        "0.9 [0, 2] difference of steps"
    )


def test_seeds_that_would_decide():
    assert seeds_needed(0.05, 16) == 33  # ((1.96 + .84) / 1.96)^2 of what there is
    assert seeds_needed(1.0, 16) == 10**6
