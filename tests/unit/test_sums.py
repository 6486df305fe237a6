"""Sums, norms and weight gradients written for short axes: they compute what JAX's own do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.numerics.lowering import matmul
from lopsided.numerics.sums import normalised, plus_bias, softmax, sum_of_last, sum_of_rows

WIDE = jnp.float32, jnp.float64


def drawn(dtype, *shape):
    return jnp.asarray(np.random.default_rng(len(shape)).standard_normal(shape), dtype)


def plain_norm(centred):
    def norm(x, scale):
        x = x - x.mean(-1, keepdims=True) if centred else x
        return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * scale

    return norm


CASES = {
    "sum_of_last": (sum_of_last, lambda x: x.sum(-1), [(3, 5, 10)]),
    "sum_of_rows": (sum_of_rows, lambda x: x.sum((0, 1)), [(3, 5, 10)]),
    "softmax": (softmax, jax.nn.softmax, [(3, 5, 10)]),
    "plus_bias": (plus_bias, jnp.add, [(3, 5, 10), (10,)]),
    "plus_bias of rows": (plus_bias, jnp.add, [(5, 10), (10,)]),
    "layer norm": (lambda x, s: normalised(x, s, 1e-5, True), plain_norm(True), [(3, 5, 10), (10,)]),
    "rms norm": (lambda x, s: normalised(x, s, 1e-5, False), plain_norm(False), [(3, 5, 10), (10,)]),
    "more inputs than outputs": (matmul, jnp.matmul, [(3, 5, 10), (10, 4)]),
    "fewer inputs than outputs": (matmul, jnp.matmul, [(3, 5, 4), (4, 10)]),
    "one output": (matmul, jnp.matmul, [(15, 10), (10, 1)]),
}


@pytest.mark.parametrize("members", [0, 3])
@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_jax(name, dtype, members):
    """For one member and for several under `vmap`."""
    ours, reference, shapes = CASES[name]
    with jax.enable_x64(dtype == jnp.float64):
        arrays = [drawn(dtype, *([members] if members else []), *shape) for shape in shapes]

        def both(function):
            def loss(*inputs):
                y = function(*inputs)
                return (jnp.sin(y) * jnp.arange(1, y.size + 1, dtype=dtype).reshape(y.shape)).sum(), y

            gradients = jax.grad(loss, argnums=tuple(range(len(arrays))), has_aux=True)
            return jax.jit(jax.vmap(gradients) if members else gradients)(*arrays)

        (gradients, value), (expected_gradients, expected) = both(ours), both(reference)
        assert value.dtype == dtype
        exact = 1e-4 if dtype == jnp.float32 else 1e-12
        for found, wanted in zip([value, *gradients], [expected, *expected_gradients], strict=True):
            np.testing.assert_allclose(found, wanted, rtol=exact, atol=exact * float(jnp.abs(wanted).max()))


def test_a_padded_row_is_not_summed_up():
    """Scores of -inf get no share, and no gradient that is not a number."""
    scores = jnp.array([[1.0, -jnp.inf, 2.0]])
    np.testing.assert_allclose(softmax(scores), jax.nn.softmax(scores))
    assert jnp.isfinite(jax.grad(lambda s: softmax(s)[0, 0])(scores)).all()
