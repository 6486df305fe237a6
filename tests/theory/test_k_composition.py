"""k-composition: formulas of the theory against autograd and brute force, in float64."""

import itertools

import jax
import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lopsided.skills.distributions import PowerLaw
from lopsided.tasks.k_composition import population_loss
from lopsided.theory import k_composition as theory

ROUNDING = 1e-12
CASES = [(d, k, alpha) for d in (4, 9) for k in (2, 4, 6) for alpha in (0.0, 1.0, 1.5)]


def setting(d, alpha, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.7, d), np.sign(rng.normal(size=d)), PowerLaw(alpha=alpha).schedule(d).probabilities()


@pytest.mark.parametrize(("d", "k", "alpha"), CASES)
def test_population_loss_gradient_and_hessian(d, k, alpha):
    """Autograd of the population loss equals the closed formulas to 1e-10, for any hidden signs."""
    w, target, p = setting(d, alpha)
    with jax.enable_x64(True):
        w_, target_, p_ = (jax.numpy.asarray(x) for x in (w, target, p))
        f = lambda w: population_loss(w, target_, p_, k)
        value, gradient, hessian = map(np.asarray, jax.jit(lambda w: (f(w), jax.grad(f)(w), jax.hessian(f)(w)))(w_))
    u = w * target
    np.testing.assert_allclose(value, theory.loss(u, p, k), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gradient, target * theory.gradient(u, p, k), rtol=1e-10, atol=1e-12)
    flipped = np.outer(target, target) * theory.hessian(u, p, k)
    np.testing.assert_allclose(hessian, flipped, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("d", "k"), [(3, 2), (3, 4), (4, 4)])
def test_population_loss_is_the_mean_over_all_inputs(d, k):
    """Brute force over all d^k inputs, without using that the skills are independent."""
    w, target, p = setting(d, 1.3)
    total = 0.0
    for skills in itertools.product(range(d), repeat=k):
        i = list(skills)
        total += p[i].prod() * 0.5 * (w[i].prod() - target[i].prod()) ** 2
    assert theory.loss(w * target, p, k) == pytest.approx(total, rel=1e-12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    d=st.integers(2, 24),
    k=st.sampled_from([2, 4, 6, 8]),
    alpha=st.sampled_from([0.0, 0.5, 1.0, 1.25, 1.5, 2.0, 4.0]),
    r=st.sampled_from([0.02, 0.1, 0.3, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_every_inequality_of_the_lemmas_holds_along_trajectories(d, k, alpha, r, seed):
    """Gradient descent at the stable step from a good start: lemmas 3 to 6 and 8, at every step."""
    p = PowerLaw(alpha=alpha).schedule(d).probabilities()
    u = np.random.default_rng(seed).normal(0, r, d)
    a_0, _ = theory.moments(u, p)
    u, a_0 = (u, a_0) if a_0 > 0 else (-u, -a_0)
    assume(theory.starts_well(u, p))
    step, before = theory.stable_step(p, k), np.inf
    assert theory.loss(u, p, k) <= 0.5 * (1 - a_0**k) + ROUNDING
    for t in range(600):
        a, b = theory.moments(u, p)
        value, gradient = theory.loss(u, p, k), theory.gradient(u, p, k)
        if value < 1e-13:
            break
        assert a >= theory.smallest_similarity(a_0, k) - ROUNDING
        assert a**2 <= b + ROUNDING
        assert b**k <= 2 * a**k + ROUNDING
        assert a <= 2 ** (1 / k)
        assert b <= 2 ** (2 / k)
        assert gradient @ gradient >= theory.polyak_lojasiewicz_bound(u, p, k) - ROUNDING
        assert gradient @ gradient <= theory.gradient_bound(u, p, k) + ROUNDING
        assert value <= before * theory.contraction(a_0, p, k, step) + ROUNDING
        assert np.abs(u).max() <= theory.largest_weight(a_0, k)
        if value <= 1 / 8:
            assert np.abs(u - 1).max() <= theory.error_bound(a_0, p, k, value) + ROUNDING
        if t % 20 == 0:
            norm = np.abs(np.linalg.eigvalsh(theory.hessian(u, p, k))).max()
            assert norm <= theory.printed_hessian_bound(p, k)
            assert norm <= 1 / (2 * step)
            if a <= 1:
                assert norm <= theory.hessian_bound(u, p, k) * (1 + 1e-9)
        u, before = u - step * gradient, value


def test_printed_bound_of_the_hessian_fails_in_the_region_it_is_stated_for():
    """u = 2^{1/k} (1, ..., 1) has B^k = 2 A^k and a larger Hessian than 3 k² ‖p‖; the stable step survives it."""
    k, p = 4, PowerLaw(alpha=3.0).schedule(4).probabilities()
    u = np.full(4, 0.999 * 2 ** (1 / k))
    a, b = theory.moments(u, p)
    norm = np.abs(np.linalg.eigvalsh(theory.hessian(u, p, k))).max()
    assert b**k <= 2 * a**k
    assert norm > 1.1 * theory.printed_hessian_bound(p, k)
    assert norm < 1 / (2 * theory.stable_step(p, k))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(u=st.lists(st.floats(-2, 2), min_size=3, max_size=3), k=st.sampled_from([2, 4, 6]), alpha=st.floats(0, 3))
def test_lower_bound_of_the_gradient_holds_everywhere(u, k, alpha):
    """Lemma 5 needs no good start: Cauchy-Schwarz is enough."""
    p = PowerLaw(alpha=alpha).schedule(3).probabilities()
    gradient = theory.gradient(np.array(u), p, k)
    assert gradient @ gradient >= theory.polyak_lojasiewicz_bound(np.array(u), p, k) * (1 - 1e-9) - ROUNDING


def test_escape_time_is_that_of_the_dynamics_far_from_the_target():
    """From a small start under uniform skills A grows as the one-dimensional equation says, for k = 4 and 6."""
    for k in (4, 6):
        d, p = 16, np.full(16, 1 / 16)
        u = np.full(d, 0.02)
        expected, step, time = theory.escape_time(0.02, p, k), 0.0, 0.0
        while theory.moments(u, p)[0] < 0.5:
            gradient = theory.gradient(u, p, k)
            step = 0.02 * u[0] / -gradient[0]
            u, time = u - step * gradient, time + step
        assert time == pytest.approx(expected, rel=0.1)


def test_needs_of_a_correlational_learner():
    """Tolerance and samples are inverse; the exponent of d is k / 2 up to logarithms."""
    assert theory.csq_tolerance(100, 4, 50) * theory.uniform_samples(100, 4, 50) == pytest.approx(1)
    growth = np.log(theory.uniform_samples(10**8, 4, 1) / theory.uniform_samples(10**6, 4, 1)) / np.log(100)
    assert growth == pytest.approx(2, abs=0.15)
    assert theory.power_law_samples(10, 1.25) == pytest.approx(10**2.5)


def test_initial_moments_follow_the_stated_laws():
    """A(0) ~ N(0, r²‖p‖²) and B(0) close to r²."""
    d, r = 200, 0.3
    p = PowerLaw(alpha=0.5).schedule(d).probabilities()
    draws = np.random.default_rng(0).normal(0, r, (20_000, d))
    a, b = draws @ p, draws**2 @ p
    assert a.std() == pytest.approx(theory.initial_similarity(p, r), rel=0.02)
    assert np.median(np.abs(a)) == pytest.approx(theory.median_similarity(p, r), rel=0.02)
    mean, deviation = theory.initial_norm(p, r)
    assert b.mean() == pytest.approx(mean, rel=0.01)
    assert b.std() == pytest.approx(deviation, rel=0.02)


def test_correlation_of_two_targets_under_uniform_skills():
    rng = np.random.default_rng(0)
    w, other = np.sign(rng.normal(size=(2, 5)))
    products = [w[list(i)].prod() * other[list(i)].prod() for i in itertools.product(range(5), repeat=4)]
    assert theory.uniform_correlation(w, other, 4) == pytest.approx(np.mean(products))


@pytest.mark.parametrize(("d", "eps"), [(100, 0.3), (400, 0.2), (200, 0.3)])
def test_exponentially_many_targets_hardly_correlate(d, eps):
    """Lemma 1: of exp(eps² d / 4) / 2 random targets no two correlate by more than eps, in three of four draws at least
    (a union over pairs of Hoeffding's bound); so their labels correlate by eps^k at most."""
    rng, many = np.random.default_rng(d), int(np.exp(eps**2 * d / 4) / 2)
    assert many >= 4
    largest = []
    for _ in range(100):
        w = np.sign(rng.normal(size=(many, d)))
        largest.append(np.abs(np.triu(w @ w.T, 1)).max() / d)
    assert np.mean(np.array(largest) <= eps) >= 0.75
    assert theory.uniform_correlation(w[0], w[1], 4) <= largest[-1] ** 4 * (1 + ROUNDING)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    d=st.integers(2, 12), k=st.sampled_from([2, 4, 6]), alpha=st.sampled_from([0.0, 1.0, 2.0]), seed=st.integers(0, 99)
)
def test_the_loss_stands_still_at_three_points_only(d, k, alpha, seed):
    """Lemma 2: where the gradient is 0, w is 0, the target, or its opposite."""
    p = PowerLaw(alpha=alpha).schedule(d).probabilities()
    for point in (np.zeros(d), np.ones(d), -np.ones(d)):
        assert not theory.gradient(point, p, k).any()
    start = np.random.default_rng(seed).normal(size=d)
    # Divided by p: the equations of rare skills are as steep as those of frequent ones.
    found = scipy.optimize.root(lambda u: theory.gradient(u, p, k) / p, start, method="lm", tol=1e-14)
    assume(found.success and np.abs(found.fun).max() < 1e-12)
    # At 0 the gradient is flat (of order 2k - 1), so that a root is found from some way off.
    near = [np.abs(found.x - point).max() < 1e-6 for point in (np.ones(d), -np.ones(d))]
    assert any(near) or np.abs(found.x).max() < 0.2


@pytest.mark.slow
def test_sampled_gradient_descent_approaches_population_as_the_batch_grows():
    """The engine's k-composition run against the exact population trajectory: the gap shrinks like batch^-1/2."""
    from lopsided.core.engine import Member
    from lopsided.core.keys import stream
    from lopsided.core.spec import Spec
    from tests.engines import engine

    d, k, lr, steps = 8, 2, 0.5, 30
    p = PowerLaw(alpha=1.0).schedule(d).probabilities()
    gaps = []
    for batch in (64, 4096):
        spec = Spec.parse(
            {
                "task": {"name": "k-composition", "d": d, "k": k},
                "skills": {"name": "power-law", "alpha": 1.0},
                "model": {"name": "product", "r": 0.5},
                "plan": {"name": "online", "batch": batch},
                "optimizer": {"name": "sgd", "lr": lr},
                "loss": "square",
                "steps": steps,
                "evaluation": {"every": steps, "samples": 16},
            }
        )
        ensemble = engine([Member(spec, s) for s in range(16)])
        list(ensemble.run())
        distance = []
        for seed in range(16):
            target = np.asarray(spec.task.latent(stream(seed, "world")), np.float64)
            first = spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs)
            u = np.asarray(first.w, np.float64) * target
            for _ in range(steps):
                u = u - lr * theory.gradient(u, p, k)
            distance.append(np.linalg.norm(np.asarray(ensemble.state.params.w)[seed] * target - u))
        gaps.append(np.median(distance))
    assert np.log(gaps[0] / gaps[1]) / np.log(4096 / 64) == pytest.approx(0.5, abs=0.2)
