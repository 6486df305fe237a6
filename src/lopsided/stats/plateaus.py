"""Plateaus of loss curves: how long a member stays near a loss that knowing only part of the task gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WITHIN = 0.05


def plateau_length(
    axis: np.ndarray, loss: np.ndarray, entropies: Sequence[float], within: float = WITHIN
) -> np.ndarray:
    """(M,) how much of `axis` (T,) each member's `loss` (M, T) spends within a share `within` of one of `entropies`.

    Every evaluation stands for the stretch that ends there. What is not a number is on no plateau.
    """
    stretch = np.diff(axis, prepend=0)
    levels = np.asarray(entropies, float)
    near = (np.abs(loss[:, :, None] - levels) <= within * levels).any(-1)
    return (near * stretch).sum(1)
