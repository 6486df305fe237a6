"""Two-phase training of one quadratic neuron on 2-sparse parity (paper C, theorem 1, corollary 2, appendix A).

f(x) = a (w.x)² / 2 - 1, correlation loss, y = x_1 x_2. With M^ = mean of y x x^T over N samples and q = w^T M^ w,

    a <- clip(a + eta q / 2, -1, 1),    w <- (w + eta a M^ w) / |w + eta a M^ w|,

until |a| >= a*; then with the population's M = e1 e2^T + e2 e1^T until |w - w*|² <= epsilon for the nearest minimiser
w* = (+-e1 +- e2) / sqrt(2). Small N helps because q is of order 1/sqrt(N), against 1/d in the population.
"""

from __future__ import annotations

from math import erf, log, sqrt

import numpy as np

PHASE_1_EXPONENT = 0.5
"""Slope of log T_1 against log N at fixed a*: T_1 <= 2 (a* - |a_0|) sqrt(N) / (eta c_0)."""
TOTAL_EXPONENT = 0.25
"""Slope of log (T_1 + T_2) against log (N d) with the best a*, up to logarithms."""
DIRECT_EXPONENT = 0.5
"""Slope of log T against log m when the population is used from the start (|a_0| ~ 1/sqrt(m))."""
RANDOM_TOTAL_EXPONENT = 0.5
"""Slope of log (T_1 + T_2) against log d, phase 1 on random labels, N <= d²: sqrt(N / d) + sqrt(d) log(d / epsilon)."""


def norm_bound(size: int, d: int, delta: float) -> float:
    """B: |M^| <= C B with probability 1 - delta for random labels, B = sqrt(d l / N) + d l / N, l = log(2 d / delta).

    With true labels the population's norm, 1, comes on top (lemma 5, C = 1).
    """
    rate = d * log(2 * d / delta) / size
    return sqrt(rate) + rate


def best_a_star(size: int, d: int, c: float = 1.0) -> float:
    """a* = min(1, c (N d)^(-1/4)): the order of the best switch in theorem 1, without its logarithm."""
    return min(1.0, c * (size * d) ** -0.25)


def random_a_star(d: int, c: float = 1.0) -> float:
    """a* = min(1, c / sqrt(d)): the same where phase 1 has random labels (corollary 2)."""
    return min(1.0, c * d**-0.5)


def phase_1_bound(a_star: float, a_0: np.ndarray, size: int, eta: float, c_0: float) -> np.ndarray:
    """Most steps that phase 1 takes on the good event: ceil(2 (a* - |a_0|)+ sqrt(N) / (eta c_0)) (theorem 3)."""
    return np.ceil(2 * np.maximum(a_star - np.abs(a_0), 0) * sqrt(size) / (eta * c_0))


def phase_2_bound(a_start: np.ndarray, overlap: np.ndarray, eta: float, epsilon: float) -> np.ndarray:
    """Most steps that the population phase takes from overlap alpha_0 with the direction that sign(a) asks for (lemma
    6): ceil(2 / (eta |a|) log(1 / (alpha_0² epsilon)))."""
    return np.ceil(2 / (eta * np.abs(a_start)) * np.log(1 / (overlap**2 * epsilon)))


def good_event_bound(c_0: float) -> float:
    """Lower bound on P(sign a_0 = sign q_0, |q_0| >= c_0 / sqrt(N)): half of lemma 1's constant; c_0 < sqrt(3) / 2."""
    if not 0 < c_0 < sqrt(3) / 2:
        raise ValueError(f"c_0 lies in (0, sqrt(3)/2), got {c_0}")
    return 0.5 * (1 - 1 / sqrt(2)) * (1 - 4 / 3 * c_0**2) ** 2 / 3**8


def good_event_gaussian(c_0: float) -> float:
    """Probability of the good event where q_0 sqrt(N) is Gaussian: a sum of N terms y (w.x)² of variance near
    E (w.x)^4 = 3 (w spread over many coordinates), mean near 0 for N << d²."""
    return 0.5 * (1 - erf(c_0 / sqrt(3) / sqrt(2)))
