"""Checkpoints inside a member's state, the plane through them, and probes that need gradients."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.keys import stream, words
from lopsided.core.probe import Trained
from lopsided.core.spec import Spec
from lopsided.core.task import SkillLaw
from lopsided.probes._plane import principal_plane
from lopsided.probes.landscape import Landscape
from tests.engines import engine as Ensemble


def spec(**changes):
    return Spec.parse(
        {
            "task": {"name": "k-composition", "d": 10, "k": 2},
            "skills": {"name": "power-law", "alpha": 1.0},
            "model": {"name": "product", "r": 0.5},
            "plan": {"name": "online", "batch": 16},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "square",
            "steps": 20,
            "evaluation": {"every": 10, "samples": 64},
            "probes": [{"name": "landscape", "checkpoints": 5, "grid": 3, "samples": 128}],
            **changes,
        }
    )


def test_checkpoints_are_the_parameters_at_those_steps():
    members = [Member(spec(), s) for s in range(3)]
    ensemble = Ensemble(members)
    *_, last = (c for c in ensemble.run() if c is not None)
    kept = np.asarray(ensemble.state.kept)
    for c, steps in enumerate((0, 4, 8, 12, 16, 20)):
        alone = Ensemble(members)
        alone.advance(steps)
        np.testing.assert_array_equal(kept[:, c], np.asarray(alone.state.params.w))
    assert last.metrics["landscape/loss"].shape == (3, 6)


def test_an_interrupted_member_looks_back_on_all_of_training():
    whole, first, second = (Ensemble([Member(spec(), 4)]) for _ in range(3))
    expected = list(whole.run())[-1].metrics
    first.advance(10)
    second.restore(10, 0.0, jax.device_get(first.state))
    found = list(second.run())[-1].metrics
    for name in ("landscape/loss", "landscape/slope", "landscape/whole"):
        np.testing.assert_array_equal(found[name], expected[name])


def test_only_the_last_evaluation_looks_back():
    early, late = (c.metrics for c in Ensemble([Member(spec(), 0)]).run())
    assert not any(name.startswith("landscape/") for name in early)
    assert "landscape/explained" in late


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"steps": 21, "evaluation": {"every": 7}}, "5 stretches do not divide steps = 21"),
        ({"until": {"at_least": 0.9}}, "without `until`"),
        ({"plan": {"name": "population"}}, "only for plans that draw samples"),
    ],
)
def test_specs_that_cannot_look_back_are_refused(changes, says):
    with pytest.raises(InputError, match=says):
        spec(**changes)


def way(seed, checkpoints=8, size=30):
    """Checkpoints on a plane of a larger space, and that plane's basis."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(size, 2)))[0].T
    return jnp.asarray(rng.normal(size=size) + rng.normal(size=(checkpoints, 2)).cumsum(0) @ basis, jnp.float32), basis


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1000), source=st.sampled_from(["differences", "to-final", "parameters"]))
def test_a_flat_way_lies_on_its_plane(seed, source):
    points, basis = way(seed)
    plane = principal_plane(points, source, False, lambda x: x)
    assert float(plane.explained.sum()) == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(plane.points(plane.coordinates(points)), points, atol=2e-3)
    np.testing.assert_allclose(plane.directions @ plane.directions.T, np.eye(2), atol=1e-3)
    assert np.linalg.norm(np.asarray(plane.directions) @ basis.T) == pytest.approx(2**0.5, abs=1e-3)
    assert (plane.coordinates(points)[-1] >= -1e-3).all()


def test_filters_take_the_norms_of_the_weights():
    points = jnp.asarray(np.random.default_rng(0).normal(size=(6, 14)), jnp.float32)
    unflatten = lambda x: (x[:12].reshape(4, 3), x[12:])
    plane = principal_plane(points, "differences", True, unflatten)
    matrix, bias = unflatten(plane.directions[0])
    np.testing.assert_allclose(
        jnp.linalg.norm(matrix, axis=0), jnp.linalg.norm(unflatten(points[-1])[0], axis=0), rtol=1e-4
    )
    assert not bias.any()


@pytest.mark.slow
def test_landscape_of_a_known_loss():
    """A quadratic bowl, walked along its first two axes: slope, grid, projections and distances are known."""
    path = jnp.zeros((7, 5)).at[:, 0].set(jnp.linspace(3, 0, 7)).at[3:, 1].set(1.0)
    loss = lambda p, n: 0.5 * (p**2).sum()
    found = Landscape(checkpoints=6, grid=5, samples=1).conclude(Trained(path, lambda x: x, loss))
    assert float(found["landscape/slope"]) == pytest.approx(3, rel=1e-4)
    assert float(found["landscape/full-slope"]) == pytest.approx(3, rel=1e-4)
    assert float(found["landscape/off-plane"]) == pytest.approx(0, abs=1e-4)
    assert float(found["landscape/distance"]) == pytest.approx(0, abs=1e-3)
    assert float(found["landscape/moved"][0]) == pytest.approx(0.5)
    for c in range(7):
        assert float(found["landscape/loss"][c]) == pytest.approx(float(loss(path[c], 1)), abs=1e-5)
    plane = principal_plane(path, "differences", False, lambda x: x)
    low, high = (float(found[f"landscape/whole/y-{end}"]) for end in ("low", "high"))
    corner = plane.points(jnp.array([[float(found["landscape/whole/x-high"]), low + 0.25 * (high - low)]]))[0]
    assert float(found["landscape/whole"][1, 4]) == pytest.approx(float(loss(corner, 1)), rel=1e-4)


def test_one_skill_of_each_sample_is_from_its_own_law():
    order = jnp.arange(8)
    tail, head = jnp.zeros(8).at[6:].set(0.5), jnp.zeros(8).at[:2].set(0.5)
    law = SkillLaw(jnp.cumsum(head), order, jnp.cumsum(tail))
    draws = np.asarray(jax.vmap(lambda i: law.draw(words(stream(0, "test"), i, 5)))(jnp.arange(4000, dtype=jnp.uint32)))
    assert ((draws >= 6).sum(1) == 1).all()
    assert (draws[draws < 6] < 2).all()
    counts = np.bincount((draws >= 6).argmax(1), minlength=5)
    assert ((counts - 800) ** 2 / 800).sum() < 20  # chi-square with 4 degrees of freedom, p = 5e-4


def test_tail_gradient_is_the_norm_of_the_expected_gradient():
    """Against the mean over all pairs of skills, written out; noise of 2^16 samples is below a few per cent."""
    probe = {"name": "tail-gradient", "bins": 5, "samples": 2**16}
    one = spec(probes=[probe], steps=10, model={"name": "product", "r": 1.0})
    ensemble = Ensemble([Member(one, s) for s in range(3)])
    (last,) = list(ensemble.run())
    for seed in range(3):
        w = np.asarray(ensemble.state.params.w)[seed].astype(float)
        sign = np.asarray(one.task.latent(stream(seed, "world")))
        for name, others in (("head", range(2)), ("middle", range(2, 8))):
            total = np.zeros(10)
            pairs = list(itertools.product(range(8, 10), others))
            for i, j in pairs:
                residual = w[i] * w[j] - sign[i] * sign[j]
                total[i] += residual * w[j] / len(pairs)
                total[j] += residual * w[i] / len(pairs)
            assert last.metrics[f"tail-gradient/{name}"][seed] == pytest.approx(np.linalg.norm(total), rel=0.05)
