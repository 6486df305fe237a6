"""Whether runs were evaluated often enough to know when they learned."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lopsided.core.arms import LEARNED_ACCURACY
from lopsided.core.rounding import reaches
from lopsided.results.stored import Arm
from lopsided.stats.times import falls
from lopsided.stats.verdict import COARSE


def grid_text(arms: Iterable[Arm], metric: str = "test/accuracy", goal: float = LEARNED_ACCURACY) -> str:
    """A sentence where evaluations lie too far apart to know when the members of an arm learned, by its own rule
    (`until`) or else by when `metric` reaches `goal`; otherwise empty."""
    apart = {arm.name: _apart(arm, metric, goal) for arm in arms}
    coarse = {name: share for name, share in apart.items() if share > COARSE}
    if not coarse:
        return ""
    worst = max(coarse, key=coarse.__getitem__)
    more = len(coarse) - 1
    others = f" (too far apart in {more} more arm{'s' * (more > 1)})" if more else ""
    if coarse[worst] == float("inf"):  # which may be luck, and is no time to learn
        return f"{worst!r} reached its goal at the last evaluation alone{others}: train longer, or evaluate more often"
    if coarse[worst] >= 1:
        return f"{worst!r} learned by its first evaluation{others}: evaluate more often (evaluation.every)"
    share = f"{coarse[worst]:.0%} of the time to learn"
    return f"evaluations of {worst!r} lie {share} apart{others}: evaluate more often (evaluation.every)"


def _apart(arm: Arm, metric: str, goal: float) -> float:
    """Steps between evaluations divided by steps to learn (median over the members that learned); 0 if none did, or
    infinity if some reached the goal, but only at the last evaluation."""
    if (until := arm.spec.until) is not None:
        metric, goal = until.metric, until.at_least if until.at_least is not None else until.at_most or 0.0
    if metric not in arm.values or not np.isfinite(goal):
        return 0.0
    times = arm.times(metric, goal, "steps")
    sign = -1.0 if falls(metric) else 1.0
    if times.censored.all() and reaches(sign * arm.final(metric), sign * goal).any():
        return float("inf")
    return times.coarseness
