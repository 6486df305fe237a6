import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.batch import Batch
from lopsided.core.shapes import Classes, Scalar
from lopsided.optim.anytime import AnytimeSGD
from lopsided.optim.losses import accuracy_shares, loss_share, mean
from lopsided.optim.optimizers import SGD, AdamW

NUMBERS = Batch(jnp.zeros((3, 1)), jnp.array([1.0, -1.0, 1.0]))
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
    expected = formula(np.asarray(F), np.asarray(NUMBERS.targets))
    np.testing.assert_allclose(loss_share(name, F, NUMBERS).total, expected, rtol=1e-6)


def test_cross_entropy_ignores_masked_positions():
    logits = jax.random.normal(jax.random.key(0), (2, 3, 5))
    batch = Batch(jnp.zeros((2, 3)), jnp.array([[0, 1, 2], [3, 4, 0]]), jnp.array([[1.0, 0, 1], [1, 1, 1]]))
    p = jax.nn.log_softmax(logits)
    share = loss_share("cross-entropy", logits, batch)
    expected = [-(p[0, 0, 0] + p[0, 2, 2]), -(p[1, 0, 3] + p[1, 1, 4] + p[1, 2, 0])]
    np.testing.assert_allclose(share.total, expected, rtol=1e-5)
    assert share.weight.tolist() == [2, 3]
    assert float(mean(share)) == pytest.approx(sum(map(float, expected)) / 5, rel=1e-5)


def test_correct_needs_every_position():
    targets = jnp.array([[0, 1], [0, 1], [0, 1]])
    logits = jax.nn.one_hot(jnp.array([[0, 1], [0, 2], [0, 2]]), 3)
    mask = jnp.array([[1.0, 1], [1, 1], [1, 0]])
    found = accuracy_shares(logits, Batch(targets, targets, mask), Classes(3, (0, 1)))
    assert found["accuracy"].total.tolist() == [1, 0, 1]
    assert accuracy_shares(F, NUMBERS, Scalar(True))["accuracy"].total.tolist() == [1, 0, 0]
    assert accuracy_shares(F, NUMBERS, Scalar(False)) == {}


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


def test_a_step_size_that_falls_for_ever():
    smooth = AnytimeSGD(lr=2.0, hold=100.0, power=0.5).rate()
    assert [round(float(smooth(t)), 4) for t in (0, 100, 300, 9900)] == [2.0, 1.4142, 1.0, 0.2]
    stairs = AnytimeSGD(lr=2.0, hold=100.0, power=0.5, doubling=True).rate()
    assert [round(float(stairs(t)), 4) for t in (0, 99, 101, 299, 301, 9900)] == [2.0, 2.0, 1.4142, 1.4142, 1.0, 0.25]


def test_a_step_size_that_does_not_fall_is_plain():
    grads, w = {"w": jnp.ones(3)}, {"w": jnp.zeros(3)}
    built = AnytimeSGD(lr=0.5, power=0.0).build(10)
    found, _ = built.update(grads, built.init(w), w)
    assert found["w"].tolist() == [-0.5] * 3
