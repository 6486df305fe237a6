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


def heavy_time(d: int, mass: float, k: int, r: float) -> float:
    """Median time of the flow until d weights that begin Gaussian of scale r are within 1/2 of their sign, under a law
    that gives one skill `mass` = s and all others the same; one heavy weight u, and n = d - 1 others.

    All others obey one linear equation, so that each is c(t) + u_i(0) e^{-g(t)}, and A = s u + (1 - s) c,
    B = s u^2 + (1 - s) (c^2 + r^2 e^{-2g}) close the system of u, c and g:

        u' = k s (A^{k-1} - B^{k-1} u),   c' = k p (A^{k-1} - B^{k-1} c),   g' = k p B^{k-1},   p = (1 - s) / n.

    u begins at the median of |u(0)|; the last weight is the one that began farthest on the wrong side, at about
    -r sqrt(2 log n). After the escape of u the rest takes about `tail_time(n, 1 - s, k)`, which grows as d.
    """
    n = d - 1
    p, farthest = (1 - mass) / n, r * np.sqrt(2 * np.log(n))

    def slopes(_: float, state: np.ndarray) -> list[float]:
        u, c, g = state
        a = mass * u + (1 - mass) * c
        b = mass * u**2 + (1 - mass) * (c**2 + (r * np.exp(-g)) ** 2)
        speed, pull = k * np.sign(a) * abs(a) ** (k - 1), k * b ** (k - 1)
        return [mass * (speed - pull * u), p * (speed - pull * c), p * pull]

    def learned(_: float, state: np.ndarray) -> float:
        return min(state[0], state[1] - farthest * np.exp(-state[2])) - 0.5

    learned.terminal = True
    found = solve_ivp(slopes, (0, 1e12), [MEDIAN * r, 0.0, 0.0], "LSODA", events=learned, rtol=1e-6, atol=1e-9)
    return float(found.t_events[0][0]) if len(found.t_events[0]) else np.inf


MEDIAN = 0.6745
"""Median of |x|, x standard normal."""
