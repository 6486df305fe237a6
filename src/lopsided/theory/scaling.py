"""Exponents of the loss against time, width, samples and compute for weights a_p ∝ p^-beta, beta > 1/2 (paper B).

    L(m, t) ~ m^(1-2 beta)  ∨  (eta t d^(1-J/2))^((1-2 beta)/beta)                         (proposition 2.2)

The tail of weights that are left when the first p directions are learned is sum_{q>p} q^(-2 beta) ~ p^(1-2 beta), and
direction p is learned at a time ∝ 1 / a_p ∝ p^beta.
"""

from __future__ import annotations

import numpy as np
import scipy


def power_law_weights(directions: int, beta: float) -> np.ndarray:
    """(P,) weights p^-beta, squares adding up to 1."""
    weights = np.arange(1.0, directions + 1.0) ** -beta
    return weights / np.sqrt((weights**2).sum())


def time_exponent(beta: float) -> float:
    """Slope of log loss against log time: (1 - 2 beta) / beta."""
    return (1 - 2 * beta) / beta


def width_exponent(beta: float) -> float:
    """Slope of the log plateau against log width: 1 - 2 beta."""
    return 1 - 2 * beta


def unstable_exponent(beta: float) -> float:
    """Slope of log loss against log samples where the step size is tuned to the horizon: -(2 beta - 1) / (2 beta).

    With n samples only the p* ~ n^(1 / (2 beta)) largest directions can be told from the noise of a step (cor. 2.3).
    """
    return -(2 * beta - 1) / (2 * beta)


def frontier_exponent(beta: float) -> float:
    """Slope of the compute-optimal log loss against log compute C = m t: (1 - 2 beta) / (1 + beta).

    At the optimum width and time bind together: m^(1-2 beta) = t^((1-2 beta)/beta), so t = m^beta and C = m^(1+beta).
    """
    return (1 - 2 * beta) / (1 + beta)


def tail(weights: np.ndarray) -> np.ndarray:
    """(P + 1,) loss 1/2 sum_{q > p} a_q² once the first p directions are learned, p = 0, ..., P."""
    return 0.5 * np.append(np.cumsum((weights**2)[::-1])[::-1], 0.0)


def beyond(directions: int, beta: float) -> float:
    """What the directions p > P = `directions` of an infinite teacher would add to the loss while none of them is
    learned: 1/2 sum_{p > P} a_p². The first P have the weights of `power_law_weights`."""
    first = power_law_weights(directions, beta)[0]
    return float(0.5 * first**2 * scipy.special.zeta(2 * beta, directions + 1))


def finite_width_exponent(beta: float, directions: int, widths: np.ndarray) -> float:
    """Slope of the log tail against log width over `widths`, for a teacher of finitely many directions.

    The fewer the directions, the steeper; with very many it is (1 - 2 beta) m / (m + 1/2), a little shallower than the
    limit of large widths.
    """
    left = tail(power_law_weights(directions, beta))[widths.astype(int)]
    return float(np.polyfit(np.log(widths), np.log(left), 1)[0])


def frontier(compute: np.ndarray, loss: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Lowest loss that any of W curves reached by each compute in `grid` (inf before the first point).

    `compute` (W, T) rising along T, `loss` (W, T).
    """
    best = np.full(len(grid), np.inf)
    for c, values in zip(compute, np.minimum.accumulate(loss, axis=1), strict=True):
        reached = np.searchsorted(c, grid, side="right") - 1
        best = np.where(reached >= 0, np.minimum(best, values[np.maximum(reached, 0)]), best)
    return best
