"""How much of the law belongs to what is learned, and how fast the rest is learned then (the product model).

Let n skills be learned no better than by guessing (u = 0), all others perfectly (u = 1), and let the law give the first
the mass s, each s / n. Then A = B = 1 - s (`k_composition` defines both), and the gradient of an unlearned weight is

    du_i/dt = k p_i (A^{k-1} - B^{k-1} u_i) = k (s / n) (1 - s)^{k-1} (1 - u_i),

because all other k - 1 skills of a sample have to be learned for it to teach the one that is not. The speed
s (1 - s)^{k-1} is largest at s = 1/k. There, a sample is answered with probability (1 - s)^k = (1 - 1/k)^k, which is
1/4 for k = 2 and tends to 1/e: a law that keeps one accuracy near those is close to the best one, whatever k is.

None of this is in a paper. That the unlearned weights stand still at 0, and that A is not moved by what they learn, are
simplifications; `tests/theory/test_annealing.py` compares the times with the exact flow.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.stats import norm


def best_share(k: int) -> float:
    """The mass 1/k of the unlearned skills that is learned fastest."""
    return 1 / k


def kept_accuracy(k: int) -> float:
    """(1 - 1/k)^k, the accuracy at which that share leaves the member."""
    return (1 - best_share(k)) ** k


def tail_speed(share: float, k: int) -> float:
    """k s (1 - s)^{k-1}: du/dt of unlearned weights at 0, times their number."""
    return k * share * (1 - share) ** (k - 1)


def tail_time(unlearned: int, share: float, k: int) -> float:
    """n log 2 / (k s (1 - s)^{k-1}): time until n unlearned weights are 1/2. It grows as n, under every k."""
    return unlearned * float(np.log(2)) / tail_speed(share, k)


def heavy_time(d: int, mass: float, k: int, r: float, heavy: int = 1) -> float:
    """Median time of the flow until d weights that begin Gaussian of scale r are within 1/2 of their sign, under a law
    that gives `heavy` of them `mass` = s together, each the same, and all others the rest.

    The weights of a level obey one linear equation, so that each of them is c(t) + (u_i(0) - c(0)) e^{-g(t)}, and
    A = sum s_j c_j, B = sum s_j (c_j^2 + v_j e^{-2 g_j}) over both levels j (n_j weights, mass s_j) close the system:

        c_j' = k (s_j / n_j) (A^{k-1} - B^{k-1} c_j),   g_j' = k (s_j / n_j) B^{k-1},   v_j = r^2 (1 - 1/n_j).

    A begins at the median of |A(0)|, and each c_j at its mean given that A. The last weight of a level is the one that
    began farthest on the wrong side, at the median of the largest of n_j deviations. After the escape of the heavy
    level the rest takes about `tail_time(d - heavy, 1 - s, k)`, which grows as d.

    Measured against the exact flow, one heavy skill: within 2 % for k = 2, 7 % too short for k = 4, and for k = 6 14 %
    (d = 256) to 25 % (d = 32) too short. More heavy skills first have to escape themselves, as under a uniform law:
    where that takes most of the time (k = 4 from eight on, k = 6 from four on) starts differ by orders of magnitude,
    and no formula for a median start says much.
    """
    numbers, masses = np.array([heavy, d - heavy]), np.array([mass, 1 - mass])
    shares = masses / numbers  # of one weight
    spread = r * np.sqrt(1 - 1 / numbers)
    farthest = spread * norm.ppf(0.5 ** (1 / numbers))
    # Given A, the mean weight of a level is its covariance with A over A's variance, times A.
    begin = MEDIAN * r * shares / np.sqrt((masses * shares).sum())

    def slopes(_: float, state: np.ndarray) -> np.ndarray:
        c, g = np.split(state, 2)
        a = masses @ c
        b = masses @ (c**2 + (spread * np.exp(-g)) ** 2)
        speed, pull = k * np.sign(a) * abs(a) ** (k - 1), k * b ** (k - 1)
        return np.concatenate([shares * (speed - pull * c), shares * pull])

    def learned(_: float, state: np.ndarray) -> float:
        c, g = np.split(state, 2)
        return float((c - farthest * np.exp(-g)).min()) - 0.5

    learned.terminal = True
    start = np.concatenate([begin, np.zeros(2)])
    found = solve_ivp(slopes, (0, 1e12), start, "LSODA", events=learned, rtol=1e-6, atol=1e-9)
    return float(found.t_events[0][0]) if len(found.t_events[0]) else np.inf


MEDIAN = float(norm.ppf(0.75))
"""Median of |x|, x standard normal."""
