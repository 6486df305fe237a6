"""Sums over short axes, and what a transformer builds from them: biases, softmax, norms, with gradients by hand.

XLA adds up the numbers of a short row one after the other on a CPU, forward and backward, which took a quarter of a
small transformer's step. A product with ones does the same in vectors. Other devices sum as they do best.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array


def plus_bias(x: Array, bias: Array) -> Array:
    """x + bias for x (*b, o), bias (o,). The bias's gradient is `sum_of_rows`, for sequences: where samples are single
    rows XLA merges its own sum with what it sums up."""
    return x + bias if x.ndim <= 2 else _plus_bias(x, bias)


@jax.custom_vjp
def _plus_bias(x: Array, bias: Array) -> Array:
    return x + bias


_plus_bias.defvjp(lambda x, bias: (x + bias, None), lambda _, g: (g, sum_of_rows(g)))


def sum_of_last(x: Array) -> Array:
    """x.sum(-1) for x (*b, i)."""
    return jax.lax.platform_dependent(x, cpu=lambda x: x @ jnp.ones(x.shape[-1], x.dtype), default=lambda x: x.sum(-1))


def sum_of_rows(x: Array) -> Array:
    """The sum of x (*b, o) over all but the last axis: (o,)."""
    rows = x.reshape(-1, x.shape[-1])
    return jax.lax.platform_dependent(rows, cpu=lambda r: jnp.ones(len(r), r.dtype) @ r, default=lambda r: r.sum(0))


@jax.custom_vjp
def softmax(x: Array) -> Array:
    """`jax.nn.softmax` over the last axis: the same values, summed by `sum_of_last`, also in the gradient."""
    return _softmax_forward(x)[0]


def _softmax_forward(x: Array) -> tuple[Array, Array]:
    e = jnp.exp(x - x.max(-1, keepdims=True))
    p = e / sum_of_last(e)[..., None]
    return p, p


def _softmax_backward(p: Array, g: Array) -> tuple[Array]:
    gp = g * p
    return (gp - p * sum_of_last(gp)[..., None],)


softmax.defvjp(_softmax_forward, _softmax_backward)


def normalised(x: Array, scale: Array, eps: float, centred: bool) -> Array:
    """x / sqrt(mean(x^2) + eps) * scale over the last axis, of x less its mean if `centred`."""
    y: Any = _normalised(x, scale, eps, centred)
    return y


@partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _normalised(x: Array, scale: Array, eps: float, centred: bool) -> Array:
    return _normalised_forward(x, scale, eps, centred)[0]


def _normalised_forward(x: Array, scale: Array, eps: float, centred: bool) -> tuple[Array, tuple[Array, ...]]:
    x = x - _mean_of_last(x) if centred else x
    root = jax.lax.rsqrt(_mean_of_last(jnp.square(x)) + eps)
    unit = x * root
    return unit * scale, (unit, root, scale)


def _normalised_backward(eps: float, centred: bool, kept: tuple[Array, ...], g: Array) -> tuple[Array, Array]:
    unit, root, scale = kept
    to_unit = g * scale
    to_x = to_unit - unit * _mean_of_last(to_unit * unit)
    to_x = to_x - _mean_of_last(to_unit) if centred else to_x
    return to_x * root, sum_of_rows(g * unit)


_normalised.defvjp(_normalised_forward, _normalised_backward)


def _mean_of_last(x: Array) -> Array:
    return sum_of_last(x)[..., None] / x.shape[-1]
