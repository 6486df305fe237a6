"""Whether runs were long enough for what a level at their end speaks against.

"Ends above 90 %" is not contradicted by runs that stopped on the way. A verdict against such a claim stands only if the
runs were as long as the paper's, or if their curves had stopped moving: a test on the last quarter finds the change
equivalent to none.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lopsided.claims.kind import End
from lopsided.claims.places import arms_at
from lopsided.claims.setting import Counterparts
from lopsided.core.optimizer import falls
from lopsided.results.stored import Arm, Results
from lopsided.stats.decisions import FIVE_POINTS, LEVEL, QUARTER, near

LAST = 0.75
"""Share of a run at which its last quarter begins."""
FEWEST = 4
"""Evaluations that the last quarter needs: two on either side of its middle."""


def long_enough(results: Results, ends: Iterable[End], paper: Counterparts, level: float = LEVEL) -> bool:
    """Whether each arm whose level at the end is read was trained for as many steps as its counterpart at the paper's
    scale, or had stopped moving. `paper` has no arms where the recipe has no such scale."""
    pairs = [(arm, end.metric) for end in ends for arm in arms_at(results.arms, end.at).values()]
    least = min((arm.spec.steps for arm in paper.arms), default=None)

    def as_long(arm: Arm) -> bool:
        return least is not None and arm.spec.steps >= least and arm.spec.steps >= paper.of(arm).spec.steps

    return all(as_long(arm) or settled(arm, metric, level) for arm, metric in pairs)


def settled(arm: Arm, metric: str, level: float = LEVEL) -> bool:
    """Whether a metric of its members had stopped moving in the last quarter of training, or had nothing left to gain.

    The change over the quarter is twice the difference between the means of its halves; it has to be equivalent to none
    within 0.05 for accuracies and other shares, within 25 % for anything else. A learning rate that falls towards the
    end stops any curve, so that a flat one says nothing of a longer run.
    """
    values = arm.metric(metric)
    if values.ndim != 2 or not np.isfinite(values).all():  # of a member that diverged a longer run says nothing
        return False
    share = bool(values.min() >= 0 and values.max() <= 1)
    if share and (values[:, -1] >= 1 - FIVE_POINTS).all():
        return True
    # Means over each half: of 1,024 test samples a single accuracy of 0.5 has a standard deviation of 0.016.
    last = arm.steps >= LAST * arm.steps[-1]
    if last.sum() < FEWEST or falls(arm.spec.optimizer):
        return False
    first, second = np.array_split(values[:, last], 2, axis=1)
    before, after = first.mean(1), second.mean(1)
    if share:
        return near(2 * (after - before), 0.0, FIVE_POINTS, metric, level=level).verdict == "holds"
    # A ratio needs positive values; a loss that may be negative or 0 cannot be shown to have settled.
    if not (np.minimum(before, after) > 0).all():
        return False
    return near((after / before) ** 2, 1.0, QUARTER - 1, metric, ratio=True, level=level).verdict == "holds"
