"""When features of strength a_i and frequency p_i are learned, if a sample shows one of them (none of it in a paper).

With two copies the product model answers q_i = w_i^2, and gradient flow on E (q_i - a_i)^2 / 2 is a logistic equation
for each feature, apart from all others:

    dq_i/dt = 4 p_i (a_i - q_i) q_i,      q_i(t) = a_i / (1 + (a_i / q_i(0) - 1) exp(-4 p_i a_i t)),

so that feature i is half learned at T_i = log(a_i / q_i(0) - 1) / (4 p_i a_i). Only the product p_i a_i matters for
*when*; only a_i for *how much*. With p ∝ i^-alpha and a ∝ i^-beta, T_i ∝ i^(alpha + beta) up to logarithms, and the
loss on uniform features falls as

    L(t) ~ sum_{i: T_i > t} a_i^2 ~ t^((1 - 2 beta) / (alpha + beta)),      beta > 1/2.

alpha = 0 is paper B's law (1 - 2 beta) / beta. A power law of frequencies pays off only for a while: feature i has the
frequency i^-alpha / H against 1 / d under uniform ones, which is more exactly for i < (d / H)^(1/alpha), H = sum_i
i^-alpha; for alpha = 1 about i < d / log d.
"""

from __future__ import annotations

import numpy as np


def strengths(d: int, beta: float) -> np.ndarray:
    """(d,) a_i ∝ i^-beta, squares adding up to 1."""
    found = np.arange(1.0, d + 1) ** -beta
    return found / np.sqrt((found**2).sum())


def frequencies(d: int, alpha: float) -> np.ndarray:
    """(d,) p_i ∝ i^-alpha, adding up to 1."""
    found = np.arange(1.0, d + 1) ** -alpha
    return found / found.sum()


def answers(t: np.ndarray, strength: np.ndarray, frequency: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(T, d) q_i(t) of the flow from q_i(0) = `start` (d,) > 0."""
    grown = np.exp(-4 * frequency * strength * np.asarray(t, float)[:, None])
    return strength / (1 + (strength / start - 1) * grown)


def half_time(strength: np.ndarray, frequency: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(d,) T_i; NaN for a feature that begins above half of its strength."""
    ratio = strength / start - 1
    return np.where(ratio > 1, np.log(np.maximum(ratio, 1)), np.nan) / (4 * frequency * strength)


def uniform_loss(answer: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """(T,) expected loss on uniform features."""
    return 0.5 * ((answer - strength) ** 2).mean(-1)


def time_exponent(alpha: float, beta: float) -> float:
    """(1 - 2 beta) / (alpha + beta)."""
    return (1 - 2 * beta) / (alpha + beta)


def pays_until(d: int, alpha: float) -> float:
    """The feature up to which p_i ∝ i^-alpha shows features more often than uniform sampling does."""
    return float((d / (np.arange(1.0, d + 1) ** -alpha).sum()) ** (1 / alpha))
