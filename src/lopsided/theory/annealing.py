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
