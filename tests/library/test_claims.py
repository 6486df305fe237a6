"""Kinds of claims are data: what they read, how they decide, and what qualifies a verdict."""

import json
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.claims import several, slopes, times, values
from lopsided.claims.counts import counts
from lopsided.claims.deciding import decide, found_of
from lopsided.claims.kind import Kind
from lopsided.claims.setting import apart, differences, settings_of
from lopsided.claims.settled import settled
from lopsided.cli import main
from lopsided.core.arms import SCALES, arm, swept
from lopsided.core.errors import InputError
from lopsided.core.registry import lookup, registered
from lopsided.recipe import (
    EVERY,
    OWN,
    Above,
    Ahead,
    AheadThroughout,
    Below,
    Custom,
    Everywhere,
    Final,
    Higher,
    Level,
    Lower,
    Measured,
    MembersAbove,
    Near,
    NotAhead,
    Paper,
    Reaches,
    SlopeAbove,
    SlopeBelow,
    SlopeNear,
    Statement,
    WiderGap,
    decisions,
)
from lopsided.report.schema import claims_schema
from lopsided.report.words import counts_text, difference_text, setting_text, settings_text, would_decide
from lopsided.results.stored import Arm, Results
from lopsided.stats.slopes import of_points
from lopsided.stats.verdict import Claim, Decision, Difference
from tests.library.small import small_recipe, spec

ROOT = Path(__file__).parents[2]
STEPS = np.arange(20, 301, 20)


def made_up(curves, scale="laptop", **changes):
    """Results whose arms `data` have these curves (M, T) of the test accuracy."""
    arms = {}
    for name, curve in curves.items():
        made = spec(0.5).replace(**changes) if changes else spec(0.5)
        none = np.zeros(len(curve), bool)
        arms[name] = Arm(name, made, tuple(range(len(curve))), STEPS, STEPS, STEPS, 1.0, none,
                         {"test/accuracy": np.asarray(curve, float)}, {"data": name})  # fmt: skip
    return Results("made-up", scale, arms)


def rising(to, members=8, noise=0.01, late=0.0, seed=0):
    """Curves that reach `to`, and rise by `late` over the last quarter."""
    rng = np.random.default_rng(seed)
    curve = np.minimum(1.0, np.arange(len(STEPS)) / 5) * to
    curve = curve + late * np.clip((np.arange(len(STEPS)) - 0.75 * (len(STEPS) - 1)) / (0.25 * (len(STEPS) - 1)), 0, 1)
    return np.clip(curve + noise * rng.normal(size=(members, len(STEPS))), 0, 1)


LOW, HIGH = {"data": "low"}, {"data": "high"}
LAW = Measured(lambda r: of_points(np.array([1.0, 2.0, 4.0]), np.ones((8, 3)) * np.array([1.0, 2.0, 4.0])))
EACH_KIND = {
    "ahead": Ahead(Reaches(HIGH, "test/accuracy", 0.2), of=Reaches(LOW, "test/accuracy", 0.2)),
    "ahead-throughout": AheadThroughout(HIGH, of=LOW, at=(0.2, 0.3)),
    "level": Level(HIGH, LOW),
    "not-ahead": NotAhead(HIGH, of=LOW),
    "wider-gap": WiderGap(HIGH, LOW, slow={}, fast={}),
    "higher": Higher(Final(HIGH), Final(LOW), "accuracy", 0.05),
    "lower": Lower(Final(LOW), Final(HIGH), "accuracy", 0.05),
    "above": Above(Final(HIGH), 0.5, "accuracy"),
    "below": Below(Final(HIGH), 0.5, "accuracy"),
    "near": Near(Final(HIGH), 0.8, 0.1, "accuracy"),
    "members-above": MembersAbove(Measured(lambda r: r["high"].final("test/accuracy") > 0.5, HIGH), 0.5, "that learn"),
    "slope-near": SlopeNear(LAW, 1.0, 0.1, "a against b"),
    "slope-below": SlopeBelow(LAW, 2.0, "a against b"),
    "slope-above": SlopeAbove(LAW, 0.5, "a against b"),
    "everywhere": Everywhere({"here": Above(Final(HIGH), 0.5, "accuracy"), "there": Above(Final(HIGH), 0.6, "a")}),
    "custom": Custom(lambda r, level: decisions.above(r["high"].final("test/accuracy"), 0.5, "a", level=level), HIGH),
}


def test_every_kind_is_tried_here():
    defined = [kind for module in (times, values, slopes, several) for kind in vars(module).values()
               if isinstance(kind, type) and issubclass(kind, Kind) and kind is not Kind]  # fmt: skip
    assert {kind.kind for kind in defined} == set(EACH_KIND) == {kind.kind for kind in map(type, EACH_KIND.values())}


@pytest.mark.parametrize("name", EACH_KIND)
def test_a_kind_is_frozen_data_that_reads_what_it_says_and_no_more(name):
    test, results = EACH_KIND[name], made_up({"low": rising(0.3), "high": rising(0.8), "other": rising(0.5)})
    assert is_dataclass(test)
    with pytest.raises(AttributeError):
        setattr(test, fields(test)[0].name, None)
    reads = test.reads(results.arms)
    assert reads
    alone = test.decide(results.of(reads))
    assert isinstance(alone, Decision)
    assert alone == test.decide(results)
    assert test.decide(results, level=0.01).verdict in ("inconclusive", alone.verdict)


VERDICTS = {
    "ahead": "holds", "higher": "holds", "lower": "holds", "above": "holds", "below": "contradicted", "near": "holds",
    "members-above": "holds", "everywhere": "holds", "custom": "holds", "level": "contradicted",
}  # fmt: skip


@pytest.mark.parametrize("name", VERDICTS)
def test_a_plain_case_has_a_plain_verdict(name):
    results = made_up({"low": rising(0.3), "high": rising(0.93, noise=0.001)})
    if name == "near":
        results = made_up({"low": rising(0.3), "high": rising(0.8)})
    assert EACH_KIND[name].decide(results).verdict == VERDICTS[name]


def test_a_function_is_given_the_arms_that_it_may_read_and_no_others():
    results = made_up({"low": rising(0.3), "high": rising(0.8)})
    peeking = Measured(lambda r: r.arm(data="low").final("test/accuracy"), HIGH)
    with pytest.raises(InputError, match="one arm has to lie at"):
        Above(peeking, 0.1, "accuracy").decide(results)
    seen = Measured(lambda r: len(r.arms), EVERY)
    assert seen.read(results) == 2


def test_a_mistyped_coordinate_is_named_with_the_nearest_one():
    arms = made_up({"low": rising(0.3), "high": rising(0.8)}).arms
    with pytest.raises(InputError, match=r"claim 'c': unknown coordinate 'dta'. Did you mean 'data'"):
        Statement("c", OWN, Above(Final({"dta": "low"}), 0.5, "a")).check(arms)
    with pytest.raises(InputError, match=r"claim 'c': unknown data of an arm 'hihg'. Did you mean 'high'"):
        Statement("c", OWN, Above(Final({"data": "hihg"}), 0.5, "a")).check(arms)


def test_a_statement_says_what_it_takes():
    with pytest.raises(InputError, match="has to be a kind of test"):
        Statement("c", OWN, lambda r: None)
    with pytest.raises(InputError, match=r"has to be Paper\(said, figure\) or Own"):
        Statement("c", "not in the paper", Above(Final(HIGH), 0.5, "a"))
    recipe = small_recipe("odd", lambda scale: iter([arm(spec(0.5), data="high")]), [])
    with pytest.raises(InputError, match="has to return a Decision"):
        found_of(recipe, Statement("c", OWN, Custom(lambda r, level: 3)), made_up({"high": rising(0.8)}))


def recipe_at(paper_steps, test):
    """A recipe of one claim whose paper trains for so many steps."""

    def arms(scale):
        steps = paper_steps if scale == "paper" else 300
        for name in ("low", "high"):
            yield arm(spec(0.5).replace(steps=steps), data=name)

    made = small_recipe("long-enough", arms, [Statement("c", Paper("ahead", "fig. 1"), test)])
    return replace(made, scales={**made.scales, "paper": (6,)})


ENDS_ABOVE = Above(Final(HIGH), 0.9, "accuracy")


@pytest.mark.parametrize(
    ("paper_steps", "late", "schedule", "verdict"),
    [
        (300, 0.3, "constant", "contradicted"),  # as long as the paper's
        (3000, 0.0, "constant", "contradicted"),  # shorter, and no longer moving
        (3000, 0.3, "constant", "inconclusive"),  # shorter, and still rising
        (3000, 0.0, "cosine", "inconclusive"),  # a rate that falls stops any curve
    ],
)
def test_short_runs_do_not_speak_against_a_level_at_their_end(paper_steps, late, schedule, verdict):
    optimizer = {"name": "sgd", "lr": 0.5, "schedule": schedule}
    results = made_up({"low": rising(0.3), "high": rising(0.3, late=late)}, optimizer=optimizer)
    (claim,) = decide(recipe_at(paper_steps, ENDS_ABOVE), results)
    assert (claim.verdict, claim.reason) == (verdict, "budget" if verdict == "inconclusive" else "")


def test_nor_do_they_make_a_difference_negligible():
    results = made_up({"low": rising(0.3, late=0.2), "high": rising(0.3, late=0.2)})
    (claim,) = decide(recipe_at(3000, EACH_KIND["higher"]), results)
    assert (claim.verdict, claim.reason) == ("inconclusive", "budget")
    both_done = made_up({"low": rising(0.99, noise=0.001), "high": rising(0.99, noise=0.001)})
    (claim,) = decide(recipe_at(3000, EACH_KIND["higher"]), both_done)
    assert claim.verdict == "negligible"


def test_members_that_are_exactly_alike_do_not_wait_for_seeds():
    """They were "too few seeds"."""
    results = made_up({"low": rising(0.5), "high": rising(0.5)})
    (claim,) = decide(recipe_at(300, Higher(Final(HIGH), Final(LOW), "accuracy")), results)
    assert (claim.verdict, claim.reason) == ("inconclusive", "ties")
    assert would_decide(claim, None) == "a measure in which members differ"


def test_members_that_diverged_do_not_wait_for_longer_runs():
    """They were "too short runs"."""
    results = made_up({"low": rising(0.3), "high": np.zeros((8, len(STEPS)))})
    lost = replace(results.arms["high"], diverged=np.arange(8) < 5)
    claims = [
        decide(recipe_at(300, EACH_KIND["level"]), each)[0]
        for each in (results, replace(results, arms={**results.arms, "high": lost}))
    ]
    assert [claim.reason for claim in claims] == ["budget", "diverged"]


def test_what_speaks_for_a_claim_needs_no_longer_run():
    results = made_up({"low": rising(0.3), "high": rising(0.93, noise=0.001, late=0.05)})
    (claim,) = decide(recipe_at(3000, ENDS_ABOVE), results)
    assert claim.verdict == "holds"


@settings(max_examples=40, deadline=None)
@given(st.floats(0.15, 0.5), st.integers(0, 1000))
def test_a_curve_that_still_rises_is_not_settled(late, seed):
    results = made_up({"high": rising(0.3, late=late, seed=seed)})
    assert not settled(results["high"], "test/accuracy")


def test_a_settled_curve_is_called_moving_in_few_cases_and_a_margin_in_none():
    """200 flat curves with noise; and 200 that rise by the margin, of which at most 5 % (+ 2 standard errors) pass."""
    flat = [settled(made_up({"x": rising(0.5, seed=s)})["x"], "test/accuracy") for s in range(200)]
    rising_by_it = [
        settled(made_up({"x": np.clip(0.4 + 0.05 * np.clip((np.arange(15) - 10.5) / 3.5, 0, 1)
                         + 0.02 * np.random.default_rng(s).normal(size=(8, 15)), 0, 1)})["x"], "test/accuracy")
        for s in range(200)
    ]  # fmt: skip
    assert np.mean(flat) > 0.9
    assert np.mean(rising_by_it) <= 0.05 + 2 * (0.05 * 0.95 / 200) ** 0.5


def test_the_setting_is_computed_from_the_specs():
    recipe = lookup("recipe", "state-tracking")
    test = recipe.claims[0].test
    plan = recipe.arms_at("laptop")
    from lopsided.claims.deciding import papers

    found = differences([plan[name] for name in test.reads(plan)], papers(recipe))
    assert Difference("steps", 4000, 200_000) in found
    assert Difference("task.group", "A5", "S5") in found
    assert [difference_text(each) for each in found if each.field in ("steps", "model.width", "task.group")] == [
        "group A5 for S5", "width 1/4", "steps 1/50",
    ]  # fmt: skip


def test_swept_settings_are_no_difference():
    def arms(rates, steps):
        return {each.name: each for each in swept(lambda lr: spec(lr).replace(steps=steps), {"lr": rates}, data="x")}

    rows = apart(arms((0.5, 0.7), 300), arms((0.01, 0.02), 600))
    assert [(row.difference, row.arms) for row in rows] == [(Difference("steps", 300, 600), ())]


def test_words_of_a_setting():
    claim = Claim.of("c", EACH_KIND["above"].decide(made_up({"high": rising(0.8)})))
    claim = replace(
        claim, assumed=("loss",),
        setting=tuple(Difference(*each) for each in (
            ("model.layers", 3, 4), ("steps", 100, 5000), ("groups.0.init", None, 2.0),
        )),
    )  # fmt: skip
    assert setting_text(claim) == "steps 1/50, layers 3 for 4, init – for 2, loss as assumed"
    assert settings_text([claim, claim], most=1) == "steps 1/50, 2 more, loss as assumed"


def test_diff_prints_every_field(capsys):
    with pytest.raises(SystemExit):
        main(["diff", "state-tracking", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert {"field": "steps", "here": 4000, "paper": 200_000, "arms": None} in found["differences"]
    with pytest.raises(SystemExit) as stopped:
        main(["diff", "state-trackign"])
    assert stopped.value.code == 2
    assert "Did you mean 'state-tracking'" in capsys.readouterr().err


def test_counts_do_not_flatter():
    plain = Claim(recipe="r", claim="c", scale="laptop", kind="ahead", source="paper", paper="", verdict="holds")
    found = counts([
        plain, replace(plain, source="own"), replace(plain, history="changed"), replace(plain, near_trivial="small"),
        replace(plain, verdict="inconclusive", reason="edge", code_versions=2), replace(plain, verdict="not run"),
    ])  # fmt: skip
    assert (found.papers["holds"], found.own["holds"], found.papers["not run"]) == (3, 1, 1)
    assert (found.with_history, found.several_versions, found.near_trivial) == (1, 1, 1)
    assert counts_text(found) == [
        "Claims of the papers: 4 (holds 3, open 1).",
        "Claims of our own: 1 (holds 1).",
        "Among all these: 1 changed after rows had been seen, 1 from rows of several versions of the code, 1 that "
        "could hardly fail.",
        "Open: 1 for a best setting at the end of its sweep.",
    ]


@pytest.mark.parametrize("file", ["results.json", "paper-results.json"])
def test_the_results_files_are_of_the_schema(file):
    schema = json.loads((ROOT / "docs/claims.schema.json").read_text())
    assert schema == claims_schema()
    jsonschema.Draft202012Validator(schema).validate(json.loads((ROOT / "docs" / file).read_text()))
    claim = json.loads((ROOT / "docs" / file).read_text())["claims"][0]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({"claims": [claim | {"verdit": 1}], "counts": {}, "runs": {}})


PROSE = re.compile(
    r"\b(in|not in)\s+\w+(\[\w+\])?\.(claim|paper|method|estimand|unit|history|near_trivial)\b"
    r"|\.(claim|paper|method|estimand|unit|history|near_trivial)\.(startswith|endswith|split|find|index|count)\("
)


def test_no_code_reads_a_claims_prose():
    """Sentences are made of fields; nothing is decided from a sentence."""
    # wandb_files: a field of W&B's protocol.
    allowed = {"decisions.py": 1, "wandb_files.py": 1}  # the name of a law's axis, said again in a field of its own
    for file in (ROOT / "src").rglob("*.py"):
        found = PROSE.findall(file.read_text())
        assert len(found) <= allowed.get(file.name, 0), (file, found)


@pytest.mark.parametrize("name", list(registered("recipe")))
def test_what_a_recipe_assumes_is_a_setting_of_its_specs(name):
    recipe = lookup("recipe", name)
    arms = [settings_of(each) for scale in SCALES if scale in recipe.scales for each in recipe.specs(scale).values()]
    assert [each.field for each in recipe.assumptions if not any(map(each.of, arms))] == []
