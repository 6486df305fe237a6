"""Parameter groups and the maximal-update parameterization."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.shapes import Scalar, Vector
from lopsided.core.task import SampleContext
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.members import program_key
from lopsided.models.mlp import MLP

FIRST, LAST = "layers.0.*", "layers.1.*"


def params_after(spec, seed=3):
    ensemble = Ensemble([Member(spec, seed)])
    list(ensemble.run())
    return jax.tree.map(lambda x: np.asarray(x)[0], ensemble.state.params)


def start_of(spec, seed=3):
    ensemble = Ensemble([Member(spec, seed)])
    return jax.tree.map(lambda x: np.asarray(x)[0], ensemble.state.params)


@pytest.mark.slow
def test_initial_scale_multiplies_weights_and_biases_of_the_group(parity):
    plain = start_of(parity())
    scaled = start_of(parity(groups=[{"match": FIRST, "init": 0.25}]))
    np.testing.assert_allclose(scaled.layers[0].weight, plain.layers[0].weight / 4)
    np.testing.assert_allclose(scaled.layers[0].bias, plain.layers[0].bias / 4)
    np.testing.assert_array_equal(scaled.layers[1].weight, plain.layers[1].weight)


@pytest.mark.slow
def test_factors_of_several_groups_multiply(parity):
    groups = [{"match": "layers.*", "init": 2.0}, {"match": "*.weight", "init": 3.0}]
    plain, scaled = start_of(parity()), start_of(parity(groups=groups))
    np.testing.assert_allclose(scaled.layers[0].weight, 6 * plain.layers[0].weight, rtol=1e-6)
    np.testing.assert_allclose(scaled.layers[0].bias, 2 * plain.layers[0].bias, rtol=1e-6)


@pytest.mark.slow
def test_rate_zero_freezes(parity):
    spec = parity(groups=[{"match": LAST, "lr": 0.0}])
    before, after = start_of(spec), params_after(spec)
    np.testing.assert_array_equal(before.layers[1].weight, after.layers[1].weight)
    assert (before.layers[0].weight != after.layers[0].weight).any()


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", [{"name": "sgd", "lr": 0.5}, {"name": "adamw", "lr": 0.01}])
def test_rates_multiply_updates(parity, optimizer):
    one = {"steps": 1, "evaluation": {"every": 1, "samples": 16}, "optimizer": optimizer}
    start = start_of(parity(**one))
    plain, fast = (params_after(parity(**one, groups=[{"match": FIRST, "lr": r}])) for r in (1.0, 8.0))
    moved = [p.layers[0].weight - start.layers[0].weight for p in (plain, fast)]
    np.testing.assert_allclose(moved[1], 8 * moved[0], rtol=1e-3, atol=1e-6)
    np.testing.assert_array_equal(plain.layers[1].weight, fast.layers[1].weight)


@pytest.mark.slow
def test_one_rate_for_all_is_the_plain_rate(parity):
    plain = params_after(parity(optimizer={"name": "sgd", "lr": 0.5}))
    grouped = params_after(parity(optimizer={"name": "sgd", "lr": 0.125}, groups=[{"match": "*", "lr": 4.0}]))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), plain, grouped)


@pytest.mark.slow
def test_factors_are_traced_and_patterns_are_not(parity):
    a, b, c = (parity(groups=[{"match": m, "lr": r}]) for m, r in ((FIRST, 1.0), (FIRST, 7.0), (LAST, 1.0)))
    assert program_key(a) == program_key(b) != program_key(c)
    together = Ensemble([Member(a, 3), Member(b, 3)])
    list(together.run())
    alone = params_after(b)
    np.testing.assert_allclose(together.state.params.layers[0].weight[1], alone.layers[0].weight, rtol=1e-5)


@pytest.mark.slow
def test_no_groups_change_no_hash_and_no_number(parity):
    assert parity().content_hash() == parity(groups=[]).content_hash()
    assert parity().content_hash() != parity(groups=[{"match": FIRST}]).content_hash()
    jax.tree.map(np.testing.assert_array_equal, params_after(parity()), params_after(parity(groups=[{"match": FIRST}])))


@pytest.mark.slow
def test_a_pattern_without_a_parameter_names_the_parameters(parity):
    with pytest.raises(InputError, match=r"'layer\.0' matches no parameter; there are layers\.0\.weight"):
        parity(groups=[{"match": "layer.0"}])


@pytest.mark.slow
def test_groups_need_an_engine_and_an_optimizer_that_know_them(parity):
    with pytest.raises(InputError, match="one learning rate"):
        parity(optimizer={"name": "spherical-sgd", "lr": 0.1}, groups=[{"match": FIRST, "lr": 2.0}])


WIDTHS = (64, 256, 1024)


def activations(width, parameterization, parity, adaptive):
    """Root mean square of (change of hidden pre-activations, outputs) after a few steps, mean over members."""
    lr = (0.01 if adaptive else 0.05) if parameterization == "mup" else (0.003 if adaptive else 0.5)
    spec = parity(
        model={"name": "mlp", "width": width, "depth": 3, "parameterization": parameterization},
        optimizer={"name": "adamw" if adaptive else "sgd", "lr": lr},
        loss="square",
        steps=4,
        evaluation={"every": 4, "samples": 16},
    )
    members = [Member(spec, seed) for seed in range(6)]
    ensemble = Ensemble(members)
    start = jax.device_get(ensemble.state.params)
    list(ensemble.run())
    end = jax.device_get(ensemble.state.params)
    x = np.asarray(jax.vmap(lambda i: spec.task.sample(stream(0, "x"), i, SampleContext()).inputs)(jnp.arange(64)))

    def hidden(p, i):
        first = np.maximum(x @ p.layers[0].weight[i] + p.layers[0].bias[i], 0)
        second = first @ p.layers[1].weight[i] + p.layers[1].bias[i]
        return second, np.maximum(second, 0) @ p.layers[2].weight[i] + p.layers[2].bias[i]

    moved, outputs = [], []
    for i in range(len(members)):
        (h0, _), (h1, out) = hidden(start, i), hidden(end, i)
        moved.append(np.sqrt(np.square(h1 - h0).mean()))
        outputs.append(np.sqrt(np.square(out).mean()))
    return np.mean(moved), np.mean(outputs)


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", [False, True])
def test_coordinate_check(parity, adaptive):
    """Under muP what hidden units change by in a few steps does not depend on the width; in the standard
    parameterization at a fixed rate it does (it grows for Adam, shrinks for SGD)."""

    def slopes(parameterization):
        sizes = np.array([activations(w, parameterization, parity, adaptive) for w in WIDTHS])
        return np.polyfit(np.log(WIDTHS), np.log(sizes), 1)[0]

    moved, outputs = slopes("mup")
    assert abs(moved) < 0.12
    assert outputs < 0.12
    assert abs(slopes("standard")[0]) > 0.25


@pytest.mark.slow
def test_mup_starts_with_small_outputs():
    inputs, outputs = Vector(8), Scalar(signs=True)
    for width in (16, 64):
        key = stream(0, "init")
        plain = MLP(width=width).init(key, inputs, outputs)
        mup = MLP(width=width, parameterization="mup").init(key, inputs, outputs)
        np.testing.assert_allclose(mup.layers[1].weight, plain.layers[1].weight * width**-0.5, rtol=1e-6)
        np.testing.assert_array_equal(mup.layers[0].weight, plain.layers[0].weight)
