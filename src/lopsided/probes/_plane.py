"""A plane through parameter space along which a training run moved, and coordinates on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from lopsided.core.groups import is_stacked
from lopsided.numerics import linalg

From = Literal["differences", "to-final", "parameters"]


class Plane(NamedTuple):
    """Points origin + x directions[0] + y directions[1]; the origin is the start of training."""

    origin: Float[Array, " P"]
    directions: Float[Array, "2 P"]
    explained: Float[Array, " 2"]
    """Share of the sum of squares of what the plane was computed from, along either direction."""

    def coordinates(self, points: Float[Array, "N P"]) -> Float[Array, "N 2"]:
        """The nearest points of the plane."""
        gram = self.directions @ self.directions.T
        return linalg.solve(gram, self.directions @ (points - self.origin).T).T

    def points(self, coordinates: Float[Array, "N 2"]) -> Float[Array, "N P"]:
        return self.origin + coordinates @ self.directions


def principal_plane(
    checkpoints: Float[Array, "C P"], source: From, filters: bool, unflatten: Callable[[Array], Any]
) -> Plane:
    """The top two principal directions of

    `differences`  differences of consecutive checkpoints (their squares, not their deviations from their mean: the mean
                   is the way that training went)
    `to-final`     differences from the last checkpoint, as in Li et al. (2018)
    `parameters`   the checkpoints' deviations from their mean

    A direction's sign is chosen so that training ends on its positive side. `filters` scales every column of every
    matrix of a direction to the norm of that column at the end of training, and drops what is no matrix (Li et al.).
    """
    rows = {
        "differences": lambda: jnp.diff(checkpoints, axis=0),
        "to-final": lambda: checkpoints[:-1] - checkpoints[-1],
        "parameters": lambda: checkpoints - checkpoints.mean(0),
    }[source]()
    # Checkpoints are few and parameters many: the small Gram matrix has the same eigenvalues.
    squares, vectors = linalg.eigenvectors(rows @ rows.T)
    squares = jnp.maximum(squares, 0.0)
    directions = vectors[:, -2:].T[::-1] @ rows
    directions /= jnp.maximum(jnp.linalg.norm(directions, axis=1, keepdims=True), 1e-30)
    forward = directions @ (checkpoints[-1] - checkpoints[0])
    directions *= jnp.where(forward < 0, -1.0, 1.0)[:, None]
    if filters:
        directions = jax.vmap(lambda d: _filtered(d, checkpoints[-1], unflatten))(directions)
    return Plane(checkpoints[0], directions, squares[::-1][:2] / jnp.maximum(squares.sum(), 1e-30))


def _filtered(direction: Array, final: Array, unflatten: Callable[[Array], Any]) -> Array:
    def scale(path: Any, d: Array, w: Array) -> Array:
        if d.ndim - is_stacked(path) < 2:
            return jnp.zeros_like(d)
        norm = lambda x: jnp.linalg.norm(x, axis=-2, keepdims=True)
        return d * norm(w) / jnp.maximum(norm(d), 1e-12)

    return ravel_pytree(jax.tree_util.tree_map_with_path(scale, unflatten(direction), unflatten(final)))[0]
