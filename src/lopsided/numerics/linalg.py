"""Decompositions of matrices, one at a time under `vmap`.

Batches of them wait for ever on the CPU where two devices compute at once: JAX 0.10.2 spreads the matrices of a batch
over the threads that the devices themselves wait in (12 Cholesky decompositions of 256 x 256, 12 solves of 64 x 64).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.custom_batching import sequential_vmap
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array


@sequential_vmap
def whitening(covariance: Array) -> Array:
    """L^-1 (D, D) for a covariance (D, D) = L L^T with L lower triangular: x -> L^-1 x has the covariance I."""
    factor = jnp.linalg.cholesky(covariance)
    return solve_triangular(factor, jnp.eye(len(covariance), dtype=covariance.dtype), lower=True)


@sequential_vmap
def orthonormal(columns: Array) -> Array:
    """An orthonormal basis (P, n) of the space that the n columns (P, n) span, one basis vector a column."""
    return jnp.linalg.qr(columns)[0]


@sequential_vmap
def eigenvectors(symmetric: Array) -> tuple[Array, Array]:
    """Eigenvalues (n,) of a symmetric matrix (n, n), smallest first, and the eigenvectors as columns (n, n)."""
    return jnp.linalg.eigh(symmetric)


@sequential_vmap
def solve(matrix: Array, right: Array) -> Array:
    """Solve matrix @ X = right for X (n, k), where matrix is (n, n) and right is (n, k)."""
    return jnp.linalg.solve(matrix, right)
