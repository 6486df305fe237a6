"""k-composition with the product model: population loss, gradient, Hessian and bounds (paper A, section 3).

Without loss of generality the hidden signs are folded into the weights, u = w * w*. With

    A = sum_i p_i u_i,    B = sum_i p_i u_i^2,    D = diag(p):

    L     = (B^k - 2 A^k + 1) / 2
    dL_i  = k p_i (B^{k-1} u_i - A^{k-1})
    H     = k B^{k-1} D + 2 k (k-1) B^{k-2} (D u)(D u)^T - k (k-1) A^{k-2} p p^T

k is even, so u and -u are the same function. The bounds of the appendix hold on trajectories that start well
(`starts_well`, the event of lemmas 3 and 4) with A(0) > 0 and take the stable step; the tests check each of them there.
"""

from __future__ import annotations

import numpy as np
import scipy


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


def initial_similarity(p: np.ndarray, r: float) -> float:
    """Standard deviation r ‖p‖₂ of A(0), which is Gaussian with mean 0 (lemma 3)."""
    return r * float(np.linalg.norm(p))


def initial_norm(p: np.ndarray, r: float) -> tuple[float, float]:
    """Mean r² and standard deviation sqrt(2) r² ‖p‖₂ of B(0) (lemma 4 bounds the deviation by a multiple of it)."""
    return r**2, 2**0.5 * r**2 * float(np.linalg.norm(p))


def starts_well(u: np.ndarray, p: np.ndarray) -> bool:
    """|A(0)| >= B(0), which gives L(0) <= (1 - A(0)^k) / 2."""
    a, b = moments(u, p)
    return abs(a) >= b


def smallest_similarity(a_0: float, k: int) -> float:
    """Lower bound 2^{-1/k} |A(0)| of |A(t)|, because the loss never rises."""
    return 2 ** (-1 / k) * abs(a_0)


def polyak_lojasiewicz_bound(u: np.ndarray, p: np.ndarray, k: int) -> float:
    """Lower bound 2 k p_min A^{2k-2} L of ‖dL‖² (lemma 5); for every u, by Cauchy-Schwarz."""
    a, _ = moments(u, p)
    return 2 * k * float(p.min()) * a ** (2 * k - 2) * loss(u, p, k)


def gradient_bound(u: np.ndarray, p: np.ndarray, k: int) -> float:
    """Upper bound 2 k² B^{k-1} L of ‖dL‖² (in the proof of lemma 8)."""
    return 2 * k**2 * moments(u, p)[1] ** (k - 1) * loss(u, p, k)


def hessian_bound(u: np.ndarray, p: np.ndarray, k: int) -> float:
    """Upper bound 2 k (2k-1) p_max |A|^{k-1} + k (k-1) ‖p‖² |A|^{k-2} of ‖H‖ where B^k <= 2 |A|^k.

    The exponent k - 1 of the first term holds only where |A| <= 1: B^{k-1} <= 2^{1-1/k} |A|^{k-1}, which the appendix
    rounds up to 2. For the constant that is printed after it see `printed_hessian_bound`.
    """
    a = abs(moments(u, p)[0])
    return 2 * k * (2 * k - 1) * float(p.max()) * a ** (k - 1) + k * (k - 1) * float(p @ p) * a ** (k - 2)


def printed_hessian_bound(p: np.ndarray, k: int) -> float:
    """3 k² ‖p‖₂, which the appendix gives for all u with B^k <= 2 |A|^k. It does not hold there (`LOG.md` has a
    counterexample) but did on every trajectory tried."""
    return 3 * k**2 * float(np.linalg.norm(p))


def stable_step(p: np.ndarray, k: int) -> float:
    """Step size 1 / (10 k² ‖p‖₂) below which gradient descent is stable."""
    return 1.0 / (10 * k**2 * float(np.linalg.norm(p)))


def contraction(a_0: float, p: np.ndarray, k: int, step: float) -> float:
    """Factor 1 - step k p_min |A_min|^{2k-2} / 2 by which each step shrinks the loss at least."""
    return 1 - step * k * float(p.min()) * smallest_similarity(a_0, k) ** (2 * k - 2) / 2


def error_bound(a_0: float, p: np.ndarray, k: int, reached: float) -> float:
    """Upper bound of max_i |u_i - 1| once the loss is `reached` <= 1/8 (lemma 6, with its constants):

    (A - 1)² <= 2 L and B - A² <= 2 L / (k A_min^{2k-2}), whose sum is sum_i p_i (u_i - 1)².
    """
    spread = 2 * reached / (k * smallest_similarity(a_0, k) ** (2 * k - 2))
    return float(np.sqrt((2 * reached + spread) / p.min()))


def largest_weight(a_0: float, k: int) -> float:
    """Upper bound 2 + (|A(0)| / 2)^{-(k-1)/k} of max_i |u_i(t)| (lemma 8)."""
    return 2 + (abs(a_0) / 2) ** (-(k - 1) / k)


def uniform_correlation(w: np.ndarray, other: np.ndarray, k: int) -> float:
    """Correlation (w·w'/d)^k of the labels of two targets under uniform skills."""
    return float(np.dot(w, other) / len(w)) ** k


def csq_tolerance(d: int, k: int, queries: float) -> float:
    """tau² <= (log(d q) / d)^{k/2}: what a correlational learner with q queries needs under uniform skills (theorem 1,
    up to a constant)."""
    return float((np.log(d * queries) / d) ** (k / 2))


def uniform_samples(d: int, k: int, queries: float) -> float:
    """Samples 1 / tau² that the tolerance stands for: d^{k/2} up to logarithms (theorem 1, up to a constant)."""
    return 1 / csq_tolerance(d, k, queries)


def power_law_samples(d: float, alpha: float) -> float:
    """d^{2 alpha}, the samples that gradient descent needs at most under a power law, alpha > 1, up to logarithms
    and a constant (theorem 4 in the appendix; theorem 2 in the main text has other batches)."""
    return float(d ** (2 * alpha))


def escape_time(a_0: float, p: np.ndarray, k: int) -> float:
    """Time at which dA/dt = k ‖p‖² A^{k-1} reaches infinity (k > 2) or e^1 times A(0) (k = 2), from |A(0)|.

    Not in the paper: it keeps only the term that theorem 2's sketch keeps, for all skills. Median over members:
    `median_similarity`.
    """
    rate = k * float(p @ p)
    return 1 / rate if k == 2 else 1 / (rate * (k - 2) * abs(a_0) ** (k - 2))


def median_similarity(p: np.ndarray, r: float) -> float:
    """Median of |A(0)| over members: 0.674 standard deviations."""
    return float(scipy.stats.norm.ppf(0.75)) * initial_similarity(p, r)


def tail_time(p: np.ndarray, k: int, factor: float = 1.0) -> float:
    """factor / (k p_min): with A = B = 1, du_i/dt = k p_i (1 - u_i), so the rarest skill is the last (stage III)."""
    return factor / (k * float(p.min()))
