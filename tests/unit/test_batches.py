"""A batch reaches the model whole: packed documents, padding, weights and answers, held-out samples, clipping."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.core.batch import Batch, included
from lopsided.core.engine import Member
from lopsided.core.keys import stream
from lopsided.core.shapes import Classes, Tokens
from lopsided.core.spec import Spec
from lopsided.engines.gradient import Pieces, loss_and_grad
from lopsided.models.transformer import Transformer
from lopsided.optim.losses import accuracy_shares, loss_share, mean
from lopsided.optim.optimizers import SGD
from tests import copying  # noqa: F401  (registers a packed text task)
from tests.compiled import answers, made
from tests.engines import engine

KEY = stream(0, "init")
CONFIGS = [
    {"attention": "causal"},
    pytest.param({"attention": "encoder"}, marks=pytest.mark.slow),
    pytest.param({"attention": "causal", "positions": "rope", "layers": 3}, marks=pytest.mark.slow),
]
COPY = {
    "task": {"name": "copying"},
    "model": {"name": "transformer", "layers": 1, "width": 16, "heads": 2, "attention": "causal"},
    "plan": {"name": "online", "batch": 16},
    "optimizer": {"name": "adamw", "lr": 0.01},
    "loss": "cross-entropy",
    "steps": 150,
    "evaluation": {"every": 75, "samples": 128},
}


def network(length=10, **changes):
    return made(Transformer(width=16, **{"layers": 2, **changes}), Tokens(7, length), Classes(7, None))


@pytest.mark.parametrize("changes", CONFIGS)
def test_documents_packed_into_one_row_do_not_see_one_another(changes):
    """The logits of a packed document are those of the document alone; padding changes nothing."""
    net = network(**changes)
    a, b = jnp.array([[1, 2, 3, 4]]), jnp.array([[5, 6, 1]])
    packed = jnp.concatenate([a, b, jnp.zeros((1, 3), int)], axis=1)
    segments = jnp.array([[1, 1, 1, 1, 2, 2, 2, 0, 0, 0]])
    positions = jnp.array([[0, 1, 2, 3, 0, 1, 2, 0, 1, 2]])
    found = answers(net, Batch(packed, segments=segments, positions=positions))
    np.testing.assert_allclose(found[:, :4], answers(net, Batch(a)), rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(found[:, 4:7], answers(net, Batch(b)), rtol=2e-5, atol=2e-5)
    assert np.isfinite(found).all()


def test_without_segments_documents_see_one_another():
    net = network(attention="causal")
    row = jnp.array([[1, 2, 3, 4, 5, 6]])
    apart = Batch(row, segments=jnp.array([[1, 1, 1, 2, 2, 2]]))
    assert not np.allclose(answers(net, Batch(row))[:, 3:], answers(net, apart)[:, 3:], rtol=1e-3)


def test_rows_of_any_length_share_a_network():
    net = network(length=10, attention="causal")
    row = jnp.arange(7)[None]
    np.testing.assert_allclose(answers(net, Batch(row))[:, :4], answers(net, Batch(row[:, :4])), rtol=2e-5, atol=2e-5)


LOGITS = jax.random.normal(KEY, (3, 5, 7))
TARGETS = jax.random.randint(KEY, (3, 5), 0, 7)


@settings(max_examples=30)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=15, max_size=15))
def test_the_loss_is_a_mean_over_the_weighted_tokens_of_the_batch(weights):
    w = np.array(weights, np.float32).reshape(3, 5)
    batch = Batch(TARGETS, TARGETS, jnp.asarray(w))
    each = np.asarray(optax.softmax_cross_entropy_with_integer_labels(LOGITS, TARGETS))
    expected = (each * w).sum() / w.sum() if w.sum() else 0.0
    assert float(mean(loss_share("cross-entropy", LOGITS, batch))) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_what_has_no_weight_may_be_anything():
    """Not a number where nothing is asked: no loss, no gradient is hurt by it."""
    hurt = LOGITS.at[0, 0].set(jnp.nan)
    weights = jnp.ones((3, 5)).at[0, 0].set(0.0)
    loss = lambda x, w: mean(loss_share("cross-entropy", x, Batch(TARGETS, TARGETS, w)))
    assert np.isfinite(loss(hurt, weights))
    assert float(loss(LOGITS, jnp.zeros((3, 5)))) == 0
    assert np.isfinite(jax.grad(loss)(LOGITS, jnp.zeros((3, 5)))).all()


def test_accuracies_by_token_by_answer_and_by_document():
    targets = jnp.array([[0, 1, 2, 3, 4, 5]])
    answer = jnp.array([[0, 1, 1, 2, 3, 3]])  # three answers; the first position is a question
    segments = jnp.array([[1, 1, 1, 1, 2, 2]])
    said = jnp.array([[6, 1, 2, 0, 4, 5]])  # the second answer is wrong
    batch = Batch(targets, targets, jnp.ones((1, 6)), answer, segments)
    found = accuracy_shares(jax.nn.one_hot(said, 7), batch, Classes(7, None))
    shares = {name: (float(s.total[0]), float(s.weight[0])) for name, s in found.items()}
    assert shares == {"accuracy": (2, 3), "token-accuracy": (4, 5), "document-accuracy": (1, 2)}


@pytest.mark.slow
def test_pieces_of_a_batch_count_by_their_weight():
    """A piece with more weighted tokens counts more: the same as the whole batch at once."""
    spec = Spec.parse(COPY)
    net = made(spec.model, spec.task.inputs, spec.task.outputs)
    rng = np.random.default_rng(0)
    inputs = jnp.asarray(rng.integers(0, 4, (12, 8)), jnp.int32)
    whole = Batch(inputs, inputs, jnp.asarray(rng.integers(0, 2, (12, 8)), jnp.float32))
    take = lambda i: jax.tree.map(lambda x: jax.lax.dynamic_slice_in_dim(x, 4 * i, 4), whole)
    a, b = jax.jit(lambda net: (loss_and_grad(spec, net, whole), loss_and_grad(spec, net, Pieces(3, take))))(net)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)
    nothing = jax.jit(lambda net: loss_and_grad(spec, net, included(whole, jnp.zeros(12))))(net)
    assert float(nothing.loss) == 0
    assert all(np.all(np.asarray(g) == 0) for g in jax.tree.leaves(nothing.grads))


@pytest.mark.slow
def test_a_packed_text_task_learns_and_is_tested_on_what_it_never_saw():
    """Rows of training are packed and padded; test questions are shorter, on pairs that training never draws."""
    spec = Spec.parse(COPY)
    last = list(engine([Member(spec, s) for s in range(2)]).run())[-1].metrics
    assert {"test/accuracy", "test/token-accuracy", "test/document-accuracy", "test/loss"} <= set(last)
    assert (last["test/token-accuracy"] > 0.9).all()
    assert (last["test/token-accuracy"] >= last["test/accuracy"]).all()


def test_gradients_are_clipped_by_their_global_norm():
    params = {"a": jnp.zeros(2), "b": jnp.zeros(1)}
    grads = {"a": jnp.array([3.0, 0.0]), "b": jnp.array([4.0])}
    for clip, norm in ((None, 5.0), (1.0, 1.0), (10.0, 5.0)):
        optimizer = SGD(lr=1.0, clip=clip).build(10)
        updates, _ = optimizer.update(grads, optimizer.init(params), params)
        assert float(optax.tree.norm(updates)) == pytest.approx(norm, rel=1e-6)
    assert SGD(lr=1.0).content_hash() == SGD(lr=1.0, clip=None).content_hash()
