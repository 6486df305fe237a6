"""k-composition with the product model: population loss, gradient, Hessian and bounds (paper A, section 3).

Without loss of generality the hidden signs are folded into the weights, u = w * w*. With

    A = sum_i p_i u_i,    B = sum_i p_i u_i^2,    D = diag(p):

    L     = (B^k - 2 A^k + 1) / 2
    dL_i  = k p_i (B^{k-1} u_i - A^{k-1})
    H     = k B^{k-1} D + 2 k (k-1) B^{k-2} (D u)(D u)^T - k (k-1) A^{k-2} p p^T
"""

from __future__ import annotations

import numpy as np


def moments(u: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """A and B of weights u (d,) under skill probabilities p (d,)."""
    return float(p @ u), float(p @ u**2)


def loss(u: np.ndarray, p: np.ndarray, k: int) -> float:
    """Population loss L."""
    a, b = moments(u, p)
    return 0.5 * (b**k - 2 * a**k + 1)


def gradient(u: np.ndarray, p: np.ndarray, k: int) -> np.ndarray:
    """dL/du, (d,)."""
    a, b = moments(u, p)
    return k * p * (b ** (k - 1) * u - a ** (k - 1))


def hessian(u: np.ndarray, p: np.ndarray, k: int) -> np.ndarray:
    """d²L/du², (d, d)."""
    a, b = moments(u, p)
    du = p * u
    return (
        k * b ** (k - 1) * np.diag(p)
        + 2 * k * (k - 1) * b ** (k - 2) * np.outer(du, du)
        - k * (k - 1) * a ** (k - 2) * np.outer(p, p)
    )


def polyak_lojasiewicz_bound(u: np.ndarray, p: np.ndarray, k: int) -> float:
    """Lower bound 2 k p_min A^{2k-2} L of ‖dL‖²; stated for the region 0 < A <= 1, B <= 1 of the trajectories."""
    a, _ = moments(u, p)
    return 2 * k * float(p.min()) * a ** (2 * k - 2) * loss(u, p, k)


def stable_step(p: np.ndarray, k: int) -> float:
    """Step size 1 / (10 k² ‖p‖₂) below which gradient descent is stable."""
    return 1.0 / (10 * k**2 * float(np.linalg.norm(p)))


def uniform_correlation(w: np.ndarray, other: np.ndarray, k: int) -> float:
    """Correlation (w·w'/d)^k of the labels of two targets under uniform skills."""
    return float(np.dot(w, other) / len(w)) ** k
