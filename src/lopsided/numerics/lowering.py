"""Choices that hold while a program is traced and are no arguments of its functions: how matrix products are rounded,
whether layers are computed again in the backward pass, and whether they are written out one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Array

from lopsided.numerics.stack import Stack


class Lowering(NamedTuple):
    """Current lowering options."""

    products: Literal["float32", "bfloat16"] = "float32"
    rematerialise: bool = False
    unrolled: bool = False


_DEFAULT = Lowering()
_IN_FORCE: ContextVar[Lowering] = ContextVar("lowering", default=_DEFAULT)


@contextmanager
def lowering(
    products: Literal["float32", "bfloat16"] = "float32", rematerialise: bool = False, unrolled: bool = False
) -> Iterator[None]:
    """What is traced inside the block is lowered that way."""
    token = _IN_FORCE.set(Lowering(products, rematerialise, unrolled))
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def layer(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a layer's function in `jax.checkpoint` if `rematerialise` is on."""
    return jax.checkpoint(function) if _IN_FORCE.get().rematerialise else function


_SPREAD: ContextVar[Any] = ContextVar("spread", default=None)


@contextmanager
def spread_over(sharding: Any) -> Iterator[None]:
    """Constrain batches that are traced inside the block to `sharding`; XLA propagates it to what is made of them."""
    token = _SPREAD.set(sharding)
    try:
        yield
    finally:
        _SPREAD.reset(token)


def spread(places: Array) -> Array:
    """Places of a batch (B,), over the devices that are in force."""
    sharding = _SPREAD.get()
    return places if sharding is None else jax.lax.with_sharding_constraint(places, sharding)


def gathered(weights: Any) -> Any:
    """Weights that lie over devices, whole on each of them, for as long as they are used; their gradients go back to
    where the weights lie. (Left to itself the compiler may part a product over its inner axis, and add up activations
    over devices: several times as much traffic.) Stacked layers are left: `through_layers` gathers one after the other.
    """
    sharding = _SPREAD.get()
    if sharding is None:
        return weights
    whole = NamedSharding(sharding.mesh, PartitionSpec())

    def gather(x: Any) -> Any:
        return x if isinstance(x, Stack) else jax.lax.with_sharding_constraint(x, whole)

    return jax.tree.map(gather, weights, is_leaf=lambda x: isinstance(x, Stack))


def through_layers(function: Callable[[Any, Any], Any], h: Any, layers: Any) -> Any:
    """`function(h, layer)` through stacked layers. Compiled once for all of them, or, unrolled, once for each: XLA
    counts the operations of a loop's body once."""
    unroll = _IN_FORCE.get().unrolled
    return jax.lax.scan(lambda h, one: (function(h, gathered(one)), None), h, layers, unroll=unroll)[0]


def product(a: Array, b: Array) -> Array:
    """a @ b. With bfloat16 products the factors, also those of gradients, are rounded to bfloat16; sums are float32."""
    return _rounded_matmul(a, b) if _IN_FORCE.get().products == "bfloat16" else a @ b


def einsum(subscripts: str, a: Array, b: Array) -> Array:
    """`jnp.einsum` of two factors in whose subscripts every letter occurs at least twice, rounded like `product`."""
    rounded = _IN_FORCE.get().products == "bfloat16"
    return _rounded_einsum(subscripts, a, b) if rounded else jnp.einsum(subscripts, a, b)


@jax.custom_vjp
def matmul(x: Array, w: Array) -> Array:
    """x @ w for x (*b, i), w (i, o), rounded like `product`. The gradient of w is x^T g, written in the way that
    costs a CPU least, see `_contract`. (JAX's own rule transposes the result of a product over rows.)"""
    return _dot(x, w)


def _matmul_forward(x: Array, w: Array) -> tuple[Array, tuple[Array, Array]]:
    return _dot(x, w), (x, w)


def _matmul_backward(kept: tuple[Array, Array], g: Array) -> tuple[Array, Array]:
    x, w = kept
    rows, g_rows = x.reshape(-1, x.shape[-1]), g.reshape(-1, g.shape[-1])
    return _dot(g, w.T), _contract(rows, g_rows)


matmul.defvjp(_matmul_forward, _matmul_backward)


def _dot(a: Array, b: Array) -> Array:
    if _IN_FORCE.get().products == "float32":
        return jnp.matmul(a, b)
    return jnp.matmul(_round(a), _round(b), preferred_element_type=jnp.float32)


def _contract(rows: Array, g: Array) -> Array:
    """rows^T g. From copies where there are at least as many inputs as outputs; with more outputs the copy of what they
    get costs as much as it saves, as it does for a single one."""
    if _IN_FORCE.get().products == "bfloat16":
        return _over_rows(_round(rows), _round(g), jnp.float32)
    if rows.shape[1] < g.shape[1] or g.shape[1] == 1:
        return _over_rows(rows, g)
    return jax.lax.platform_dependent(rows, g, cpu=_transposed, default=_over_rows)


def _over_rows(rows: Array, g: Array, sums_in: Any = None) -> Array:
    return jax.lax.dot_general(rows, g, (((0,), (0,)), ((), ())), preferred_element_type=sums_in)


def _transposed(rows: Array, g: Array) -> Array:
    """(g^T rows)^T, from a copy of g^T, which is the smaller one: on a CPU a product over the rows of both runs at 0.4
    to 0.7 of that speed. The barriers keep the compiler from folding the transpositions into it."""
    return jax.lax.optimization_barrier(jax.lax.optimization_barrier(g.T) @ rows).T


def _round(x: Array) -> Array:
    return x.astype(jnp.bfloat16)


def _rounded_matmul(a: Array, b: Array) -> Array:
    letters = "zyxwv"[: a.ndim - 1] + "i"
    return _rounded_einsum(
        f"{letters},{'io' if b.ndim == 2 else 'i'}->{letters[:-1]}{'o' if b.ndim == 2 else ''}", a, b
    )


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _rounded_einsum(subscripts: str, a: Array, b: Array) -> Array:
    return jnp.einsum(subscripts, _round(a), _round(b), preferred_element_type=jnp.float32)


def _einsum_forward(subscripts: str, a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
    return _rounded_einsum(subscripts, a, b), (a, b)


def _einsum_backward(subscripts: str, kept: tuple[Array, Array], g: Array) -> tuple[Array, Array]:
    (of_a, of_b), to = subscripts.partition("->")[0].split(","), subscripts.partition("->")[2]
    a, b = kept
    return _rounded_einsum(f"{to},{of_b}->{of_a}", g, b), _rounded_einsum(f"{of_a},{to}->{of_b}", a, g)


_rounded_einsum.defvjp(_einsum_forward, _einsum_backward)
