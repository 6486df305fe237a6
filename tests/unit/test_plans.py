from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.spec import Spec
from lopsided.plans.curriculum import Curriculum
from lopsided.plans.full_batch_phases import FullBatchPhases
from lopsided.plans.independent_phases import IndependentPhases
from lopsided.plans.phases import Phases
from lopsided.plans.simple import FixedSet, FullBatch, Online

KEY = stream(0, "plan")


LONGEST = 40


@partial(jax.jit, static_argnums=0)
def _draw(plan, values, key):
    return jax.vmap(lambda t: plan.with_traced(values).draw(key, t).index)(jnp.arange(LONGEST))


def indices(plan, steps, key=KEY):
    """(steps, batch) indices, drawn as the engine draws them: sizes are traced, so one compilation serves them all."""
    values = plan.traced_values()
    one = plan.with_traced(jax.tree.map(lambda x: 1, values))
    return np.asarray(_draw(one, values, key))[:steps]


@given(st.sampled_from([1, 7, 32]), st.integers(1, 30))
def test_online_never_repeats(batch, steps):
    drawn = indices(Online(batch=batch), steps)
    assert sorted(drawn.ravel().tolist()) == list(range(batch * steps))
    assert Online(batch=batch).distinct(steps) == batch * steps


@given(st.integers(1, 50), st.sampled_from([1, 5, 16]), st.integers(1, 12))
def test_without_replacement_every_sample_comes_equally_often(size, batch, steps):
    plan = FixedSet(size=size, batch=batch, replacement=False)
    drawn = indices(plan, steps).ravel()
    counts = np.bincount(drawn, minlength=size)
    assert len(counts) == size
    assert counts.max() - counts.min() <= 1
    assert plan.distinct(steps) == np.count_nonzero(counts)
    for epoch in range(len(drawn) // size):
        assert sorted(drawn[epoch * size : (epoch + 1) * size].tolist()) == list(range(size))


@given(st.sampled_from([1, 9, 50]), st.integers(1, 10))
def test_full_batch_uses_everything_every_step(size, steps):
    drawn = indices(FullBatch(size=size), steps)
    assert (drawn == np.arange(size)).all()
    assert FullBatch(size=size).distinct(steps) == size


def test_with_replacement_counts_match_expectation():
    plan = FixedSet(size=500, batch=64)
    found = [len(np.unique(indices(plan, 12, stream(s, "plan")))) for s in range(60)]
    assert np.mean(found) == pytest.approx(plan.distinct(12), abs=4 * np.std(found) / 60**0.5)


@given(
    st.lists(st.tuples(st.integers(1, 300), st.integers(1, 6)), min_size=3, max_size=3),
    st.just(16),
)
def test_phases_stay_in_nested_subsets(pairs, batch):
    pairs = sorted(pairs)
    plan = Phases(batch=batch, phases=[{"size": n, "steps": t} for n, t in pairs])
    steps = sum(t for _, t in pairs)
    plan.check_steps(steps)
    drawn, start = indices(plan, steps), 0
    for size, length in pairs:
        assert drawn[start : start + length].max() < size
        start += length
    assert 0 < plan.distinct(steps) <= pairs[-1][0]


def test_phases_count_distinct_samples():
    plan = Phases(batch=32, phases=[{"size": 50, "steps": 10}, {"size": 1000, "steps": 20}])
    found = [len(np.unique(indices(plan, 30, stream(s, "plan")))) for s in range(60)]
    assert np.mean(found) == pytest.approx(plan.distinct(30), abs=4 * np.std(found) / 60**0.5)


def test_phases_by_share_equal_phases_by_size():
    share = Phases(batch=10, phases=[{"share": 0.01, "steps": 40}, {"share": 1.0, "steps": 60}])
    size = Phases(batch=10, phases=[{"size": 10, "steps": 40}, {"size": 1000, "steps": 60}])
    assert share.content_hash() == size.content_hash()


@pytest.mark.parametrize(
    ("phases", "match"),
    [
        ([{"size": 10, "steps": 1}, {"size": 5, "steps": 1}], "never shrink"),
        ([{"steps": 1}], "either size or share"),
        ([{"size": 3, "share": 0.5, "steps": 1}], "either size or share"),
        ([], "phases"),
    ],
)
def test_impossible_phases_are_refused(phases, match):
    with pytest.raises(InputError, match=match):
        Phases(batch=4, phases=phases)


def test_curriculum_mixes_levels_as_declared():
    plan = Curriculum(batch=4000, stages=[{"steps": 2, "weights": [1]}, {"steps": 3, "weights": [0, 1, 3]}])
    plan.check_steps(5)
    levels = [np.asarray(plan.draw(KEY, t).level) for t in range(5)]
    assert (np.concatenate(levels[:2]) == 0).all()
    later = np.bincount(np.concatenate(levels[2:]), minlength=3) / 12000
    np.testing.assert_allclose(later, [0, 0.25, 0.75], atol=0.02)
    with pytest.raises(InputError, match="add up to 5"):
        plan.check_steps(6)


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(1, 200), st.integers(0, 1000))
def test_draws_are_functions_of_key_and_step(size, step):
    for plan in (Online(batch=8), FixedSet(size=size, batch=8), FixedSet(size=size, batch=8, replacement=False)):
        here = plan.draw(KEY, step).index
        assert (here == plan.draw(KEY, step).index).all()
        if size > 20:  # of fewer samples the same eight may come by chance
            assert (here != plan.draw(KEY, step + 1).index).any()
            assert isinstance(plan, Online) or (here != plan.draw(stream(1, "another"), step).index).any()


@pytest.mark.parametrize(
    ("plan", "step", "index"),
    [
        (Online(batch=4), 3, [12, 13, 14, 15]),
        (FullBatch(size=3), 7, [0, 1, 2]),
        (FixedSet(size=4, batch=4, replacement=False), 0, [0, 1, 2, 3]),
    ],
)
def test_what_a_plan_draws_by_example(plan, step, index):
    """An epoch without replacement in any order."""
    assert sorted(plan.draw(KEY, step).index.tolist()) == index


def test_sizes_and_lengths_of_phases_are_traced():
    """Members with other phase sizes share a program."""
    a, b = (Phases(batch=4, phases=[{"size": n, "steps": 2}, {"size": 9, "steps": 3}]) for n in (3, 5))
    assert a.static_key() == b.static_key()
    assert a.with_traced(b.traced_values()) == b


def gd_phases(*pairs):
    return FullBatchPhases(phases=[{"steps": s, "size": n} for s, n in pairs])


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 40)), min_size=1, max_size=4))
def test_full_batch_phases_use_all_of_the_phase(pairs):
    pairs = [(s, n) for (s, _), n in zip(pairs, sorted(n for _, n in pairs), strict=True)]
    plan = gd_phases(*pairs)
    step = seen = largest = 0
    for steps, size in pairs:
        for _ in range(steps):
            draw = plan.draw(KEY, step)
            assert int(draw.count) == size
            assert list(np.asarray(draw.index[:size])) == list(range(size))
            step, seen, largest = step + 1, seen + size, max(largest, size)
            assert plan.seen(step) == seen
            assert plan.distinct(step) == largest
    plan.check_steps(step)
    with pytest.raises(InputError, match="add up"):
        plan.check_steps(step + 1)


@pytest.mark.slow
def test_full_batch_phases_train_as_full_batches_do(parity):
    """One phase is full-batch gradient descent; a second, larger one goes on from there."""
    from lopsided.core.engine import Member
    from tests.engines import engine

    def loss(plan, steps):
        spec = parity(plan=plan, steps=steps, evaluation={"every": 3, "samples": 64})
        return [float(s.metrics["test/loss"][0]) for s in engine([Member(spec, 1)]).run()]

    plain = loss({"name": "full-batch", "size": 48}, 6)
    same = loss({"name": "full-batch-phases", "phases": [{"steps": 6, "size": 48}]}, 6)
    np.testing.assert_allclose(plain, same, rtol=1e-5)
    grown = loss({"name": "full-batch-phases", "phases": [{"steps": 3, "size": 48}, {"steps": 3, "size": 200}]}, 6)
    np.testing.assert_allclose(grown[0], plain[0], rtol=1e-5)
    assert abs(grown[1] - plain[1]) > 1e-6


def test_phases_with_random_labels_say_when(parity):
    plan = FullBatchPhases(phases=[{"steps": 2, "size": 8, "labels": "random"}, {"steps": 2, "size": 16}])
    assert [bool(plan.draw(KEY, t).random) for t in range(4)] == [True, True, False, False]
    assert plan.relabels
    assert gd_phases((2, 8)).draw(KEY, 0).random is None


def test_independent_phases_share_no_draw():
    plan = IndependentPhases(batch=64, phases=[{"size": 10, "steps": 8}, {"size": 30, "steps": 20}])
    drawn = indices(plan, 28)
    assert set(drawn[:8].ravel().tolist()) == set(range(10))
    assert set(drawn[8:].ravel().tolist()) == set(range(10, 40))
    assert plan.distinct(28) == pytest.approx(40, abs=0.1)
    assert plan.distinct(8) == pytest.approx(10, abs=0.01)


def test_independent_phases_are_not_whitened():
    phases = {"name": "independent-phases", "batch": 8, "phases": [{"size": 8, "steps": 4}, {"size": 16, "steps": 4}]}
    spec = {"task": {"name": "sparse-parity", "d": 6, "k": 2}, "model": {"name": "mlp", "width": 8}, "plan": phases}
    spec |= {"optimizer": {"name": "sgd", "lr": 1.0}, "loss": "logistic", "evaluation": {"every": 4, "samples": 8}}
    Spec.parse({**spec, "steps": 8, "training_set": {"remove": "balanced-inputs"}})  # in pairs, wherever a set begins
    with pytest.raises(InputError, match="whitened"):
        Spec.parse({**spec, "steps": 8, "training_set": {"remove": "whitened"}})


def test_independent_phases_have_at_most_as_many_samples_as_there_are_indices():
    with pytest.raises(InputError, match=r"3221225472 samples in all"):
        IndependentPhases(batch=8, phases=[{"size": 2**30, "steps": 4}] * 3)
