"""Members of a sweep are judged at the others' choice; a best at the end of a sweep decides nothing: it goes on."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as sps

from lopsided.claims.deciding import decide
from lopsided.core.arms import swept
from lopsided.recipe import OWN, Ahead, Statement
from lopsided.report.words import how_decided
from lopsided.results.stored import Arm, Results, load
from lopsided.results.sweeps import best, beyond
from lopsided.stats.selection import folds
from lopsided.store.parts import Store
from lopsided.study import recipe_run, remembered
from lopsided.study.recipe_run import RecipeRun
from lopsided.work.worker import run
from tests.library.small import small_recipe, spec


def recipe_of(rates):
    def arms(scale):
        yield from swept(spec, {"lr": rates}, data="fresh")
        yield from swept(lambda lr: spec(lr, 128), {"lr": rates}, data="small")

    claims = [Statement("small is ahead", OWN, Ahead({"data": "small"}, of={"data": "fresh"}))]
    return small_recipe("sweep-test", arms, claims)


def made(times_by_rate, censored=(), seeds=9, name="x"):
    """Arms of a sweep that learn at given steps: rate -> (M,) steps."""
    arms = {}
    for rate, times in times_by_rate.items():
        steps = np.arange(10, 1010, 10)
        values = (steps >= np.broadcast_to(times, seeds)[:, None]).astype(float)
        label = f"{name}, lr = {rate:g}"
        arms[label] = Arm(
            label, spec(rate), tuple(range(seeds)), steps, steps, steps, 0.0, np.zeros(seeds, bool),
            {"test/accuracy": values}, {"data": name, "lr": rate}, ("lr",),
        )  # fmt: skip
    return Results("sweep-test", "laptop", arms)


def test_every_member_is_judged_at_the_choice_of_the_others():
    """Rate 1 is best for folds 1 and 2 only because of fold 0's members: they must not gain by their own luck."""
    fold = folds(range(9))
    lucky = np.where(fold == 0, 50, 500)
    found = best(made({1.0: lucky, 2.0: np.full(9, 300), 3.0: np.full(9, 900)}), data="x")
    assert [arm.coordinates["lr"] for arm in found.chosen] == np.where(fold == 0, 2.0, 1.0).tolist()
    assert found.times().time.tolist() == np.where(fold == 0, 300, 500).tolist()
    assert found.judged.all()


def test_one_fold_chooses_for_the_others_where_it_is_asked_to():
    results = replace(made({1.0: np.where(folds(range(9)) == 1, 100, 500), 2.0: np.full(9, 300)}), chooser=1)
    found = best(results, data="x")
    assert found.judged.sum() == 6
    assert found.times().time.tolist() == [500] * 6


@pytest.mark.parametrize(
    ("rates", "times", "more"),
    [
        ((1.0, 1.5, 2.0), (100, 200, 300), [1 / 1.5]),
        ((1.0, 1.5, 2.0), (300, 200, 100), [2 * 2 / 1.5]),
        ((1.0, 3.0, 4.0), (300, 200, 100), [4 * 4 / 3]),
        ((1.0, 4.0), (300, 100), [2.0, 6.0]),
        ((1.0, 1.4, 1.9), (300, 100, 300), []),
        ((1.0, 1.4, 4.0), (300, 100, 300), [(1.4 * 4.0) ** 0.5]),
    ],
)
def test_what_a_sweep_lacks_around_its_best(rates, times, more):
    """Ends are one step further, wide gaps beside the best are halved."""
    results = made(dict(zip(rates, times, strict=True)))
    at = {arm.coordinates["lr"] for arm, _ in best(results, data="x").edges}
    assert at == {rates[int(np.argmin(times))]} & {rates[0], rates[-1]}
    planned = {each.name: each for each in swept(spec, {"lr": rates}, data="x")}
    found = beyond(results, planned)
    assert [each.coordinates["lr"] for each in found] == [pytest.approx(rate, rel=1e-3) for rate in more]
    assert all(each.spec.optimizer.lr == each.coordinates["lr"] for each in found)


def test_a_best_inside_is_no_edge_and_a_single_rate_is_no_sweep():
    assert not best(made({1.0: 300, 2.0: 100, 3.0: 300}), data="x").edges
    assert not best(made({1.0: 300}), data="x").edges


def test_claims_at_an_edge_are_undecided_and_say_so():
    slow = made(dict.fromkeys((1.0, 2.0, 3.0), 400) | {2.0: np.arange(300, 390, 10)}, name="fresh")
    inside, outside = {1.0: 200, 2.0: np.arange(100, 190, 10), 3.0: 200}, {1.0: 200, 2.0: 150, 3.0: 100}
    for fast, verdict in ((inside, "holds"), (outside, "inconclusive")):
        results = Results("sweep-test", "laptop", {**slow.arms, **made(fast, name="small").arms})
        (claim,) = decide(recipe_of((1.0, 2.0, 3.0)), results)
        assert claim.verdict == verdict
        assert claim.folds_agree == (3, 3)
        assert claim.at_edge == (() if verdict == "holds" else ("lr = 3 of 'small'",))
        assert claim.reason == ("" if verdict == "holds" else "edge")
        assert ("end of its sweep: lr = 3 of 'small'" in how_decided(claim)) == (verdict != "holds")


@pytest.mark.slow
def test_a_run_goes_on_until_its_best_rates_are_bracketed(tmp_path, monkeypatch):
    monkeypatch.setattr(recipe_run, "MOST_ROUNDS", 3)
    recipe = recipe_of((0.02, 0.03))
    asked = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 6)
    asked.train(Store(tmp_path))
    grown, results = asked.grown(Store(tmp_path))
    assert len(grown.rounds) == 3
    rates = {each.coordinates["lr"] for each in grown.planned.values() if each.coordinates["data"] == "small"}
    assert {0.02, 0.03, 0.045} <= rates
    assert "small, lr = 0.045" in results.arms
    again = asked.train(Store(tmp_path))
    assert (again.trained, again.already) == (0, 6 * len(grown.arms))
    (of_folder,) = remembered.recorded(Store(tmp_path))
    assert of_folder.grown(Store(tmp_path))[0].arms.keys() == grown.arms.keys()


@pytest.mark.slow
def test_equal_arms_are_seldom_told_apart(tmp_path):
    """Real training: 60 trials of 9 seeds, two arms of the same settings and other seeds, each at its best rate."""
    rates, trials, each = (0.7, 1.0, 1.5), 60, 9
    seeds = range(2 * trials * each)
    arms = {f"lr = {rate:g}": spec(rate, 256) for rate in rates}
    run(list(arms.values()), len(seeds), Store(tmp_path))
    recipe, verdicts = recipe_of(rates), []
    for trial in range(trials):
        found = {}
        for k, data in enumerate(("fresh", "small")):
            block = seeds[(2 * trial + k) * each : (2 * trial + k + 1) * each]
            loaded = load(Store(tmp_path), "x", "laptop", arms, {name: tuple(block) for name in arms})
            for rate, arm in zip(rates, loaded.arms.values(), strict=True):
                at = {"data": data, "lr": rate}
                name = f"{data}, lr = {rate:g}"
                found[name] = replace(arm, name=name, coordinates=at, swept=("lr",), seeds=tuple(range(each)))
        verdicts += [claim.verdict for claim in decide(recipe, Results("sweep-test", "laptop", found))]
    assert sum(v in ("holds", "contradicted") for v in verdicts) <= sps.binom.ppf(0.99, trials, 0.05)
