"""How many distinct samples a plan has touched: exact where draws are not random, their expectation where they are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def expected_distinct(sizes: list[int], draws: list[int]) -> float:
    """E[distinct indices] after `draws[i]` uniform draws with replacement from range(sizes[i]), sizes any order.

    An index in the shell between two sizes can only come from the sets that contain it, so it stays unseen with
    probability prod over those sets of (1 - 1/N)^draws.
    """
    edges = sorted({0, *sizes})
    total = 0.0
    for low, high in pairwise(edges):
        log_unseen = sum(
            n * (np.log1p(-1.0 / size) if size > 1 else -np.inf)
            for size, n in zip(sizes, draws, strict=True)
            if size >= high and n
        )
        total += (high - low) * -float(np.expm1(log_unseen))
    return total
