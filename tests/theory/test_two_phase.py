"""Two-phase training of the quadratic neuron: the engine against NumPy, the theory's inequalities, its slopes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.spec import Spec
from lopsided.core.task import SampleContext
from lopsided.theory import two_phase as theory
from tests.engines import engine

ETA, EPSILON = 0.1, 0.1


def spec_of(d=16, size=64, a_star=0.1, labels="true", m=1000.0, steps=600, **changes):
    plain = {
        "task": {"name": "sparse-parity", "d": d, "k": 2},
        "model": {"name": "quadratic-neuron", "m": m},
        "plan": {"name": "two-phase", "size": size, "a_star": a_star, "labels": labels, "epsilon": EPSILON},
        "optimizer": {"name": "sgd", "lr": ETA},
        "loss": "correlation",
        "steps": steps,
        "evaluation": {"every": steps // 2, "samples": 1},
    }
    return Spec.parse({**plain, **changes})


def final(spec, seeds):
    ensemble = engine([Member(spec, s) for s in range(seeds)])
    return ensemble, list(ensemble.run())[-1].metrics


def by_hand(spec, seed):
    """(steps of phase 1, of both phases, |q_0| sqrt(N)) in float64."""
    plan, d = spec.plan, spec.task.d
    latent, key = None, stream(seed, "train")
    samples = [spec.task.sample(key, i, SampleContext(latent)) for i in range(plan.size)]
    x = np.array([np.asarray(s.inputs, np.float64) for s in samples])
    y = np.array([float(s.targets) for s in samples])
    moment = (x * y[:, None]).T @ x / plan.size
    population = np.zeros((d, d))
    population[0, 1] = population[1, 0] = 1.0
    neuron = spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs)
    a, w = float(neuron.a), np.asarray(neuron.w, np.float64)
    q_0 = w @ moment @ w
    first = total = None
    for t in range(1, spec.steps + 1):
        m = moment if first is None else population
        a, w = np.clip(a + 0.5 * ETA * w @ m @ w, -1, 1), w + ETA * a * m @ w
        w /= np.linalg.norm(w)
        first = t if first is None and abs(a) >= plan.a_star else first
        near = 2 - 2 * (abs(w[0]) + abs(w[1])) / 2**0.5 <= EPSILON
        total = t if total is None and first is not None and near else total
    return first, total, abs(q_0) * plan.size**0.5


@pytest.mark.parametrize("seed", [0, 3])
def test_engine_equals_numpy(seed):
    spec = spec_of()
    _, found = final(spec, seed + 1)
    first, total, q_0 = by_hand(spec, seed)
    assert abs(found["two-phase/first"][seed] - first) <= 1
    assert abs(found["two-phase/total"][seed] - total) <= 2
    np.testing.assert_allclose(found["two-phase/q-0"][seed], q_0, rtol=1e-4)


def test_phase_1_keeps_its_bound_on_the_good_event():
    spec, c_0 = spec_of(d=32, size=256, a_star=0.02), 0.6
    _, found = final(spec, 400)
    good = (found["two-phase/aligned"] > 0) & (found["two-phase/q-0"] >= c_0)
    bound = theory.phase_1_bound(0.02, found["two-phase/outer-0"], 256, ETA, c_0)
    assert good.sum() > 80
    assert (found["two-phase/first"][good] <= bound[good]).all()


def test_phase_2_keeps_its_bound_once_signs_agree():
    """From the start on the population, for neurons whose outer weight has the sign of q (lemma 6)."""
    spec = spec_of(d=16, size=16, a_star=0.0, m=100.0, steps=4000)
    ensemble = engine([Member(spec, s) for s in range(300)])
    a, w = np.asarray(ensemble.state.params.a, np.float64)[:300], np.asarray(ensemble.state.params.w, np.float64)[:300]
    found = list(ensemble.run())[-1].metrics["two-phase/total"]
    aligned = np.sign(a) == np.sign(w[:, 0] * w[:, 1])
    overlap = abs(w[:, 0] + np.sign(a) * w[:, 1]) / 2**0.5
    # alpha² >= 1 - e means |w - w*|² = 2 - 2 alpha <= EPSILON for e = 1 - (1 - EPSILON / 2)².
    bound = theory.phase_2_bound(a, overlap, ETA, 1 - (1 - EPSILON / 2) ** 2)
    assert aligned.sum() > 100
    assert (found[aligned] <= bound[aligned] + 1).all()


def test_phase_1_time_has_slope_one_half_in_size():
    sizes = np.array([64, 256, 1024])
    slow = {"optimizer": {"name": "sgd", "lr": 0.01}, "m": 1e6}
    found = [final(spec_of(d=32, size=int(n), a_star=0.02, **slow), 300)[1]["two-phase/first"] for n in sizes]
    first = [np.median(np.nan_to_num(f, nan=np.inf)) for f in found]
    assert abs(np.polyfit(np.log(sizes), np.log(first), 1)[0] - theory.PHASE_1_EXPONENT) < 0.1


@pytest.mark.slow
def test_good_neurons_are_as_frequent_as_gaussian_ones():
    _, found = final(spec_of(d=32, size=512), 2000)
    good = (found["two-phase/aligned"] > 0) & (found["two-phase/q-0"] >= 0.6)
    expected = theory.good_event_gaussian(0.6)
    assert abs(good.mean() - expected) < 0.06
    assert good.mean() > theory.good_event_bound(0.6)


@pytest.mark.slow
def test_random_labels_carry_no_signal_and_grow_the_outer_weight_alike():
    _, true = final(spec_of(d=32, size=256), 400)
    _, random = final(spec_of(d=32, size=256, labels="random"), 400)
    assert 0.7 < np.median(random["two-phase/q-0"]) / np.median(true["two-phase/q-0"]) < 1.3
    assert (random["two-phase/q-0"] != true["two-phase/q-0"]).all()


@given(st.integers(1, 10**6), st.integers(3, 10**4), st.floats(0.1, 10))
def test_switching_points_are_weights(size, d, c):
    assert 0 < theory.best_a_star(size, d, c) <= 1
    assert 0 < theory.random_a_star(d, c) <= 1


@given(st.floats(0.01, 0.86), st.integers(3, 500), st.integers(10, 10**6))
def test_bounds_are_ordered(c_0, d, size):
    assert 0 < theory.good_event_bound(c_0) < theory.good_event_gaussian(c_0) < 0.5
    assert theory.norm_bound(size, d, 0.1) < theory.norm_bound(size, 2 * d, 0.1)
    assert theory.norm_bound(4 * size, d, 0.1) < theory.norm_bound(size, d, 0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": {"name": "sparse-parity", "d": 8, "k": 3}}, "k = 2"),
        ({"loss": "square"}, "loss 'correlation'"),
        ({"model": {"name": "mlp"}}, "quadratic-neuron"),
        ({"optimizer": {"name": "sgd", "lr": 0.1, "warmup": 5}}, "constant learning rate"),
    ],
)
def test_the_plan_is_about_one_setting(changes, message):
    with pytest.raises(InputError, match=message):
        spec_of(**changes)


def test_no_probability_beyond_lemma_1():
    with pytest.raises(ValueError, match="c_0"):
        theory.good_event_bound(0.9)
