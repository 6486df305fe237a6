"""The best arm of a sweep: every member is judged at the settings that other members choose.

Swept settings ride inside the ensemble: every arm is trained at every learning rate. The members of one fold of seeds
(`lopsided.stats.selection`) are judged at the settings at which those of the other folds learn soonest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lopsided.core import arms as planned_arms
from lopsided.core.arms import ArmSpec, multiplied, name_of
from lopsided.core.errors import InputError
from lopsided.results.stored import Arm, Axis, Results
from lopsided.stats.decisions import faster
from lopsided.stats.selection import FOLDS, Score, folds, score, split
from lopsided.stats.times import Times

LARGEST_STEP = 1.5
"""Around a best rate, neighbours are no further apart than this factor (and 1 % for rounded numbers)."""


@dataclass(frozen=True)
class Tuned:
    """An arm at the best of its swept settings. M members are judged."""

    arm: Arm
    """The best one by all members that choose, for names and settings."""
    judged: np.ndarray  # (members,) bool
    chosen: tuple[Arm, ...]
    """(M,) the arm that each judged member is judged at."""
    score: Score
    """Score of `arm`, from the members that choose."""
    group: tuple[Arm, ...]
    """All arms of the sweep."""

    @property
    def name(self) -> str:
        """The coordinates that are not swept."""
        return kept_name(self.arm)

    @property
    def label(self) -> str:
        """For legends: the name, and the best of the settings that had a choice."""
        chosen = [key for key in self.arm.swept if len({a.coordinates[key] for a in self.group}) > 1]
        settings = name_of({key: self.arm.coordinates[key] for key in chosen})
        return f"{self.name} ({settings})" if settings else self.name

    @property
    def distinct(self) -> list[Arm]:
        """The arms that somebody chose."""
        return list({each.name: each for each in (self.arm, *self.chosen)}.values())

    @property
    def edges(self) -> list[tuple[Arm, str]]:
        """Chosen arms that lie at an end of their sweep, and the setting."""
        values = scales(self.group)
        ends = {key: (found[0], found[-1]) for key, found in values.items()}
        return [(arm, key) for arm in self.distinct for key in values if arm.coordinates[key] in ends[key]]

    @property
    def rivals(self) -> list[Arm]:
        """Other arms of the sweep than `arm` that its members cannot tell to be slower."""
        here = _times(self.arm, "steps", None)
        others = [arm for arm in self.group if arm.name != self.arm.name]
        return [arm for arm in others if faster(_times(arm, "steps", None), here, "steps").verdict != "holds"]

    def times(self, axis: Axis = "steps", at: float | None = None) -> Times:
        """Time to learn of the judged members, by the rule of the arm's spec; with `at`, the time to that value of the
        rule's metric."""
        every = {each.name: _times(each, axis, at) for each in self.chosen}
        rows = [(every[arm.name], i) for arm, i in zip(self.chosen, np.flatnonzero(self.judged), strict=True)]
        gaps = np.array([np.nan if t.gap is None else t.gap[i] for t, i in rows])
        return Times(np.array([t.time[i] for t, i in rows]), np.array([t.censored[i] for t, i in rows], bool), gaps)

    def times_at(self, arm: Arm, axis: Axis = "steps", at: float | None = None) -> Times:
        """Times of the judged members at one arm of the sweep, whatever they chose."""
        found = _times(arm, axis, at)
        return found.chosen(self.judged)

    def curve(self, metric: str) -> np.ndarray:
        """(M, T) values of the judged members."""
        members = zip(self.chosen, np.flatnonzero(self.judged), strict=True)
        return np.stack([arm.metric(metric)[i] for arm, i in members])


def best(results: Results, **coordinates: Any) -> Tuned:
    """The arm at these coordinates with the best score over the choosing seeds (ties: the first). If `results.frozen`
    names one of them, that. Raises `InputError` if no arm lies there."""
    arms = results.where(**coordinates)
    if not arms:
        raise InputError(f"recipe {results.recipe!r}: no arm lies at {coordinates}")
    return _best(arms, results.chooser, results.frozen)


def bests(results: Results, **coordinates: Any) -> list[Tuned]:
    """Arms that differ in swept settings only form a group; the best arm of each group, in the recipe's order."""
    return [_best(group, results.chooser, results.frozen) for group in groups(results.where(**coordinates)).values()]


def sweeps(results: Results) -> list[Tuned]:
    """The best arm of every sweep, whatever the coordinates."""
    return [_best(group, None) for group in groups([arm for arm in results.arms.values() if arm.swept]).values()]


def groups(arms: Sequence[Arm]) -> dict[str, list[Arm]]:
    """Arms that differ in swept settings only, by the name of what they share."""
    found: dict[str, list[Arm]] = {}
    for arm in arms:
        found.setdefault(kept_name(arm), []).append(arm)
    return found


def kept_name(arm: Arm) -> str:
    """Name of the coordinates that are not swept."""
    return planned_arms.kept_name(arm.coordinates, arm.swept)


def scales(group: Sequence[Arm]) -> dict[str, list[float]]:
    """Swept settings that go on beyond their ends, and their values above 0. (A weight decay of 0 is one value more, of
    which no factor leads on.)"""
    every = {key: {float(arm.coordinates[key]) for arm in group} for key in multiplied(group[0].swept)}
    values = {key: sorted(value for value in found if value > 0) for key, found in every.items()}
    return {key: found for key, found in values.items() if len(found) > 1}


def beyond(results: Results, planned: dict[str, ArmSpec]) -> list[ArmSpec]:
    """Arms that sweeps lack before every best setting is bracketed: one step beyond an end at which it lies, and
    between it and neighbours that are more than LARGEST_STEP away."""
    found: dict[str, ArmSpec] = {}
    for tuned in sweeps(results):
        for arm in tuned.distinct:
            for key, values in scales(tuned.group).items():
                here = float(arm.coordinates[key])
                for value in _missing(values, here) if here in values else ():
                    point = {k: float(arm.coordinates[k]) for k in arm.swept} | {key: value}
                    more = planned[arm.name].moved(point)
                    if more is not None and more.name not in planned:
                        found[more.name] = more
    return list(found.values())


def _missing(values: Sequence[float], best: float) -> Iterator[float]:
    """What stands not yet on either side of the best of some rising values."""
    i = values.index(best)
    for j, end in ((i - 1, i == 0), (i + 1, i == len(values) - 1)):
        if end:
            inner = values[1] / values[0] if i == 0 else values[-1] / values[-2]
            step = min(inner, LARGEST_STEP)
            yield _rounded(best / step if i == 0 else best * step)
        elif max(values[j], best) / min(values[j], best) > 1.01 * LARGEST_STEP:
            yield _rounded((values[j] * best) ** 0.5)


def _times(arm: Arm, axis: Axis, at: float | None) -> Times:
    if at is None or arm.spec.until is None:
        return arm.times_by_its_rule(axis)
    return arm.times(arm.spec.until.metric, at, axis)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _best(arms: Sequence[Arm], chooser: int | None, frozen: Sequence[str] = ()) -> Tuned:
    """`chooser`: the one fold that chooses for all others; None: every fold is judged at what the others choose."""
    named = {arm.name: arm for arm in arms}
    for name in frozen:
        if (arm := named.get(name)) is not None:  # others of its sweep may have stopped at fewer seeds
            everybody = np.ones(len(arm.seeds), bool)
            return Tuned(arm, everybody, (arm,) * len(arm.seeds), _score(arm, everybody), tuple(arms))
    seeds = arms[0].seeds
    fold = folds(seeds)
    if chooser is not None or not fold.any():
        chooses, judged = split(seeds, chooser or 0)
        at, its_score = _first(arms, chooses)
        found = Tuned(at, judged, (at,) * int(judged.sum()), its_score, tuple(arms))
    else:
        at, its_score = _first(arms, np.ones(len(seeds), bool))
        by_fold = [_first(arms, fold != k)[0] for k in range(FOLDS)]
        chosen = tuple(by_fold[k] for k in fold)
        found = Tuned(at, np.ones(len(seeds), bool), chosen, its_score, tuple(arms))
    return found


def _first(arms: Sequence[Arm], chooses: np.ndarray) -> tuple[Arm, Score]:
    found = [_score(arm, chooses) for arm in arms]
    i = min(range(len(arms)), key=found.__getitem__)
    return arms[i], found[i]


def _score(arm: Arm, chooses: np.ndarray) -> Score:
    until = arm.spec.until
    assert until is not None, f"arm {arm.name!r} is swept and has no rule that says when a member has learned"
    times = arm.times_by_its_rule("steps")
    times = times.chosen(chooses)
    return score(times, arm.final(until.metric)[chooses], until.at_least is not None)
