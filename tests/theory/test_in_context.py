"""The reference curve of in-context regression, against least squares done on the task's own samples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.keys import stream
from lopsided.core.task import SampleContext
from lopsided.tasks.icl_regression import ICLRegression
from lopsided.theory.in_context import examples_worth, least_squares_loss


@pytest.mark.parametrize(
    ("dimension", "examples"),
    [(4, 0), (4, 4), (2, 1), *(pytest.param(4, n, marks=pytest.mark.slow) for n in (2, 3, 15))],
)
def test_least_squares_on_few_examples_costs_what_theory_says(dimension, examples):
    task = ICLRegression(dimension=dimension, examples=max(examples, 1))
    draw = jax.jit(jax.vmap(lambda i: task.sample(stream(1, "train"), i, SampleContext())))
    batch = jax.device_get(draw(jnp.arange(4000, dtype=jnp.uint32)))
    if examples:
        answers = np.array([task.oracle(x, None) for x in batch.inputs])
    else:
        answers = np.zeros(4000)
    loss = 0.5 * np.square(answers - batch.targets)
    expected = float(least_squares_loss(dimension, examples))
    assert loss.mean() == pytest.approx(expected, abs=1e-6 + 5 * loss.std() / 4000**0.5)
    assert float(examples_worth(dimension, expected)) == min(examples, dimension)
