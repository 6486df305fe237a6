"""k-composition: formulas of the theory against autograd and brute force, in float64."""

import itertools

import jax
import numpy as np
import pytest

from lopsided.skills.distributions import PowerLaw
from lopsided.tasks.k_composition import population_loss
from lopsided.theory import k_composition as theory

CASES = [(d, k, alpha) for d in (4, 9) for k in (2, 4, 6) for alpha in (0.0, 1.0, 1.5)]


def setting(d, alpha, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.7, d), np.sign(rng.normal(size=d)), PowerLaw(alpha=alpha).path(d).probabilities()


@pytest.mark.parametrize(("d", "k", "alpha"), CASES)
def test_population_loss_gradient_and_hessian(d, k, alpha):
    """Autograd of the population loss equals the closed formulas to 1e-10, for any hidden signs."""
    w, target, p = setting(d, alpha)
    with jax.enable_x64(True):
        w_, target_, p_ = (jax.numpy.asarray(x) for x in (w, target, p))
        f = lambda w: population_loss(w, target_, p_, k)  # noqa: E731
        value, gradient, hessian = (np.asarray(x) for x in (f(w_), jax.grad(f)(w_), jax.hessian(f)(w_)))
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


@pytest.mark.parametrize(("d", "k", "alpha"), CASES)
def test_lower_bound_of_the_gradient_along_a_trajectory(d, k, alpha):
    """Gradient descent at the stable step from a small positive start: the bound holds at every step, loss falls."""
    _, _, p = setting(d, alpha)
    u = np.abs(np.random.default_rng(1).normal(0, 0.3, d))
    step = theory.stable_step(p, k)
    losses = []
    for _ in range(400):
        a, b = theory.moments(u, p)
        gradient = theory.gradient(u, p, k)
        if 0 < a <= 1 and b <= 1:
            assert gradient @ gradient >= theory.polyak_lojasiewicz_bound(u, p, k) - 1e-15
        losses.append(theory.loss(u, p, k))
        u = u - step * gradient
    assert (np.diff(losses) <= 1e-15).all()


def test_initial_moments_follow_the_stated_laws():
    """A(0) ~ N(0, r²‖p‖²) and B(0) close to r²."""
    d, r = 200, 0.3
    p = PowerLaw(alpha=0.5).path(d).probabilities()
    draws = np.random.default_rng(0).normal(0, r, (20_000, d))
    a, b = draws @ p, draws**2 @ p
    assert a.std() == pytest.approx(r * np.linalg.norm(p), rel=0.02)
    assert b.mean() == pytest.approx(r**2, rel=0.01)


def test_correlation_of_two_targets_under_uniform_skills():
    rng = np.random.default_rng(0)
    w, other = np.sign(rng.normal(size=(2, 5)))
    products = [w[list(i)].prod() * other[list(i)].prod() for i in itertools.product(range(5), repeat=4)]
    assert theory.uniform_correlation(w, other, 4) == pytest.approx(np.mean(products))


def test_sampled_gradient_descent_approaches_population_as_the_batch_grows():
    """The engine's k-composition run against the exact population trajectory: the gap shrinks like batch^-1/2."""
    from lopsided.core.keys import stream
    from lopsided.core.spec import Spec
    from lopsided.engines.ensemble import Ensemble
    from lopsided.engines.members import Member

    d, k, lr, steps = 8, 2, 0.5, 30
    p = PowerLaw(alpha=1.0).path(d).probabilities()
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
        ensemble = Ensemble([Member(spec, s) for s in range(16)])
        list(ensemble.run())
        distance = []
        for seed in range(16):
            target = np.asarray(spec.task.world(stream(seed, "world")), np.float64)
            first = spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs)
            u = np.asarray(first.w, np.float64) * target
            for _ in range(steps):
                u = u - lr * theory.gradient(u, p, k)
            distance.append(np.linalg.norm(np.asarray(ensemble.state.params.w)[seed] * target - u))
        gaps.append(np.median(distance))
    assert np.log(gaps[0] / gaps[1]) / np.log(4096 / 64) == pytest.approx(0.5, abs=0.2)
