"""Values in place of NaN and infinity, for runs that diverged or failed: one that is worse than all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def worse_than_all(arms: Sequence[np.ndarray], falling: bool = False) -> list[np.ndarray]:
    """Values of several arms, (M,) each, in which every NaN or infinity is replaced by one number worse than the rest.

    That number lies below the worst value by as much as the best lies above it, so that a lost run outweighs whatever
    another run has gained. (With the worst value itself, an arm was "better" of which three quarters crashed; a number
    far below would alone decide how far the arms spread.) `falling`: less is better.
    """
    every = np.concatenate(arms)
    known = every[np.isfinite(every)]
    if not known.size:
        return [np.zeros(len(each)) for each in arms]
    spread = np.ptp(known) or np.abs(known).max() or 1.0
    worse = known.max() + spread if falling else known.min() - spread
    return [np.where(np.isfinite(each), each, worse) for each in arms]
