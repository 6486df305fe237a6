"""Decompositions of matrices, one at a time under `vmap`.

Batches of them wait for ever on the CPU where two devices compute at once: JAX 0.10.2 spreads the matrices of a batch
over the threads that the devices themselves wait in (12 Cholesky decompositions of 256 x 256, 12 solutions of 64 x 64).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.custom_batching import sequential_vmap
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array


@sequential_vmap
def whitening(covariance: Array) -> Array:
    """L^-1 (D, D) of a covariance L L^T (D, D): what whitens."""
    factor = jnp.linalg.cholesky(covariance)
    return solve_triangular(factor, jnp.eye(len(covariance), dtype=covariance.dtype), lower=True)


@sequential_vmap
def orthonormal(columns: Array) -> Array:
    """(P, n) orthonormal basis of what the columns (P, n) span."""
    return jnp.linalg.qr(columns)[0]


@sequential_vmap
def eigenvectors(symmetric: Array) -> tuple[Array, Array]:
    """Eigenvalues (n,), rising, and eigenvectors (n, n) in columns."""
    return jnp.linalg.eigh(symmetric)


@sequential_vmap
def solve(matrix: Array, right: Array) -> Array:
    """X (n, k) with matrix (n, n) @ X = right (n, k)."""
    return jnp.linalg.solve(matrix, right)
