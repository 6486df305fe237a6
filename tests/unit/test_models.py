import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.batch import Batch
from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.shapes import Classes, Scalar, Tokens, Vector, Vectors
from lopsided.models._parts import rotated
from lopsided.models.mlp import MLP
from lopsided.models.product import Product
from lopsided.models.transformer import Transformer
from lopsided.numerics.lowering import matmul
from tests.compiled import answers, made

KEY = stream(0, "init")
TOKENS = Batch(jnp.array(np.random.default_rng(0).integers(0, 11, (5, 6)), jnp.int32))


@pytest.mark.parametrize("depth", [2, 4])
def test_torch_default_bounds_and_spread(depth):
    net = made(MLP(width=200, depth=depth), Vector(50), Scalar(True))
    for layer in net.layers:
        unit = layer.weight.shape[0] ** -0.5
        for leaf in (layer.weight, layer.bias):
            assert float(jnp.abs(leaf).max()) <= unit
        assert float(layer.weight.std()) == pytest.approx(unit / 3**0.5, rel=0.1)


def test_gaussian_initialisation():
    net = made(MLP(width=400, initialisation="gaussian"), Vector(100), Scalar(True))
    assert float(net.layers[0].weight.std()) == pytest.approx(0.1, rel=0.02)
    assert float(jnp.abs(net.layers[0].bias).max()) == 0


def test_perceptron_equals_numpy():
    net = made(MLP(width=7, depth=3), Vector(4), Scalar(True))
    x = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    h = x
    for layer in net.layers[:-1]:
        h = np.maximum(h @ np.asarray(layer.weight) + np.asarray(layer.bias), 0)
    expected = h @ np.asarray(net.layers[-1].weight)[:, 0] + np.asarray(net.layers[-1].bias)[0]
    np.testing.assert_allclose(answers(net, Batch(jnp.asarray(x))), expected, rtol=1e-5, atol=1e-6)


def test_matmul_has_the_gradients_of_matmul():
    x, w = jax.random.normal(KEY, (3, 5, 4)), jax.random.normal(KEY, (4, 6))
    pair = (jax.grad(lambda x, w, op=op: jnp.sin(op(x, w)).sum(), argnums=(0, 1))(x, w) for op in (matmul, jnp.matmul))
    for ours, theirs in zip(*pair, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("attention", ["encoder", "causal"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_reading_few_positions_equals_reading_all(attention, norm):
    """Skipping unread positions in the last block is an optimisation, not another model."""
    config = Transformer(layers=2, width=16, attention=attention, norm=norm)
    some = made(config, Tokens(11, 6), Classes(10, (1, 5)))
    everything = made(config, Tokens(11, 6), Classes(10, tuple(range(6))))
    np.testing.assert_allclose(answers(some, TOKENS), answers(everything, TOKENS)[:, (1, 5)], rtol=2e-5, atol=2e-5)


def test_causal_model_ignores_the_future():
    net = made(Transformer(layers=2, width=16, attention="causal"), Tokens(11, 6), Classes(10, tuple(range(6))))
    changed = Batch(TOKENS.inputs.at[:, 4:].set(3))
    np.testing.assert_allclose(answers(net, TOKENS)[:, :4], answers(net, changed)[:, :4], rtol=1e-5, atol=1e-5)
    assert not np.allclose(answers(net, TOKENS)[:, 4:], answers(net, changed)[:, 4:])


def test_encoder_attends_to_everything():
    net = made(Transformer(layers=1, width=16), Tokens(11, 6), Classes(10, (0,)))
    assert not np.allclose(answers(net, TOKENS), answers(net, Batch(TOKENS.inputs.at[:, 5].set(3))))


def test_product_model():
    net = made(Product(r=0.5), Tokens(8, 3), Scalar(True))
    x = jnp.array([[0, 1, 1]])
    assert float(answers(net, Batch(x))[0]) == pytest.approx(float(net.w[0] * net.w[1] ** 2))


@pytest.mark.parametrize(("model", "inputs"), [(MLP(), Tokens(3, 2)), (MLP(), Vectors(3, 2)), (Product(), Vector(3))])
def test_wrong_kind_of_input_is_refused(model, inputs):
    with pytest.raises(InputError, match=model.name):
        model.init(KEY, inputs, Scalar(True))


def test_heads_must_divide_width():
    with pytest.raises(InputError, match="heads = 5"):
        Transformer(width=16, heads=5)


ALL_PARTS = {"positions": "rope", "kv_heads": 2, "head_width": 6, "qk_norm": True, "mlp": "swiglu", "norm": "rms"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        ALL_PARTS,  # and each of them, where all together fail
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ({"qk_norm": True}, {"bias": False}, {"initialisation": "normal"})
        ),
    ],
)
@pytest.mark.parametrize("attention", ["encoder", "causal"])
def test_other_parts_read_few_positions_too(changes, attention):
    config = Transformer(layers=2, width=16, attention=attention, **changes)
    some = made(config, Tokens(11, 6), Classes(10, (1, 5)))
    everything = made(config, Tokens(11, 6), Classes(10, tuple(range(6))))
    np.testing.assert_allclose(answers(some, TOKENS), answers(everything, TOKENS)[:, (1, 5)], rtol=2e-5, atol=2e-5)


def test_rotary_scores_depend_on_distance_only():
    """Shifting all positions leaves attention alone, so the answer at a repeated pattern's end is the pattern's."""
    net = made(Transformer(layers=1, width=16, positions="rope"), Tokens(11, 6), Classes(10, tuple(range(6))))
    assert net.position is None
    turned = answers(net, Batch(jnp.full((1, 6), 3, jnp.int32)))
    np.testing.assert_allclose(turned[0, 0], turned[0, 5], rtol=1e-5, atol=1e-5)
    a, b = jax.random.normal(KEY, (2, 1, 1, 1, 8))
    score = lambda m, n: (rotated(a, jnp.array([[m]]), 100.0) * rotated(b, jnp.array([[n]]), 100.0)).sum()
    np.testing.assert_allclose(score(3, 1), score(9, 7), rtol=1e-4, atol=1e-5)
    assert not np.isclose(score(3, 1), score(3, 2), rtol=1e-2)


def test_qk_norm_ignores_the_scale_of_queries_and_keys():
    """The reason why an initial scale of W_q, W_k is no setting with it."""
    config = Transformer(layers=1, width=16, qk_norm=True, norm="rms", bias=False, eps=1e-8)
    net = made(config, Tokens(11, 6), Classes(10, (5,)))
    larger = eqx.tree_at(lambda n: n.blocks[0].attention.q.weight, net, replace_fn=lambda w: 8 * w)
    np.testing.assert_allclose(answers(net, TOKENS), answers(larger, TOKENS), rtol=1e-4, atol=1e-5)
    plain = made(Transformer(layers=1, width=16, norm="rms", bias=False), Tokens(11, 6), Classes(10, (5,)))
    larger = eqx.tree_at(lambda n: n.blocks[0].attention.q.weight, plain, replace_fn=lambda w: 8 * w)
    assert not np.allclose(answers(plain, TOKENS), answers(larger, TOKENS), rtol=1e-2)


def test_vector_inputs_are_read_in_by_an_affine_map():
    """A coordinate of a vector is a position; a sequence of vectors is what it is."""
    flat = made(Transformer(layers=1, width=16), Vector(5), Scalar(False))
    x = jax.random.normal(KEY, (3, 5))
    assert flat.embedding is None
    assert answers(flat, Batch(x)).shape == (3,)
    listed = made(Transformer(layers=1, width=16), Vectors(5, 1), Scalar(False))
    np.testing.assert_array_equal(answers(flat, Batch(x)), answers(listed, Batch(x[..., None])))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"kv_heads": 3}, "kv_heads = 3"),
        ({"positions": "rope", "head_width": 5}, "even width"),
        ({"tied": True}, "tied"),
    ],
)
def test_impossible_transformers_are_refused(changes, match):
    with pytest.raises(InputError, match=match):
        made(Transformer(width=16, heads=4, **changes), Tokens(11, 6), Classes(10, (5,)))
