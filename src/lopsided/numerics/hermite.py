"""Normalised Hermite polynomials and link functions written in them.

h_0 = 1, h_1(z) = z, h_{n+1} = (z h_n - sqrt(n) h_{n-1}) / sqrt(n + 1): orthonormal under N(0, 1), so that for unit
vectors u, w and x ~ N(0, I)

    E[h_i(u.x) h_j(w.x)] = 1{i = j} <u, w>^i.

A link sigma = sum_j c_j h_j is its coefficients c_j = E[sigma(z) h_j(z)]. Its *information exponent* is the lowest
degree above 0 with a coefficient that is not zero (paper B, section 1; Ben Arous, Gheissari and Jagannath 2021).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator

from lopsided.core.errors import InputError

HIGHEST_DEGREE = 16
QUADRATURE_POINTS = 180
"""Gauss-Hermite points: exact to rounding for polynomials; a kinked function such as |z| is good to about 2e-3. (From
about 200 points on, the outer weights leave the range of a float.)"""
SQUARES_TO_ONE = 1e-6
"""Distance from 1 that is allowed, since coefficients are written with a few digits."""
ZERO = 1e-9
"""Coefficients below this are rounding errors of the quadrature of a smooth function."""


def basis(z: Any, degree: int) -> list[Any]:
    """[h_0(z), ..., h_degree(z)], each like `z` (a NumPy or a JAX array)."""
    found = [z * 0 + 1, z]
    for n in range(1, degree):
        found.append((z * found[n] - n**0.5 * found[n - 1]) / (n + 1) ** 0.5)
    return found[: degree + 1]


@cache
def _nodes(points: int) -> tuple[np.ndarray, np.ndarray]:
    z, weight = np.polynomial.hermite_e.hermegauss(points)
    return z, weight / weight.sum()


def expectation(function: Callable[[np.ndarray], np.ndarray], points: int = 120) -> float:
    """E[function(z)] over z ~ N(0, 1) by Gauss-Hermite quadrature: exact for polynomials below degree 2 points."""
    z, weight = _nodes(points)
    return float(weight @ function(z))


def coefficients(
    function: Callable[[np.ndarray], np.ndarray], degree: int, points: int = QUADRATURE_POINTS
) -> np.ndarray:
    """(degree + 1,) coefficients E[function(z) h_j(z)] of any function with a finite second moment."""
    z, weight = _nodes(points)
    return np.array(basis(z, degree)) @ (weight * function(z))


def information_exponent(coefficient: np.ndarray, tolerance: float = ZERO) -> int:
    """Lowest j >= 1 with |coefficient[j]| > tolerance.

    Raises `InputError` if there is none: such a link carries no information about its direction up to that degree.
    """
    found = np.flatnonzero(np.abs(coefficient[1:]) > tolerance)
    if not len(found):
        raise InputError(f"link: no Hermite coefficient of degree 1 to {len(coefficient) - 1} exceeds {tolerance:g}")
    return int(found[0]) + 1


def link_of(function: Callable[[np.ndarray], np.ndarray], degree: int = 10, tolerance: float = 3e-3) -> Link:
    """A link from any callable: its mean is dropped, it is cut after `degree` and scaled to E[sigma^2] = 1.

    Coefficients of at most `tolerance` (what quadrature leaves of a kinked function) count as zero.
    """
    c = coefficients(function, degree)
    information_exponent(c, tolerance)
    c[0] = 0.0
    c[np.abs(c) <= tolerance] = 0.0
    c /= np.linalg.norm(c)
    return tuple((j, float(v)) for j, v in enumerate(c) if v)


def _parse(data: object) -> Link:
    """`"h4"`, `{"4": 0.8, "6": 0.6}` or pairs ((4, 0.8), (6, 0.6)); squares add up to 1."""
    valid = "'h4' or {degree: coefficient} such as {'4': 0.8, '6': 0.6}"
    if isinstance(data, str) and re.fullmatch(r"h[0-9]{1,4}", data):
        data = {data[1:]: 1.0}
    try:
        items: Any = data.items() if isinstance(data, Mapping) else data
        pairs = tuple(sorted((int(j), float(c)) for j, c in items))
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{data!r}: a link is {valid}") from None
    degrees = [j for j, _ in pairs]
    if not pairs or len(set(degrees)) < len(degrees) or not all(1 <= j <= HIGHEST_DEGREE for j in degrees):
        raise InputError(f"{data!r}: a link has distinct degrees from 1 to {HIGHEST_DEGREE}, as in {valid}")
    if not all(np.isfinite(c) and c for _, c in pairs):
        raise InputError(f"{data!r}: coefficients of a link are finite and not zero")
    total = sum(c * c for _, c in pairs)
    if abs(total - 1) > SQUARES_TO_ONE:
        raise InputError(f"{data!r}: squared coefficients of a link add up to 1, here to {total:.6g}")
    return pairs


Link = Annotated[tuple[tuple[int, float], ...], BeforeValidator(_parse)]
"""(degree, coefficient) pairs, degrees rising, squared coefficients adding up to 1."""


def evaluate(link: Link, z: Any) -> Any:
    """sigma(z), like `z` (a NumPy or a JAX array)."""
    h = basis(z, link[-1][0])
    return sum(c * h[j] for j, c in link)


def exponent_of(link: Link) -> int:
    """Information exponent of a link: its lowest degree."""
    return link[0][0]
