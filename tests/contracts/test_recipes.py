"""What every recipe promises, checked for each one by its mere existence."""

import json

import numpy as np
import pytest
from markupsafe import escape

from lopsided.claims.deciding import decide
from lopsided.claims.times import Ahead
from lopsided.core.arms import SCALES
from lopsided.core.execution import Execution
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from lopsided.report.html import Section, write
from lopsided.report.matplotlib_draw import draw
from lopsided.results.stored import Arm, Results
from lopsided.stats.verdict import DECIDED
from lopsided.store.parts import Store
from lopsided.study import catalog as catalogs
from lopsided.study.catalog import FILE, catalog, described
from lopsided.study.named_metrics import check_metrics
from lopsided.study.recipe_run import prepare

ONE_DEVICE = Execution(devices=1)
"""A program that is not spread over devices takes .86 of the time (qk)."""
LARGE = ("init-scale",)
"""Recipes of thousands of arms, which `make test` leaves out where others show the same."""
each_recipe = pytest.mark.parametrize("name", list(registered("recipe")))
most_recipes = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in registered("recipe")]
)


def by_family():
    """Every recipe, those of one kind of network and task for one worker: they share compiled programs."""
    for name, recipe in registered("recipe").items():
        spec = next(iter(recipe.specs("smoke").values()))
        yield pytest.param(name, marks=pytest.mark.xdist_group(f"{spec.model.name} on {spec.task.name}"))


@each_recipe
def test_docstring_carries_paper_command_and_what_was_changed(name):
    recipe = registered("recipe")[name]
    doc = recipe.about
    for needed in (name, "Paper", f"lopsided run {name}", "`laptop`"):
        assert needed in doc
    assert recipe.question.endswith("?")


def test_the_catalog_is_what_the_recipes_say():
    """`make catalog` writes it anew."""
    assert json.loads(FILE.read_text())["recipes"] == described()
    assert catalog() == described()


def test_a_recipe_changed_since_the_catalog_was_written_is_imported(monkeypatch, tmp_path):
    old = tmp_path / "catalog.json"
    old.write_text(json.dumps({"sources": "0", "recipes": []}))
    monkeypatch.setattr(catalogs, "FILE", old)
    assert catalog() == described()


@pytest.mark.slow
@each_recipe
@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_claims_read_arms_and_metrics_that_there_are(name, scale):
    recipe = registered("recipe")[name]
    recipe.check(scale)
    if scale == "laptop" or name != "grade-school-math":  # its paper's program takes 20 s to trace
        check_metrics(recipe, scale)


@most_recipes
@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_is_a_set_of_valid_specs(name, scale):
    recipe = registered("recipe")[name]
    if scale == "overnight" and scale not in recipe.scales:
        pytest.skip("only for what a laptop's scale is too small for")
    specs = recipe.specs(scale)
    assert len(specs) >= 2
    assert all(isinstance(s, Spec) for s in specs.values())
    assert recipe.scales[scale].seconds > 0
    assert scale == "smoke" or recipe.scales[scale].seeds >= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", list(by_family()))
def test_smoke_runs_reports_and_gives_no_verdict(name, tmp_path):
    asked = prepare(name, "smoke", None, [])
    store = Store(tmp_path)
    done = asked.train(store, execution=ONE_DEVICE)
    assert done.trained == len({s.content_hash() for s in asked.arms.values()}) * asked.seeds
    results = asked.results(store)
    assert {c.verdict for c in asked.claims(results)} == {"not run"}
    page = write(
        [Section(asked.recipe, results, asked.claims(results), "", asked.recipe.figure(results), (), [])],
        tmp_path / "report.html",
    )
    draw(asked.recipe.figure(results)).savefig(tmp_path / "figure.png")  # a PDF takes two thirds of its time again
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    text = page.read_text()
    assert name in text
    assert str(escape(asked.recipe.figure(results).title)) in text
    assert "http-equiv" not in text
    assert "<script src=" not in text  # self-contained
    again = asked.train(store, execution=ONE_DEVICE)
    assert (again.trained, again.already) == (0, done.trained)


@each_recipe
def test_curves_without_a_number_decide_nothing(name):
    """Members that diverged at once: no claim holds, and the figure is still drawn."""
    recipe = registered("recipe")[name]
    if recipe.metric == "test/accuracy":
        pytest.skip("a diverged member's accuracy counts as 0, which is a number")
    results = made_up(recipe, np.full((8, 40), np.nan))
    assert not [c for c in decide(recipe, results) if c.verdict in ("holds", "negligible")]
    assert recipe.figure(results).panels


@most_recipes
@pytest.mark.parametrize("seeds", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_few_seeds_are_no_error(name, seeds):
    recipe = registered("recipe")[name]
    results = made_up(recipe, np.geomspace(1.0, 1e-3, 40) * np.ones((seeds, 1)))
    claims = decide(recipe, results)
    assert [c.claim for c in claims] == [s.claim for s in recipe.claims]
    assert seeds > 1 or not [c for c in claims if c.verdict in DECIDED]
    assert recipe.figure(results).panels


class AnyMetric(dict):
    """The same made-up curves for whatever metric a recipe asks for, and for every item of an array."""

    def __init__(self, curves, spec):
        super().__init__({"test/loss": curves, "train/loss": curves})
        self.curves, self.spec = curves, spec

    def __missing__(self, name):
        return np.broadcast_to(
            self.curves[(..., *[None] * len(self.shape(name)))], self.curves.shape + self.shape(name)
        )

    def shape(self, name):
        """The shape of one member's value at one evaluation."""
        if name in ("strength", "overlap", "neuron", "predicted/time", "predicted/bare-time"):
            return (self.spec.task.directions,)
        if name == "matrix":
            return (self.spec.task.directions,) * 2
        if name.startswith("landscape/"):
            probe = next(p for p in self.spec.probes if p.name == "landscape")
            n = probe.checkpoints + 1
            sizes = {"explained": (2,), "moved": (n - 1,), "whole": (probe.grid,) * 2, "near": (probe.grid,) * 2}
            sizes |= dict.fromkeys(("x", "y", "loss", "projected"), (n,))
            return sizes.get(name.removeprefix("landscape/"), ())
        return ()


@each_recipe
def test_claims_match_their_statements(name):
    """Made-up curves: one claim per statement, in order, decided at laptop scale with effects or bounds."""
    recipe = registered("recipe")[name]
    rng = np.random.default_rng(0)
    results = made_up(recipe, *(_rise(i, rng) for i in range(len(recipe.specs("laptop")))))
    claims = decide(recipe, results)
    assert [c.claim for c in claims] == [s.claim for s in recipe.claims]
    assert all(c.verdict != "not run" and c.members > 0 for c in claims)
    assert all((c.reason != "") == (c.verdict == "inconclusive") for c in claims)
    for statement, claim in zip(recipe.claims, claims, strict=True):
        if isinstance(statement.test, Ahead) and claim.verdict in ("holds", "contradicted"):
            slow, fast = (each.read(results, statement.test.axis).median for each in statement.test.readings)
            assert (fast < slow) == (claim.verdict == "holds"), claim.claim
    assert recipe.figure(results).panels


@each_recipe
def test_few_evaluations_are_enough_or_declared(name):
    """With as many evaluations as the recipe says that it needs, claims and figure are made: nothing is raised."""
    recipe = registered("recipe")[name]
    rng = np.random.default_rng(1)
    count = recipe.least_evaluations
    results = made_up(recipe, *(rng.uniform(0, 1, (4, count)) for _ in recipe.specs("laptop")))
    assert len(decide(recipe, results)) == len(recipe.claims)
    assert recipe.figure(results).panels


def _rise(i, rng):
    return 1 / (1 + np.exp(-(np.arange(40) - 8 - 4 * (i % 40) - rng.normal(0, 1, (8, 1)))))


def made_up(recipe, *curves):
    """Results at laptop scale whose arms have these curves (M, T), or all the same ones, in every metric."""
    arms = {}
    planned = recipe.arms_at("laptop")
    for (name, arm), values in zip(planned.items(), curves * (len(planned) if len(curves) == 1 else 1), strict=True):
        spec = arm.spec
        members = len(values)
        steps = np.geomspace(1, spec.steps, values.shape[1])
        seen = steps * spec.plan.seen(spec.steps) / spec.steps
        none = np.zeros(members, bool)
        made = AnyMetric(values, spec)
        seeds = tuple(range(members))
        arms[name] = Arm(name, spec, seeds, steps, seen, seen, 1.0, none, made, arm.coordinates, arm.swept)
    return Results(recipe.name, "laptop", arms)
