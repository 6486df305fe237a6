"""Sparse features: closed forms against integration and against the runs of the model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.spec import Spec
from lopsided.results.stored import load
from lopsided.store.parts import Store
from lopsided.theory import sparse_features as theory
from lopsided.work.worker import run

D, START = 6, 1e-2
DATA = {
    "task": {"name": "sparse-features", "d": D, "beta": 1.0},
    "skills": {"name": "power-law", "alpha": 0.5},
    "model": {"name": "product", "r": 0.1},
    "plan": {"name": "population", "dynamics": "flow"},
    "optimizer": {"name": "sgd", "lr": 0.5},
    "loss": "square",
    "steps": 200,
    "evaluation": {"every": 5, "samples": 64},
}
exponents = st.floats(0, 2)


@given(exponents, exponents)
def test_the_closed_form_solves_the_equation(alpha, beta):
    a, p = theory.strengths(D, beta), theory.frequencies(D, alpha)
    t = np.linspace(0, 20, 9)
    start = np.full(D, START)
    found = solve_ivp(lambda _, q: 4 * p * (a - q) * q, (0, 20), start, t_eval=t, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(theory.answers(t, a, p, start), found.y.T, rtol=1e-5, atol=1e-8)


@given(exponents, exponents)
def test_half_time_is_when_the_answer_is_half(alpha, beta):
    a, p = theory.strengths(D, beta), theory.frequencies(D, alpha)
    start = 0.1 * a
    times = theory.half_time(a, p, start)
    halves = np.diag(theory.answers(times, a, p, start))
    np.testing.assert_allclose(halves, a / 2, rtol=1e-9)
    assert np.isnan(theory.half_time(a, p, 0.9 * a)).all()


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 1.0), (1.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
def test_the_loss_falls_with_the_exponent(alpha, beta):
    """Far from both ends of a long sequence of features."""
    d = 20_000
    a, p = theory.strengths(d, beta), theory.frequencies(d, alpha)
    times = theory.half_time(a, p, np.full(d, 1e-14 * a[-1]))[[30, 300]]
    loss = theory.uniform_loss(theory.answers(times, a, p, np.full(d, 1e-14 * a[-1])), a)
    slope = np.diff(np.log(loss))[0] / np.diff(np.log(times))[0]
    assert slope == pytest.approx(theory.time_exponent(alpha, beta), rel=0.12)


def test_where_a_power_law_stops_paying():
    d = 1000
    for alpha in (0.5, 1.0, 1.5):
        more = theory.frequencies(d, alpha) > 1 / d
        assert more.sum() == int(theory.pays_until(d, alpha))
    assert theory.pays_until(d, 1.0) == pytest.approx(d / np.log(d), rel=0.1)


def test_the_exact_flow_of_the_model_is_the_closed_form(tmp_path):
    spec, store = Spec.parse(DATA), Store(tmp_path)
    run([spec], 2, store)
    results = load(store, "", "", {"x": spec}, {"x": 2})
    assert results is not None
    a, p = theory.strengths(D, 1.0), theory.frequencies(D, 0.5)
    for seed, loss in enumerate(results["x"].metric("test/loss")):
        start = np.asarray(spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs).w, float) ** 2
        expected = theory.uniform_loss(theory.answers(results["x"].steps * 0.5, a, p, start), a)
        np.testing.assert_allclose(loss, expected, rtol=1e-3, atol=1e-9)


def test_samples_follow_the_flow(tmp_path):
    """Small steps, many samples: the loss of SGD is that of the flow at the same time."""
    flow = Spec.parse({**DATA, "optimizer": {"name": "sgd", "lr": 0.05}, "steps": 400, "evaluation": {"every": 100}})
    sampled = flow.replace(plan={"name": "online", "batch": 512}, probes=({"name": "population-loss"},))
    store = Store(tmp_path)
    run([flow, sampled], 3, store)
    results = load(store, "", "", {"flow": flow, "sampled": sampled}, {"flow": 3, "sampled": 3})
    assert results is not None
    exact, found = results["flow"].metric("test/loss"), results["sampled"].metric("population/loss")
    np.testing.assert_allclose(found, exact, rtol=0.05)


def test_other_models_have_no_exact_loss():
    with pytest.raises(InputError, match="model 'product'"):
        Spec.parse({**DATA, "model": {"name": "transformer", "layers": 1, "width": 8}})
