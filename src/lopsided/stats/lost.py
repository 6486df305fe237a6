"""Values of runs that have none because they diverged or failed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def worse_than_all(arms: Sequence[np.ndarray], falling: bool = False) -> list[np.ndarray]:
    """The values of several arms, with one that is worse than all in place of those that are not finite.

    It lies below the worst by as much as the best lies above it: a lost run then outweighs whatever another run has
    gained. (A number at the worst itself made arms "better" of which three quarters crashed; one far below all others
    would decide alone how far the arms spread.) `falling`: less is better.
    """
    every = np.concatenate(arms)
    known = every[np.isfinite(every)]
    if not known.size:
        return [np.zeros(len(each)) for each in arms]
    spread = np.ptp(known) or np.abs(known).max() or 1.0
    worse = known.max() + spread if falling else known.min() - spread
    return [np.where(np.isfinite(each), each, worse) for each in arms]
