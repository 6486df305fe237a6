"""Plans that mix streams or listen to training: two-set, by-group, auto-schedule; epochs and shares of phases."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.spec import Spec
from lopsided.plans.auto_schedule import AutoSchedule
from lopsided.plans.by_group import ByGroup
from lopsided.plans.phases import Phases
from lopsided.plans.simple import Online
from lopsided.plans.two_set import TwoSet
from lopsided.results.stored import load
from lopsided.store.parts import Store
from lopsided.work.rows import rows_of
from lopsided.work.worker import run
from tests.engines import engine

KEY = stream(3, "plan")


# ---------------------------------------------------------------- phases by epochs


@pytest.mark.slow
def test_the_papers_schedules_fill_an_online_run_exactly():
    """Paper C, B.1: fractions times epochs of parity and of modular addition add up to one online run."""
    for shares, epochs in (
        ((0.001, 0.002, 0.005, 0.01, 0.02, 0.1), (100, 50, 20, 10, 10, 4)),
        ((0.005, 0.02, 0.05, 0.1), (20, 5, 4, 6)),
    ):
        phases = [{"share": s, "epochs": e} for s, e in zip(shares, epochs, strict=True)]
        plan = Phases(batch=32, phases=phases, online_steps=100_000)
        assert sum(p.steps for p in plan.phases) == 100_000
        assert [p.size for p in plan.phases] == [round(s * 3_200_000) for s in shares]


@pytest.mark.slow
def test_epochs_become_steps_and_the_last_phase_takes_what_is_left():
    plan = Phases(batch=8, phases=[{"size": 40, "epochs": 3}, {"share": 0.5}], online_steps=100)
    assert [(p.size, p.steps) for p in plan.phases] == [(40, 15), (400, 85)]
    plan.check_steps(100)
    written = Phases(batch=8, phases=[{"size": 40, "steps": 15}, {"size": 400, "steps": 85}])
    assert plan.content_hash() == written.content_hash()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phases", "online", "match"),
    [
        ([{"size": 4, "steps": 3, "epochs": 2}], None, "either steps or epochs"),
        ([{"size": 4}], None, "online_steps is needed"),
        ([{"share": 0.1, "epochs": 2}], None, "online_steps is needed"),
        ([{"size": 4}, {"size": 8, "steps": 3}], 10, "only the last"),
        ([{"size": 4, "steps": 10}, {"size": 8}], 10, "only the last"),
        ([{"size": 4, "epochs": 10}, {"share": 0.5, "steps": 5}], None, "online_steps is needed"),
        ([{"share": 1.0}], 10**9, "fewer than 2"),
    ],
)
def test_impossible_epochs_are_refused(phases, online, match):
    with pytest.raises(InputError, match=match):
        Phases(batch=4, phases=phases, online_steps=online)


# ---------------------------------------------------------------- two-set


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.sampled_from([1, 5, 64]), st.sampled_from([0.0, 0.3, 1.0]))
def test_two_set_mixes_as_declared(size, repeated):
    plan = TwoSet(size=size, repeated=repeated, batch=64)
    drawn = np.asarray(jax.vmap(lambda t: plan.draw(KEY, t).index)(jnp.arange(50)))
    small = drawn < size
    assert small.mean() == pytest.approx(repeated, abs=0.04)
    fresh = drawn[~small]
    assert len(np.unique(fresh)) == len(fresh)
    assert plan.distinct(50) == pytest.approx(len(np.unique(drawn)), abs=150)


@pytest.mark.slow
def test_two_sets_fresh_samples_stay_outside():
    with pytest.raises(InputError, match="2\\^32"):
        TwoSet(size=2**31 - 1, batch=2**16).check_steps(2**16)


# ---------------------------------------------------------------- by-group


def spec(plan, **changes):
    plain = {
        "task": {"name": "sparse-parity", "d": 6, "k": 2},
        "model": {"name": "mlp", "width": 8},
        "plan": plan,
        "optimizer": {"name": "sgd", "lr": 0.5},
        "loss": "logistic",
        "steps": 12,
        "evaluation": {"every": 4, "samples": 32},
    }
    return Spec.parse({**plain, **changes})


def trained(a_spec, seed=0):
    ensemble = engine([Member(a_spec, seed)])
    stretches = list(ensemble.run())
    return jax.device_get(ensemble.state), stretches


ONLINE, FIXED = {"name": "online", "batch": 4}, {"name": "fixed", "size": 8, "batch": 4}


@pytest.mark.slow
def test_each_group_gets_the_gradient_of_its_own_stream():
    """One step: the group's update is that of the other stream, the rest's is that of the main plan."""
    split = {"name": "by-group", "plan": FIXED, "others": [{"match": "layers.0.*", "plan": ONLINE}]}
    all_fed = {"name": "by-group", "plan": FIXED, "others": [{"match": "*", "plan": ONLINE}]}
    one = {"steps": 1, "evaluation": {"every": 1, "samples": 8}}
    mixed, main, other = (trained(spec(p, **one))[0].params for p in (split, FIXED, all_fed))
    for leaf in ("weight", "bias"):
        np.testing.assert_array_equal(getattr(mixed.layers[0], leaf), getattr(other.layers[0], leaf))
        np.testing.assert_array_equal(getattr(mixed.layers[1], leaf), getattr(main.layers[1], leaf))
    assert not np.array_equal(main.layers[0].weight, other.layers[0].weight)


@pytest.mark.slow
def test_streams_of_groups_take_the_tasks_own_samples():
    plan = {"name": "by-group", "plan": ONLINE, "others": [{"match": "layers.0.*", "plan": ONLINE}]}
    for change in ({"biased_by": 8}, {"remove": "repeats"}, {"remove": "balanced-inputs"}):
        with pytest.raises(InputError, match="training_set"):
            spec(plan, training_set=change)
    mixed = {"name": "two-set", "size": 40, "batch": 4}
    with pytest.raises(InputError, match="fixed sets"):
        spec(mixed, task={"name": "single-index", "d": 4}, loss="square", training_set={"remove": "whitened"})


@pytest.mark.slow
def test_by_group_counts_every_stream():
    plan = ByGroup(plan=FIXED, others=[{"match": "*", "plan": ONLINE}])
    assert plan.seen(10) == 80
    assert plan.distinct(10) == pytest.approx(40 + 8, abs=0.1)
    assert Online(batch=4).distinct(10) == 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("others", "match"),
    [
        ([{"match": "layers.9.*", "plan": ONLINE}], "matches no parameter"),
        ([{"match": "*", "plan": {"name": "online", "batch": 8}}], "same batch size"),
        ([{"match": "*", "plan": {"name": "population"}}], "cannot feed"),
        ([{"match": "*", "plan": {"name": "auto-schedule", "batch": 4, "first": 2, "last": 4}}], "cannot feed"),
        ([{"match": "*", "plan": {"name": "onlin", "batch": 4}}], "online"),
    ],
)
def test_impossible_streams_are_refused(others, match):
    with pytest.raises(InputError, match=match):
        spec({"name": "by-group", "plan": FIXED, "others": others})


# ---------------------------------------------------------------- auto-schedule


def walk(plan, accuracies):
    """Phases that follow these batch accuracies."""
    memory, phases = plan.init_state(), []
    for accuracy in accuracies:
        memory = plan.update(memory, jnp.float32(accuracy))
        phases.append(int(memory.phase))
    return phases, memory


@pytest.mark.slow
def test_a_learned_epoch_or_many_epochs_end_a_phase():
    plan = AutoSchedule(batch=4, first=8, last=8, phases=3, accuracy=0.75, epochs=3)  # an epoch is two steps
    assert walk(plan, [1, 0.5, 1, 0.4, 0, 0, 0, 0])[0] == [0, 1, 1, 1, 1, 1, 1, 2]
    assert walk(plan, [1] * 8)[0] == [0, 1, 1, 2, 2, 2, 2, 2]  # stays in the last


@pytest.mark.slow
def test_sizes_are_the_papers():
    plan = AutoSchedule(batch=32, online_steps=10_000)
    assert plan.sizes()[0] == 1000
    assert plan.sizes()[-1] == 6400
    ratios = np.diff(np.log(plan.sizes()))
    assert np.ptp(ratios) < 0.01
    assert len(plan.sizes()) == 6
    assert plan.content_hash() == AutoSchedule(batch=32, first=1000, last=6400).content_hash()


@pytest.mark.slow
def test_distinct_samples_are_the_members_own():
    plan = AutoSchedule(batch=16, first=20, last=90, phases=2, epochs=2)
    _, memory = walk(plan, [0.0] * 9)  # four steps on 20, five on 90
    told = plan.metrics(memory)
    keys = [stream(s, "plan") for s in range(200)]
    seen = []
    for key in keys:
        state, found = plan.init_state(), []
        for t in range(9):
            found.append(np.asarray(plan.draw(key, t, state).index))
            state = plan.update(state, jnp.float32(0))
        seen.append(len(np.unique(np.concatenate(found))))
    assert float(told["plan/distinct"]) == pytest.approx(np.mean(seen), rel=0.02)
    assert float(told["plan/phase"]) == 2


@pytest.mark.slow
def test_members_of_an_ensemble_advance_separately_and_rows_say_so():
    """Members with different rates learn at different times; each is where it would be on its own."""
    plan = {"name": "auto-schedule", "batch": 8, "first": 8, "last": 64, "phases": 4, "accuracy": 0.9, "epochs": 20}
    specs = [spec(plan, steps=60, optimizer={"name": "sgd", "lr": lr}) for lr in (0.001, 1.0, 4.0)]
    members = [Member(s, 5) for s in specs]
    ensemble = engine(members)
    stretches = list(ensemble.run())
    phases = np.stack([s.metrics["plan/phase"] for s in stretches], axis=1)
    assert len({tuple(row) for row in phases.tolist()}) == 3
    for i, each in enumerate(specs):
        alone = [float(s.metrics["plan/phase"][0]) for s in trained(each, seed=5)[1]]
        assert alone == phases[i].tolist()
    rows = rows_of(members, stretches[-1])
    assert set(rows["distinct_samples"]) == set(stretches[-1].metrics["plan/distinct"].astype(float))
    assert np.isnan(AutoSchedule.parse(plan).distinct(60))


@pytest.mark.slow
def test_stored_arms_have_the_members_mean_count(tmp_path):
    plan = {"name": "auto-schedule", "batch": 8, "first": 8, "last": 64, "phases": 3, "epochs": 2}
    early = {"metric": "test/accuracy", "at_least": 0.9}
    for until in (None, early):
        a_spec = spec(plan, steps=40, optimizer={"name": "sgd", "lr": 3.0}, until=until)
        store = Store(tmp_path / str(until is None))
        run([a_spec], seeds=3, store=store)
        arm = load(store, "mine", "laptop", {"one": a_spec}, {"one": 3})["one"]
        np.testing.assert_allclose(arm.distinct, arm.metric("plan/distinct").mean(0))
        assert (np.diff(arm.distinct) >= 0).all()
        assert arm.distinct[0] > 4


@pytest.mark.slow
def test_a_diverged_member_still_counts():
    plan = {"name": "auto-schedule", "batch": 8, "first": 8, "last": 64}
    huge = spec(plan, loss="square", optimizer={"name": "sgd", "lr": 1e6})
    last = trained(huge)[1][-1]
    assert last.diverged[0] >= 0
    assert np.isfinite(last.metrics["plan/distinct"]).all()
    assert np.isnan(last.metrics["test/loss"]).all()


@pytest.mark.slow
def test_never_is_a_number_of_epochs():
    """A million epochs of 3,000 steps are more steps than an int32 counts."""
    plan = AutoSchedule(batch=1, first=3000, last=3000, epochs=10**6)
    memory = plan.init_state()._replace(steps=jnp.int32(2999))
    assert int(plan.update(memory, jnp.float32(0)).phase) == 0
    long = plan.init_state()._replace(taken=jnp.full(6, 2**30, jnp.int32))
    assert float(AutoSchedule(batch=64, first=10, last=20).metrics(long)["plan/distinct"]) == pytest.approx(20)


@pytest.mark.slow
def test_auto_schedule_needs_right_and_wrong_answers():
    with pytest.raises(InputError, match="right or wrong"):
        spec(
            {"name": "auto-schedule", "batch": 4, "first": 4, "last": 8},
            task={"name": "single-index", "d": 4},
            loss="square",
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"first": 4},
        {"first": 8, "last": 4},
        {"first": 1, "last": 2, "online_steps": 100},
        {"online_steps": 10**9, "batch": 4096},
    ],
)
def test_impossible_auto_schedules_are_refused(wrong):
    with pytest.raises(InputError, match="auto-schedule"):
        AutoSchedule(**{"batch": 4, **wrong})
