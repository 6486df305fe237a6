"""Seeds until every claim is decided: a plan that stands before the first judged seed, looks, arms that stop."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest

from lopsided.claims.as_text import as_text
from lopsided.claims.statement import OWN, Statement
from lopsided.cli import main
from lopsided.core.arms import arm, swept
from lopsided.core.errors import InputError, Stopped, StoreError
from lopsided.recipe import Ahead, Custom, Final, Higher, Measured, at_every_setting, best
from lopsided.report.words import how_decided
from lopsided.stats.decisions import higher
from lopsided.stats.sequential import level
from lopsided.stats.verdict import Look
from lopsided.store.parts import Store
from lopsided.store.tables import query
from lopsided.study import manifest
from lopsided.study.checking import claims_of, found_in
from lopsided.study.looks import in_hand, judged_of
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.reports import write_report
from lopsided.study.targets import find, plain_arms, plain_curves
from lopsided.study.until_decided import LookPlan, looked, read, replay, until_decided
from lopsided.work.done import Request
from lopsided.work.worker import train
from tests.library.small import small_recipe, spec

LOOKS = (8, 16)


FRESH, RATE = {"data": "fresh"}, {"data": "rate 0.5"}
BEST_ACCURACY = Measured(lambda r: best(r, **FRESH).curve("test/accuracy")[:, -1], FRESH)
OF_FRESH = Higher(BEST_ACCURACY, BEST_ACCURACY, "accuracy")


def above_itself(**at):
    """What no seeds decide."""
    return Higher(Final(at), Final(at), "accuracy")


def slow(lr):
    """A harder task."""
    return spec(lr).replace(task={"name": "sparse-parity", "d": 10, "k": 3})


def recipe_of(claims=None, rates=(0.5, 0.75, 1.1), make=spec):
    def arms(scale):
        yield from swept(make, {"lr": rates}, data="fresh")
        for lr in (0.05, 0.5):
            yield arm(spec(lr, 256), data=f"rate {lr:g}")

    rated = {"data": "rate 0.05"}

    statements = [
        Statement("the large rate is faster", OWN, Ahead(RATE, of=rated)),
        Statement("fresh data end above themselves", OWN, OF_FRESH),
    ]
    return small_recipe("until-test", arms, claims or statements)


def asked_for(recipe):
    return RecipeRun(recipe, "laptop", recipe.specs("laptop"), 6)


@pytest.mark.slow
def test_looks_go_on_for_open_claims_and_the_arms_that_they_read(tmp_path):
    asked, store = asked_for(recipe_of()), Store(tmp_path)
    state, done = until_decided(asked, store, looks=LOOKS)
    faster, equal = state.claims
    assert faster.verdict == "holds"
    assert faster.look == Look(1, 2, 8, level(0, LOOKS))
    assert f"look 1 of 2, 8 seeds, level {level(0, LOOKS):.3g}" in how_decided(faster)
    assert equal.verdict == "inconclusive"
    assert (equal.look.number, equal.look.seeds) == (2, 16)
    assert (state.looks, state.seeds, state.wanted) == (2, 16, ())
    complete = [digest for digest, _ in Store(tmp_path).complete()]
    trained = {name: complete.count(s.content_hash()) for name, s in asked.grown(store.as_of_now())[0].arms.items()}
    assert trained["rate 0.05"] == trained["rate 0.5"] == 6 + 8  # six that chose, one look
    plan = read(asked, store)
    (best,) = {name for name in plan.arms if name.startswith("fresh")} - set(plan.others)
    for name in (name for name in trained if name.startswith("fresh")):
        assert trained[name] == 6 + (16 if name == best else 0)
    assert (done.trained, done.already) == (sum(trained.values()), 0)
    judged = judged_of(store, plan, asked.label, {})
    assert {name: len(judged[name]) for name in plan.arms} == {name: trained[name] - 6 for name in plan.arms}
    train(Request([spec(0.5, 256)], range(18, 22), store))  # whatever else a program trains of an arm
    assert judged_of(store, plan, asked.label, {}) == judged
    (tmp_path / "plans" / f"{asked.label}.judged").unlink()  # as in published rows of before 2026-12
    hashes = manifest.read(store, asked.label).hashes
    assert judged_of(store, plan, asked.label, hashes) == judged
    again, nothing = until_decided(replace(asked, seeds=9), Store(tmp_path))  # the plan stands, whatever is asked now
    assert (again.claims, nothing.trained) == (state.claims, 0)


@pytest.mark.slow
def test_a_claim_may_name_an_arm_by_a_setting_that_is_not_the_best(tmp_path):
    claims = [Statement("slow ones end above themselves", OWN, above_itself(data="fresh", lr=0.05))]
    asked = asked_for(recipe_of(claims, rates=(0.05, 0.5, 0.75)))
    state, _ = until_decided(asked, Store(tmp_path), looks=LOOKS)
    assert state.looks == 2
    plan = read(asked, Store(tmp_path))
    (slow,) = (name for name, each in asked.arms.items() if name.startswith("fresh") and each.optimizer.lr == 0.05)
    assert slow in plan.others


@pytest.mark.slow
def test_a_claim_reads_the_best_setting_after_others_of_its_sweep_have_stopped(tmp_path):
    steps = Measured(lambda r: best(r, **FRESH).times().time, FRESH)

    def first(r, level):
        """Decided at once, by all settings."""
        return at_every_setting(r, ({"data": "fresh"},), lambda times: sure, {"holds": (0,)})

    sure = higher(np.arange(8.0), np.arange(8.0), "nothing")._replace(verdict="holds")
    claims = [
        Statement("decided at once", OWN, Custom(first, FRESH)),
        Statement("slow data are faster than themselves", OWN, Higher(steps, steps, "steps")),
    ]
    asked, store = asked_for(recipe_of(claims, make=slow)), Store(tmp_path)
    state, _ = until_decided(asked, store, looks=LOOKS)
    assert [claim.verdict for claim in state.claims] == ["holds", "inconclusive"]
    plan, complete = read(asked, store), [digest for digest, _ in Store(tmp_path).complete()]
    arms = asked.grown(store.as_of_now())[0].arms
    seeds = {name: complete.count(arms[name].content_hash()) for name in plan.arms if name.startswith("fresh")}
    assert sorted(seeds.values())[-2:] == [6 + 8, 6 + 16]  # a rival of the best setting, and the best


@pytest.mark.slow
def test_other_settings_are_trained_once_a_claim_is_decided_at_the_best_ones(tmp_path):
    """They cannot decide a claim that is open there."""
    compared = {"data": "fresh"}, {"data": "rate 0.5"}

    def open_claim(r, level):
        return at_every_setting(r, compared, lambda one, other: undecided, {"holds": (0,)})

    def late(r, level):
        seeds = len(best(r, data="fresh").arm.seeds)
        return at_every_setting(r, compared, lambda one, other: found if seeds == 16 else undecided, {"holds": (0,)})

    undecided = higher(np.arange(8.0), np.arange(8.0), "nothing")
    found = undecided._replace(verdict="holds")
    for claims, judged in (([open_claim], 0), ([late], 16)):
        name = claims[0].__name__
        recipe = recipe_of([Statement(each.__name__, OWN, Custom(each, compared)) for each in claims], make=slow)
        asked, store = asked_for(recipe), Store(tmp_path / name)
        state, _ = until_decided(asked, store, looks=LOOKS)
        assert [claim.verdict for claim in state.claims] == ["holds" if judged else "inconclusive"]
        plan, complete = read(asked, store), [digest for digest, _ in Store(tmp_path / name).complete()]
        arms = asked.grown(store.as_of_now())[0].arms
        rivals = [each for each in plan.others if each.startswith("fresh")]
        assert rivals
        assert {complete.count(arms[each].content_hash()) for each in rivals} == {6 + judged}
        assert until_decided(asked, Store(tmp_path / name))[1].trained == 0
        assert looked(asked, store.as_of_now()).claims == state.claims


@pytest.mark.slow
def test_a_look_in_hand_leaves_the_claims_of_the_last_one(tmp_path):
    """A claim that waits for other settings of a sweep stops there; what is shown is of one look, not of two."""

    def late(r, level):
        seeds = len(best(r, data="fresh").arm.seeds)
        return at_every_setting(r, ({"data": "fresh"},), lambda one: sure if seeds == 16 else nothing, {"holds": (0,)})

    nothing = higher(np.arange(8.0), np.arange(8.0), "nothing")
    sure = nothing._replace(verdict="holds")
    claims = [Statement("late", OWN, Custom(late, FRESH)), Statement("equal", OWN, above_itself(**RATE))]
    asked = asked_for(recipe_of(claims, make=slow))
    store = Store(tmp_path)

    def until_the_others(request):
        if np.size(request.seeds) == 16 and len(request.specs) > 2:
            raise Stopped("by the test")
        return train(request)

    with pytest.raises(Stopped):
        until_decided(asked, store, looks=LOOKS, runner=until_the_others)
    state = looked(asked, store.as_of_now())
    assert (state.looks, state.seeds) == (1, 8)
    assert all((claim.look.number, claim.look.seeds) == (1, 8) for claim in state.claims)
    state, _ = until_decided(asked, Store(tmp_path))
    assert [claim.verdict for claim in state.claims] == ["holds", "inconclusive"]
    assert all((claim.look.number, claim.look.seeds) == (2, 16) for claim in state.claims)


@pytest.mark.slow
def test_no_seeds_are_trained_for_a_claim_at_an_end_of_its_sweep(tmp_path):
    asked, store = asked_for(recipe_of()), Store(tmp_path)
    stop_in_the_first_look(asked, store)
    (file,) = (tmp_path / "plans").glob("*.json")
    plan = json.loads(file.read_text())
    fresh = [name for name in plan["arms"] if name.startswith("fresh")]

    file.write_text(json.dumps({**plan, "at_edges": fresh, "tests": []}))
    tests = above_itself(**RATE), OF_FRESH
    claims = [Statement(each, OWN, test) for each, test in zip(plan["claims"], tests, strict=True)]
    state, _ = until_decided(asked_for(recipe_of(claims)), Store(tmp_path))
    assert state.looks == 2
    assert (state.claims[1].reason, state.claims[1].look.number) == ("edge", 1)
    assert set(state.claims[1].at_edge) <= set(fresh)
    assert "best at the end of its sweep" in how_decided(state.claims[1])
    complete, arms = [digest for digest, _ in Store(tmp_path).complete()], asked.grown(store.as_of_now())[0].arms
    assert {complete.count(arms[name].content_hash()) for name in plan["best"]} == {6 + 8}


def test_a_claim_that_was_changed_after_looks_is_refused(tmp_path):
    """Its threshold was edited after 64 new seeds had been looked at: they decided it anew, without a word. And no run
    owned those seeds."""
    asked, store = asked_for(recipe_of()), Store(tmp_path)
    until_decided(asked, store, looks=LOOKS)
    manifests = manifest.recorded(store)
    (name,), (judged,) = zip(*manifest.looked_at(store, manifests).items(), strict=True)
    assert name.endswith(", looks")
    assert {seed for _, seed in judged} == set(range(6, 6 + 16))  # after the six that chose
    rows = [row for each in manifests for row in each.rows(store)]
    answer = query(store.as_of_now(), rows, "SELECT count(*) FROM members WHERE len(runs) = 0")
    assert answer.rows == [(0,)]
    first, second = asked.recipe.claims
    edited = [replace(first, test=replace(first.test, at_least=1.5)), second]
    with pytest.raises(StoreError, match="another test of"):
        until_decided(asked_for(recipe_of(edited)), store)


def test_a_test_as_text_has_the_settings_of_functions():
    def made(bound):
        def test(results, level):
            return bound

        return Custom(test)

    assert as_text(made(1.0)) != as_text(made(2.0))
    assert as_text(made(1.0)) == as_text(made(1.0))
    assert as_text(Ahead({"N": 1}, of={"N": 2}, axis="steps")) == (
        "Ahead(fast={N=1}, of={N=2}, axis='steps', at_least=1.0, unit='')"
    )


@pytest.mark.slow
def test_the_best_of_several_sweeps_is_the_one_that_the_choosing_seeds_liked_best(tmp_path):
    asked_of = []

    def arms(scale):
        yield from swept(spec, {"lr": (0.05, 0.075)}, data="slow")
        yield from swept(spec, {"lr": (0.5, 0.75)}, data="fast")

    def accuracy(r):
        found = best(r)
        asked_of.append(found.arm.coordinates["data"])
        return found.curve("test/accuracy")[:, -1]

    equal = Higher(Measured(accuracy), Measured(accuracy), "accuracy")
    recipe = small_recipe("several-sweeps", arms, [Statement("the best ends above itself", OWN, equal)])
    until_decided(asked_for(recipe), Store(tmp_path), looks=LOOKS)
    assert set(asked_of) == {"fast"}


@pytest.mark.slow
def test_the_page_shows_the_verdicts_of_the_judged_seeds_and_says_so(tmp_path):
    recipe = replace(recipe_of(), figure=lambda results: plain_curves("until-test", results))
    asked, store = asked_for(recipe), Store(tmp_path)
    until_decided(asked, store, looks=LOOKS)
    found = found_in(asked, store.as_of_now())
    assert found.seeds == 16
    assert found.claims[0].look.number == 1
    assert all(len(arm.seeds) == 6 for arm in found.shown.arms.values())  # the looks train the best settings only
    page = write_report(store, [found], tmp_path / "page.html").read_text()
    assert "The verdicts are of up to 16 new seeds an arm, at settings that the first 6 seeds chose." in page


def stop_in_the_first_look(asked, store):
    """As Ctrl-C would while judged seeds train."""
    stop = threading.Event()

    def halt(progress):
        if any(m.seed >= asked.seeds for m in progress.members):
            stop.set()

    with pytest.raises(Stopped):
        until_decided(asked, store, halt, stop, LOOKS)


@pytest.mark.slow
def test_status_shows_the_look_in_hand(tmp_path, capsys):
    asked, store = asked_for(recipe_of()), Store(tmp_path)
    stop_in_the_first_look(asked, store)
    with pytest.raises(SystemExit):
        main(["status", str(tmp_path), "--json"])
    rows = {row["run"]: row for row in json.loads(capsys.readouterr().out)["runs"]}
    look = rows["until-test-laptop, look 1 of 2, 2 open"]
    assert look["members"] > 0
    with pytest.raises(SystemExit):
        main(["check", "--out", str(tmp_path)])
    assert "Unfinished: until-test-laptop, look 1 of 2, 2 open, " in capsys.readouterr().out
    found = claims_of(asked.recipe, manifest.recorded(Store(tmp_path)), Store(tmp_path))
    assert "the first look of --until-decided is not over" in found.waiting
    file = tmp_path / "plans" / "until-test-laptop.look"
    said = file.read_text()
    file.write_text("{")
    assert in_hand(store) == {}
    file.write_text(said)
    until_decided(asked, Store(tmp_path), looks=LOOKS)
    assert in_hand(store) == {}  # nothing is left to look at


def test_a_plan_of_other_claims_is_passed_over_aloud(tmp_path):
    """A report, or a run without the flag, must not fail for it at its end; nor must its verdicts be used."""
    asked, store = asked_for(recipe_of()), Store(tmp_path)
    until_decided(asked, store, looks=LOOKS)
    (file,) = (tmp_path / "plans").glob("*.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "claims": ["another"]}))
    found = found_in(asked, store.as_of_now())
    assert found.looks is None
    assert "was made for other claims" in found.problem
    assert "was passed over" in found.judged_by
    assert found.shown is found.results
    with pytest.raises(StoreError, match="other claims"):
        until_decided(asked, Store(tmp_path), looks=LOOKS)
    unknown = replace(asked, recipe=plain_arms(asked.recipe.name, asked.arms))
    assert found_in(unknown, store.as_of_now()).problem == ""


@pytest.mark.slow
def test_a_report_shows_the_seeds_that_decided(tmp_path):
    """Two seeds before the looks are enough where nothing is swept; a figure of those two says nothing."""

    def arms(scale):
        for lr in (0.05, 0.5):
            yield arm(spec(lr, 256), data=f"rate {lr:g}")

    claims = [Statement("the large rate ends above itself", OWN, above_itself(**RATE))]
    drawn = []

    def figure(results):
        """Pairs the members of two arms, as figures of relative errors do."""
        drawn.append(results["rate 0.5"].final("test/loss") - results["rate 0.05"].final("test/loss"))
        return plain_curves("no-sweep", results)

    recipe = replace(small_recipe("no-sweep", arms, claims), figure=figure)
    asked, store = replace(asked_for(recipe), seeds=2), Store(tmp_path)
    assert found_in(asked, store).shown is None
    until_decided(asked, store, looks=LOOKS)
    found = found_in(asked, store.as_of_now())
    assert {name: each.seeds for name, each in found.shown.arms.items()} == {
        "rate 0.05": tuple(range(2, 10)),  # no claim reads it: it stopped after the first look
        "rate 0.5": tuple(range(2, 18)),
    }
    assert found.judged_by == "Verdicts, arms and curves are of up to 16 new seeds an arm; the first 2 are left out."
    assert found.judged_by in write_report(store.as_of_now(), [found], tmp_path / "index.html").read_text()
    assert [len(each) for each in drawn] == [8]  # the seeds that both arms have


def test_the_plan_stands_before_the_first_judged_seed(tmp_path):
    asked, store = asked_for(recipe_of()), Store(tmp_path)
    stop_in_the_first_look(asked, store)
    plan = read(asked, store)
    assert plan is not None
    assert plan.first == 6
    assert looked(asked, store.as_of_now()).looks == 0
    state, _ = until_decided(asked, Store(tmp_path), looks=LOOKS)
    assert read(asked, store) == plan
    assert state.claims == replay(asked.grown(Store(tmp_path))[0], plan, Store(tmp_path)).claims


def test_a_snapshot_of_a_folder_is_not_trained_into(tmp_path):
    """It would look for its new rows for ever."""
    with pytest.raises(StoreError, match="as of one moment"):
        until_decided(asked_for(recipe_of()), Store(tmp_path).as_of_now(), looks=LOOKS)


def test_check_says_that_a_plan_was_passed_over(tmp_path, capsys):
    store = Store(tmp_path)
    store.require_writable()
    arms = manifest.arms_of(find("norm-growth").specs("laptop"))
    manifest.write(
        store,
        manifest.Manifest(
            recipe="norm-growth", scale="laptop", seeds=1, overrides=(), arms=arms, job_size=None, jobs=()
        ),
    )
    plan = LookPlan(first=1, arms=(), others=(), at_edges=(), best=(), claims=("another",), looks=LOOKS, arms_hash="")
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "norm-growth-laptop.json").write_text(plan.model_dump_json())
    with pytest.raises(SystemExit):
        main(["check", "norm-growth", "--out", str(tmp_path)])
    assert "norm-growth: looks of --until-decided passed over" in capsys.readouterr().err


def test_other_claims_or_arms_need_another_plan(tmp_path):
    asked = asked_for(recipe_of())
    until_decided(asked, Store(tmp_path), looks=LOOKS)
    other = asked_for(recipe_of([Statement("something else", OWN, OF_FRESH)]))
    with pytest.raises(StoreError, match="made for other claims"):
        until_decided(other, Store(tmp_path))
    with pytest.raises(StoreError, match="made for other arms"):
        until_decided(asked_for(recipe_of(rates=(0.5, 0.75))), Store(tmp_path))
    (file,) = (tmp_path / "plans").glob("*.json")
    with pytest.raises(InputError, match="has fixed 8 16; other looks need another --out"):
        until_decided(asked, Store(tmp_path), looks=(8, 32))
    file.write_text("{}")
    with pytest.raises(StoreError, match="is no plan"):
        until_decided(asked, Store(tmp_path), looks=LOOKS)


def test_a_recipe_without_claims_has_nothing_to_decide(tmp_path):
    recipe = replace(recipe_of(), claims=())
    with pytest.raises(InputError, match="until-test has no claims to decide"):
        until_decided(asked_for(recipe), Store(tmp_path))


@pytest.mark.slow
def test_a_time_limit_ends_well_and_the_same_command_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    long = json.loads(spec(0.5).canonical_json())
    (tmp_path / "long.json").write_text(json.dumps({**long, "steps": 10**6, "until": None}))
    with pytest.raises(SystemExit) as stopped:
        main(["run", "long.json", "--seeds", "2", "--out", "runs", "--for", "3s", "--json"])
    assert not stopped.value.code
    out, err = capsys.readouterr()
    assert "3s are over" in err
    found = json.loads(out)
    assert (found["finished"], found["report"], found["arms"]) == (False, None, [])


@pytest.mark.parametrize("words", ["soon", "0m", "5", "1w", "nanh"])
def test_a_time_that_is_none_is_one_line(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["run", "tour", "--scale", "smoke", "--for", words])
    assert stopped.value.code == 2
    assert "a number and s, m, h or d" in capsys.readouterr().err
