"""Means of whole numbers, sums of many terms, and thresholds in decimals come out as on paper."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lopsided as lop
from lopsided.core.evaluation import Until
from lopsided.core.rounding import reaches
from lopsided.numerics.means import Count, RunningMean, divided, on_host
from lopsided.optim.losses import Share, counted, mean
from lopsided.plans.auto_schedule import AutoSchedule
from lopsided.stats.times import time_to_learn
from lopsided.store.parts import Store
from lopsided.store.tables import query

EVERY_N = np.arange(1, 10_000)


def test_every_right_answer_is_a_share_of_one_for_every_number_of_samples():
    """41 of 41 were 0.99999994, and so were 609 of the other numbers below 5,000."""
    numbers = (*range(1, 70), 82, 1_700, 1_900, 3_900)
    every = [jnp.ones(n) for n in numbers]
    assert {float(found) for found in jax.jit(lambda xs: [mean(Share(x)) for x in xs])(every)} == {1.0}
    counts = jax.jit(lambda xs: [counted(Share(x)) for x in xs])(every)
    assert {float(on_host({"accuracy": found})["accuracy"]) for found in counts} == {1.0}


def test_a_compiler_that_knows_the_number_divides_by_it_all_the_same():
    numbers = [float(n) for n in EVERY_N[::37]]
    found = jax.jit(lambda xs: [divided(x, n) for x, n in zip(xs, numbers, strict=True)])(
        list(map(jnp.float32, numbers))
    )
    assert set(map(float, found)) == {1.0}


def test_shares_on_the_host_are_the_nearest_doubles():
    found = on_host({"a": Count(EVERY_N - 1, EVERY_N), "b": np.float32(0.5), "c": Count(np.int32(0), np.int32(-1))})
    assert (found["a"] == (EVERY_N - 1) / EVERY_N).all()
    assert found["b"] == 0.5
    assert np.isnan(found["c"])
    assert on_host({"a": Count(np.int32(9), np.int32(10))})["a"] == 0.9
    assert on_host({"a": Count(np.int32(0), np.int32(0))})["a"] == 0.0


@pytest.mark.parametrize("hundredths", range(1, 101))
def test_a_tie_with_a_threshold_in_decimals_reaches_it(hundredths):
    """As a double, as float32, and as the old rows have it (one step of float32 too low)."""
    at = hundredths / 100
    n = EVERY_N[(EVERY_N * hundredths) % 100 == 0]
    k = n * hundredths // 100
    single = k.astype(np.float32) / n.astype(np.float32)
    old = k.astype(np.float32) * (np.float32(1) / n.astype(np.float32))
    for values in (k / n, single.astype(float), old.astype(float)):
        assert reaches(values, at).all()
        assert Until(at_least=at).reached(values).all()
    assert not reaches((k - 1) / n, at).any()


def test_time_to_learn_counts_ties():
    values = np.array([[0.1, np.float32(0.9), np.float32(0.9)]], float)
    assert values[0, 1] < 0.9
    assert not time_to_learn(np.array([1, 2, 3]), values, 0.9).censored.any()
    assert Until(metric="test/loss", at_most=0.1).reached(np.float64(np.float32(0.1)))


def test_a_member_with_every_answer_right_leaves_at_a_threshold_of_one(tmp_path):
    spec = lop.Spec(
        task=lop.tasks.SparseParity(d=4, k=1),
        model=lop.models.MLP(width=16),
        plan=lop.plans.Online(batch=32),
        optimizer=lop.optim.SGD(lr=1.0),
        loss="logistic",
        steps=2_000,
        evaluation={"every": 50, "samples": 41},
        until={"metric": "test/accuracy", "at_least": 1.0},
    )
    lop.run(spec, seeds=2, out=tmp_path)
    said = "SELECT max(step), max(value) FROM rows WHERE metric = 'test/accuracy'"
    ((last, best),) = query(Store(tmp_path).as_of_now(), [], said).rows
    assert last < 2_000
    assert best == 1.0


def test_a_running_mean_keeps_what_a_sum_in_single_precision_loses():
    """Plainly summed, three million times log 2 are 3.7 % too much."""
    term = jnp.float32(np.log(2))
    go = jax.jit(lambda n: jax.lax.fori_loop(0, n, lambda _, m: m.plus(term), RunningMean.nothing()))
    assert float(go(3_000_000).mean) == pytest.approx(float(term), rel=1e-6)
    plain = jax.jit(lambda n: jax.lax.fori_loop(0, n, lambda _, s: s + term, jnp.float32(0)))
    assert abs(float(plain(3_000_000)) / 3_000_000 / float(term) - 1) > 0.03
    assert np.isnan(float(RunningMean.nothing().mean))


def test_an_epoch_of_ones_passes_an_accuracy_of_one():
    plan = AutoSchedule(batch=41, first=41 * 3, last=41 * 12, phases=2, accuracy=1.0)
    memory = plan.init_state()
    for _ in range(3):
        memory = plan.update(memory, divided(jnp.float32(41), 41.0))
    assert int(memory.phase) == 1
