import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.batch import Sample
from lopsided.optim.losses import correct, losses
from lopsided.optim.optimizers import SGD, AdamW

NUMBERS = Sample(None, jnp.array([1.0, -1.0, 1.0]), jnp.ones(3), None)
F = jnp.array([0.5, 2.0, -3.0])


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("square", lambda f, y: (f - y) ** 2 / 2),
        ("logistic", lambda f, y: np.log1p(np.exp(-y * f))),
        ("correlation", lambda f, y: -y * f),
    ],
)
def test_number_losses(name, formula):
    np.testing.assert_allclose(losses(name, F, NUMBERS), formula(np.asarray(F), np.asarray(NUMBERS.targets)), rtol=1e-6)


def test_cross_entropy_ignores_masked_positions():
    logits = jax.random.normal(jax.random.key(0), (2, 3, 5))
    batch = Sample(None, jnp.array([[0, 1, 2], [3, 4, 0]]), jnp.array([[1.0, 0, 1], [1, 1, 1]]), None)
    p = jax.nn.log_softmax(logits)
    expected = [-(p[0, 0, 0] + p[0, 2, 2]) / 2, -(p[1, 0, 3] + p[1, 1, 4] + p[1, 2, 0]) / 3]
    np.testing.assert_allclose(losses("cross-entropy", logits, batch), expected, rtol=1e-5)


def test_correct_needs_every_position():
    targets = jnp.array([[0, 1], [0, 1], [0, 1]])
    logits = jax.nn.one_hot(jnp.array([[0, 1], [0, 2], [0, 2]]), 3)
    mask = jnp.array([[1.0, 1], [1, 1], [1, 0]])
    assert correct(logits, Sample(None, targets, mask, None)).tolist() == [1, 0, 1]
    assert correct(F, NUMBERS).tolist() == [1, 0, 0]


def test_schedule():
    rate = SGD(lr=2.0, schedule="cosine", warmup=10, floor=0.1).rate(100)
    assert float(rate(0)) == pytest.approx(0.2)
    assert float(rate(100)) == pytest.approx(0.2)
    assert float(rate(50)) == pytest.approx(2 * 0.55)
    assert float(SGD(lr=2.0).rate(100)(99)) == 2.0


def test_adamw_first_step_is_the_learning_rate():
    """Adam's first update has size lr whatever the gradient; the decoupled decay adds lr * decay * weight."""
    opt = AdamW(lr=0.1, weight_decay=0.5).build(10)
    w = jnp.array([1.0, -2.0])
    update, _ = opt.update(jnp.array([3.0, -0.01]), opt.init(w), w)
    np.testing.assert_allclose(update, [-0.1 - 0.05, 0.1 + 0.1], rtol=1e-4)
