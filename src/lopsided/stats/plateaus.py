"""Plateaus of loss curves: how long a member rests at a loss that knowing only part of the task gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WITHIN = 0.05
"""Share of an entropy. The levels of S4 and its quotients (log 24, log 6, log 2) lie much further apart."""
FLAT, AHEAD = 0.02, 1 / 8
"""On a plateau the loss falls by less than 2 % in the next eighth of the run. (A loss that goes from log 24 to log 4 in
one run at a constant relative rate falls by about 10 % in an eighth of it.)"""
UNLEARNED = 0.1
"""Share of the first loss from which on nothing much is left that a plateau could hold up."""


def plateau_length(
    axis: np.ndarray, loss: np.ndarray, entropies: Sequence[float], within: float = WITHIN
) -> np.ndarray:
    """(M,) how much of `axis` (T,) each member's `loss` (M, T) rests within a share `within` of one of `entropies`: it
    is that near, and stays flat. A loss that only passes through is on no plateau, nor is what is not a number.

    Every evaluation stands for the stretch that ends there.
    """
    levels = np.asarray(entropies, float)
    near = (np.abs(loss[:, :, None] - levels) <= within * levels).any(-1)
    return (near & _flat(axis, loss)) @ np.diff(axis, prepend=0)


def rest_length(axis: np.ndarray, loss: np.ndarray, above: float = UNLEARNED) -> np.ndarray:
    """(M,) how much of `axis` (T,) each member's `loss` (M, T) rests at whatever height above a share `above` of its
    first value: `plateau_length` for a loss whose levels nobody knows, such as the training loss under a power law."""
    return ((loss > above * loss[:, :1]) & _flat(axis, loss)) @ np.diff(axis, prepend=0)


def _flat(axis: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """(M, T) whether the loss stays as it is over the next eighth of the run; near the end, over the last one that can
    be followed."""
    ahead = AHEAD * axis[-1]
    begins = np.minimum(np.arange(len(axis)), np.searchsorted(axis, axis[-1] - ahead))
    ends = np.minimum(np.searchsorted(axis, axis + ahead), len(axis) - 1)
    return loss[:, ends] > (1 - FLAT) * loss[:, begins]
