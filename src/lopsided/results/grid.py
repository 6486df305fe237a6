"""Whether runs were evaluated often enough to know when they learned."""

from __future__ import annotations

from collections.abc import Iterable

from lopsided.core.arms import LEARNED_ACCURACY
from lopsided.core.evaluation import Until
from lopsided.results.stored import Arm
from lopsided.stats.times import times_until
from lopsided.stats.verdict import COARSE


def grid_text(arms: Iterable[Arm]) -> str:
    """A sentence where evaluations lie too far apart to know when the members of an arm learned, by its own rule
    (`until`) or else by its test accuracy; otherwise empty."""
    apart = {arm.name: _apart(arm) for arm in arms}
    coarse = {name: share for name, share in apart.items() if share > COARSE}
    if not coarse:
        return ""
    worst = max(coarse, key=coarse.__getitem__)
    others = f", and too far in {len(coarse) - 1} more arms" if len(coarse) > 1 else ""
    if coarse[worst] == float("inf"):  # which may be luck, and is no time to learn
        return f"{worst!r} reached its goal at the last evaluation alone{others}: train longer, or evaluate more often"
    if coarse[worst] >= 1:
        return f"{worst!r} learned by its first evaluation{others}: evaluate more often (evaluation.every)"
    share = f"{coarse[worst]:.0%} of the time to learn"
    return f"evaluations of {worst!r} lie {share} apart{others}: evaluate more often (evaluation.every)"


def _apart(arm: Arm) -> float:
    """How far apart evaluations lie, as a share of the time to learn: 0 where nobody learned, infinite where members
    learned at the last evaluation alone."""
    until = arm.spec.until or Until(at_least=LEARNED_ACCURACY)
    if until.metric not in arm.values:
        return 0.0
    values = arm.metric(until.metric)
    times = times_until(arm.steps, values, until)
    if times.censored.all() and until.reached(values[:, -1]).any():
        return float("inf")
    return times.coarseness
