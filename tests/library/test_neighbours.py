"""Neighbouring settings: drawn from a key, trained, decided, shown; and changes that multiply."""

import json
import re
from dataclasses import replace
from itertools import islice

import pytest

from lopsided.claims.nuisance import Nuisance, drawn
from lopsided.claims.statement import OWN, Statement
from lopsided.core.arms import arm, swept
from lopsided.core.errors import InputError
from lopsided.recipe import Final, Higher
from lopsided.report.neighbour_curve import curve
from lopsided.report.words import coverage_text, neighbour_seeds, neighbours_text
from lopsided.stats.verdict import Claim, Look, Neighbour, Neighbours
from lopsided.store.parts import Store
from lopsided.study.checking import found_in
from lopsided.study.manifest import title_of
from lopsided.study.neighbours import MOST, _said, neighbours, recorded, train_neighbours
from lopsided.study.overrides import overridden
from lopsided.study.recipe_run import RecipeRun
from tests.library.small import small_recipe, spec


def arms(scale):
    for lr in (0.05, 0.5):
        yield arm(spec(lr), rate=lr)


def recipe_of(make=arms, **more):
    higher = Higher(Final({"rate": 0.5}), than=Final({"rate": 0.05}), what="accuracy")
    return replace(small_recipe("around", make, [Statement("the large rate ends higher", OWN, higher)]), **more)


def asked_for(recipe, seeds=6):
    return RecipeRun(recipe, "laptop", recipe.specs("laptop"), seeds)


def test_nobody_picks_neighbours():
    """They are a function of the key, more of them go on where fewer stopped, none is the setting itself or twice."""
    every = list(islice(drawn("one key", [["a*=2", "a*=0.5"], ["b*=2"], ["c=1", "c=2"]]), 12))
    assert list(islice(drawn("one key", [["a*=2", "a*=0.5"], ["b*=2"], ["c=1", "c=2"]]), 5)) == every[:5]
    assert list(islice(drawn("another", [["a*=2", "a*=0.5"], ["b*=2"], ["c=1", "c=2"]]), 12)) != every
    assert len(set(every)) == 12
    assert all(every)
    assert len(list(drawn("k", [["a*=2"], ["b*=2"]]))) == 3  # all that there are


def test_a_change_multiplies_what_each_arm_has():
    specs = {"a": spec(0.05), "b": spec(0.5)}
    doubled = overridden("r", specs, ("optimizer.lr*=2", "plan.batch*=0.5"))
    assert [each.optimizer.lr for each in doubled.values()] == [0.1, 1.0]
    assert doubled["a"].plan.batch == specs["a"].plan.batch // 2
    assert overridden("r", {"a": spec(0.05)}, ("plan.batch*=0.03125",))["a"].plan.batch == 1
    for wrong in ("model.nothing*=2", "model.width*=0.001", "steps*=0", "steps*=x", "steps*=-1", "steps*=1"):
        with pytest.raises(InputError, match="--set"):
            overridden("r", specs, (wrong,))
    assert title_of("r", "laptop", ("plan.batch*=2",), [{"plan": {"batch": 1}}]) == "r, batch*=2"


def test_smoke_has_no_neighbours():
    """Its claims are not run: "same side at 0 of 2" stood beside them."""
    with pytest.raises(InputError, match="smoke has no verdicts"):
        neighbours(replace(asked_for(recipe_of()), scale="smoke"), 2)


def test_settings_that_are_swept_or_impossible_are_left_alone():
    def sweep(scale):
        yield from swept(spec, {"lr": (0.05, 0.1)}, rate=0.05)
        yield from swept(spec, {"lr": (0.5, 0.75)}, rate=0.5)

    tried = (
        Nuisance("optimizer.lr", times=(2,)),
        Nuisance("model.width", times=(2,)),
        Nuisance("task.k", times=(100,)),
    )
    found = neighbours(asked_for(recipe_of(sweep, nuisance=tried)), 8)
    assert [each.overrides for each in found] == [("model.width*=2",)]
    with pytest.raises(InputError, match="no setting that may be changed"):
        neighbours(asked_for(recipe_of(nuisance=())), 8)
    for wrong in (0, MOST + 1):
        with pytest.raises(InputError, match="between 1 and"):
            neighbours(asked_for(recipe_of()), wrong)
    changed = replace(asked_for(recipe_of()), overrides=("steps=3",))
    with pytest.raises(InputError, match="as it is"):
        neighbours(changed, 2)


@pytest.mark.slow
def test_neighbours_are_trained_decided_and_counted(tmp_path):
    asked, store = asked_for(recipe_of()), Store(tmp_path)
    around = neighbours(asked, 3)
    assert found_in(asked, store).claims[0].neighbours is None
    asked.train(store)
    done = train_neighbours(around, store)
    assert done.trained == 3 * 2 * 6
    now = store.as_of_now()
    assert [each.overrides for each in recorded(asked, now)] == [each.overrides for each in around]
    (claim,) = found_in(asked, now).claims
    assert claim.verdict == "holds"
    assert claim.neighbours is not None
    assert (claim.neighbours.of, {each.seeds for each in claim.neighbours.at}) == (3, {6})
    assert claim.neighbours.same >= claim.neighbours.certain
    assert [each.changes for each in claim.neighbours.at] == [each.overrides for each in around]
    again = train_neighbours(around, store)
    assert again.trained == 0
    # A change by hand is no neighbour, though a draw may come to it: whoever picks ten settings has no draw of ten.
    fourth = neighbours(asked, 4)[3]
    fourth.train(store)
    assert [each.overrides for each in recorded(asked, store.as_of_now())] == [each.overrides for each in around]
    hand = replace(asked, arms=overridden("around", asked.arms, ("steps=320",)), overrides=("steps=320",))
    hand.train(store)
    assert len(recorded(asked, store.as_of_now())) == 3


CLAIM = Claim(
    recipe="r", claim="c", scale="laptop", kind="ahead", source="own", paper="", estimand="ratio of", unit="steps",
    effect=2.0, interval=(1.5, 3.0), verdict="holds", ratio=True,
)  # fmt: skip


def test_the_curve_is_sorted_and_says_what_was_changed():
    at = (
        Neighbour(("steps*=2",), 4.0, (2.0, None), "holds", 6, 0),
        Neighbour(("model.width*=2",), 0.5, (0.2, 1.5), "inconclusive", 9, 2),
        Neighbour(("model.width*=2", "steps*=2"), None, (None, None), "inconclusive", 6, 0),
    )
    found = replace(CLAIM, neighbours=Neighbours(3, 1, 1, 0, 0, 1, at))
    assert neighbour_seeds([found]) == "6 to 9"
    assert neighbours_text(replace(found, effect=1.0)).startswith("the claim's side at 1 of 3")
    assert neighbours_text(found) == (
        "same side at 1 of 3 neighbouring settings, certain at 1; 1 are not complete; members diverged at 1"
    )
    svg = curve(found)
    titles = re.findall("<title>(.*?)</title>", svg)
    assert titles == ["model.width × 2: 0.5, open, 2 members diverged", "as it is: 2, holds", "steps × 2: 4, holds"]
    assert svg.count("#222") > 3
    assert curve(CLAIM) == ""
    bounded = curve(replace(found, bounds=(1.25,), side="below"))  # the line that divides the sides is the claim's own
    assert re.findall('stroke-width="1"/><text[^>]*>([^<]*)<', bounded) == ["1.25"]
    assert re.findall('stroke-width="1"/><text[^>]*>([^<]*)<', svg) == ["1"]
    assert Claim.of_json(json.loads(json.dumps(found.as_json()))) == found


@pytest.mark.parametrize(
    ("changes", "side"),
    [
        ({}, True),
        ({"effect": 0.9}, False),
        ({"effect": None}, None),
        ({"ratio": False, "effect": 0.1}, True),
        ({"ratio": False, "effect": -0.1}, False),
        ({"bounds": (3.0,), "side": "above"}, False),
        ({"bounds": (3.0,), "side": "below"}, True),
        ({"bounds": (1.25, 0.8), "effect": 1.1}, True),
        ({"bounds": (1.25, 0.8)}, False),
        ({"bounds": (0.8, 1.25), "verdict": "negligible", "effect": 1.05}, True),
        ({"bounds": (0.8, 1.25), "verdict": "negligible", "effect": 0.9}, False),
        ({"effect": 1.0}, None),
        ({"ratio": False, "effect": 0.0}, None),
    ],
)
def test_an_effect_lies_where_the_claim_says_or_not(changes, side):
    assert replace(CLAIM, **changes).as_said is side


def test_what_changes_nothing_that_a_claim_reads_is_no_further_setting():
    """Claims about step 100 at a constant rate were "certain at 8 of 8", with twice the steps at four of them."""
    run = RecipeRun(recipe_of(), "laptop", {}, 6, ("steps*=2",))
    same, other = replace(CLAIM, effect=1.9), replace(CLAIM, effect=3.0)
    found = _said(CLAIM, [same], [(run, same), (run, other), (run, other), (run, replace(other, effect=None))], 0)
    assert (found.of, found.same, found.certain, found.alike) == (2, 1, 2, 2)
    assert neighbours_text(replace(CLAIM, neighbours=found)).endswith("; 2 more change nothing that it reads")


def test_what_intervals_cover_is_said_of_those_that_are_there():
    assert coverage_text([CLAIM]) == "Intervals cover 95 %."
    equal = replace(CLAIM, coverage=0.9, bounds=(0.8, 1.25))
    assert coverage_text([CLAIM, equal]) == "Intervals cover 90 to 95 %: less where an equivalence is tested."
    looked = replace(CLAIM, coverage=0.97, look=Look(1, 4, 8, 0.03))
    assert coverage_text([looked]) == "Intervals cover 97 %: each look has its own."
