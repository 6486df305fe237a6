"""Expected losses of sums of Hermite ridge functions: tensor decomposition in disguise (paper B, equation 4).

Teacher  f*(x) = sum_p a_p sigma*(<e_p, x>),  sigma* = sum_J b*_J h_J,
student  f(x)  = sum_k s_k sigma(<u_k, x>),   sigma  = sum_J b_J h_J,  |u_k| = 1,  x ~ N(0, I_d).

With overlaps c_kp = <u_k, e_p> and G_kl = <u_k, u_l>, orthonormality of the Hermite polynomials gives

    E (f - f*)^2 / 2 = 1/2 sum_J [ b*_J^2 sum_p a_p^2 - 2 b_J b*_J sum_kp a_p s_k c_kp^J + b_J^2 sum_kl s_k s_l G_kl^J ]

exactly. Value and gradient share G and need two matrix products, G = u u' and one more: m^2 d work and m^2 memory.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lopsided.numerics.hermite import Link

Links = tuple[Link, Link]
"""The student's and the teacher's."""


def _products(u: Any, v: Any) -> Any:
    return jnp.matmul(u, v, precision=jax.lax.Precision.HIGHEST)


def _polynomial(terms: tuple[tuple[int, float], ...], x: Any) -> Any:
    """sum_j c_j x^j for (j, c_j) pairs with rising degrees, by Horner's rule over the gaps."""
    total, above = None, 0
    for degree, c in reversed(terms):
        total = c if total is None else total * _power(x, above - degree) + c
        above = degree
    return total * _power(x, above)


def _power(x: Any, n: int) -> Any:
    return jax.lax.integer_pow(x, n) if n else jnp.ones_like(x)


def _value_terms(student: Link, teacher: Link) -> tuple[tuple, tuple]:
    """(degree, coefficient) of the cross term and of the student's own, only degrees that occur."""
    wanted = dict(teacher)
    cross = tuple((j, c * wanted[j]) for j, c in student if j in wanted)
    return cross, tuple((j, c * c) for j, c in student)


def _slope(terms: tuple) -> tuple:
    return tuple((j - 1, j * c) for j, c in terms)


def correlation_loss(
    strengths: Float[Array, " m"], directions: Float[Array, "m d"], weights: Float[Array, " P"], links: Links
) -> Float[Array, ""]:
    """-E f f*; `links` are the student's and the teacher's."""
    cross, _ = _value_terms(*links)
    if not cross:
        return 0.0 * strengths.sum()
    overlaps = directions[:, : weights.shape[0]]
    return -(strengths[:, None] * _polynomial(cross, overlaps) * weights).sum()


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def square_loss(
    strengths: Float[Array, " m"], directions: Float[Array, "m d"], weights: Float[Array, " P"], links: Links
) -> Float[Array, ""]:
    """E (f - f*)^2 / 2; differentiable in strengths and directions (taken as free vectors), not in the teacher."""
    _, own = _value_terms(*links)
    gram = _products(directions, directions.T)
    self_term = strengths @ (_polynomial(own, gram) @ strengths)
    return _total(strengths, directions, weights, links, self_term)


def _total(strengths: Any, directions: Any, weights: Any, links: Links, self_term: Any) -> Any:
    target = sum(c * c for _, c in links[1]) * (weights**2).sum()
    return 0.5 * (target + self_term) + correlation_loss(strengths, directions, weights, links)


def _forward(strengths: Any, directions: Any, weights: Any, links: Links) -> Any:
    cross, own = _value_terms(*links)
    gram = _products(directions, directions.T)
    own_k = _polynomial(own, gram) @ strengths
    # The Gram matrix is symmetric, so both of its sides give the same gradient: one product serves both.
    d_directions = _products(_polynomial(_slope(own), gram) * strengths, directions)
    d_strengths = own_k
    if cross:
        overlaps = directions[:, : weights.shape[0]]
        d_strengths = d_strengths - (_polynomial(cross, overlaps) * weights).sum(1)
        d_directions = d_directions.at[:, : weights.shape[0]].add(-_polynomial(_slope(cross), overlaps) * weights)
    value = _total(strengths, directions, weights, links, strengths @ own_k)
    return value, (d_strengths, strengths[:, None] * d_directions, weights)


def _backward(links: Links, saved: Any, cotangent: Any) -> Any:
    d_strengths, d_directions, weights = saved
    return cotangent * d_strengths, cotangent * d_directions, jnp.zeros_like(weights)


square_loss.defvjp(_forward, _backward)
