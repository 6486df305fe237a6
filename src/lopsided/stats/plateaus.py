"""Plateaus of loss curves: how long a member rests at a loss that knowing only part of the task gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WITHIN = 0.05
"""Share of an entropy. The levels of S4 and its quotients (log 24, log 6, log 2) lie much further apart."""
FLAT, AHEAD = 0.02, 1 / 8
"""On a plateau the loss falls by less than 2 % in the next eighth of the run. (A loss that goes from log 24 to log 4 in
one run at a constant relative rate falls by about 10 % in an eighth of it.)"""


def plateau_length(
    axis: np.ndarray, loss: np.ndarray, entropies: Sequence[float], within: float = WITHIN
) -> np.ndarray:
    """(M,) how much of `axis` (T,) each member's `loss` (M, T) rests within a share `within` of one of `entropies`: it
    is that near, and stays flat. A loss that only passes through is on no plateau, nor is what is not a number.

    Every evaluation stands for the stretch that ends there. Near the end, flatness is that of the last stretch that can
    be followed.
    """
    stretch = np.diff(axis, prepend=0)
    levels = np.asarray(entropies, float)
    near = (np.abs(loss[:, :, None] - levels) <= within * levels).any(-1)
    ahead = AHEAD * axis[-1]
    begins = np.minimum(np.arange(len(axis)), np.searchsorted(axis, axis[-1] - ahead))
    ends = np.minimum(np.searchsorted(axis, axis + ahead), len(axis) - 1)
    flat = loss[:, ends] > (1 - FLAT) * loss[:, begins]
    return (near & flat) @ stretch
