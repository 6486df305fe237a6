"""The best arm of a sweep: chosen by some members, judged by the others.

Swept settings ride inside the ensemble: every arm is trained at every learning rate. Members that choose
(`lopsided.stats.selection`) pick the settings at which they learn soonest; only the others enter a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.core.recipe import name_of
from lopsided.results.stored import Arm, Axis, Results
from lopsided.stats.selection import Score, score, split
from lopsided.stats.times import Times

if TYPE_CHECKING:
    from lopsided.core.recipe import Recipe


@dataclass(frozen=True)
class Tuned:
    """An arm at the best of its swept settings."""

    arm: Arm
    judged: np.ndarray  # (M,) bool: members that no choice looked at
    score: Score
    """From the choosing members only."""

    @property
    def name(self) -> str:
        """The coordinates that are not swept."""
        return kept_name(self.arm)

    @property
    def label(self) -> str:
        """For legends: the name, and the best settings."""
        settings = name_of({key: self.arm.coordinates[key] for key in self.arm.swept})
        return f"{self.name} ({settings})" if settings else self.name

    def times(self, axis: Axis = "steps") -> Times:
        """Time to learn of the judged members, by the rule of the arm's spec."""
        return _of(self.arm.times_by_its_rule(axis), self.judged)

    def curve(self, metric: str) -> np.ndarray:
        """(V, T) values of the judged members."""
        return self.arm.metric(metric)[self.judged]


def best(results: Results, **coordinates: Any) -> Tuned:
    """Of the arms with these coordinates, the one that the choosing members like best; at a tie the first."""
    arms = results.where(**coordinates)
    if not arms:
        raise InputError(f"recipe {results.recipe!r}: no arm lies at {coordinates}")
    return _best(arms)


def bests(results: Results, **coordinates: Any) -> list[Tuned]:
    """Arms that differ in swept settings only form a group; the best arm of each group, in the recipe's order."""
    groups: dict[str, list[Arm]] = {}
    for arm in results.where(**coordinates):
        groups.setdefault(kept_name(arm), []).append(arm)
    return [_best(group) for group in groups.values()]


def kept_name(arm: Arm) -> str:
    """Name of the coordinates that are not swept."""
    return name_of({key: value for key, value in arm.coordinates.items() if key not in arm.swept})


def choosing_times(arm: Arm) -> Times:
    """Steps to learn of the members that choose."""
    return _of(arm.times_by_its_rule("steps"), split(arm.seeds)[0])


def shown(recipe: Recipe, results: Results) -> Sequence[str]:
    """Names of the arms that tables list."""
    if recipe.shown:
        return recipe.shown(results)
    if any(arm.swept for arm in results.arms.values()):
        return [tuned.arm.name for tuned in bests(results)]
    return list(results.arms)


def _best(arms: Sequence[Arm]) -> Tuned:
    chooses, judged = split(arms[0].seeds)
    scores = [_score(arm, chooses) for arm in arms]
    i = min(range(len(arms)), key=scores.__getitem__)
    return Tuned(arms[i], judged, scores[i])


def _score(arm: Arm, chooses: np.ndarray) -> Score:
    until = arm.spec.until
    assert until is not None, f"arm {arm.name!r} is swept and has no rule that says when a member has learned"
    return score(choosing_times(arm), arm.final(until.metric)[chooses], until.at_least is not None)


def _of(times: Times, members: np.ndarray) -> Times:
    return Times(times.time[members], times.censored[members])
