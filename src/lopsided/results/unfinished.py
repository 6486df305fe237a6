"""What an unfinished run has: of every arm, the members that came furthest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lopsided.core.arms import ArmSpec
from lopsided.core.spec import Spec
from lopsided.results.stored import Results, arm_of, rows_of
from lopsided.store.parts import Store


def so_far(
    store: Store, recipe: str, scale: str, specs: Mapping[str, Spec], seeds: int, planned: Mapping[str, ArmSpec]
) -> Results | None:
    """Results of every arm of which rows are committed, or None if there are none.

    An arm has the members that are complete. If none is, it has those that came furthest, up to there, and its name
    says so: a median over all of them at the earliest step would hide what the furthest have done.
    """
    survey = store.survey()
    begun = survey.complete.keys() | survey.half_done.keys()
    digests = {spec.content_hash() for spec in specs.values()}
    pairs = [(digest, seed) for digest in digests for seed in range(seeds) if (digest, seed) in begun]
    rows = rows_of(store, pairs, half_done=True) if pairs else {}
    arms = {}
    for name, spec in specs.items():
        digest = spec.content_hash()
        if (theirs := rows.get(digest)) is None:  # committed before its first evaluation
            continue
        complete = tuple(seed for seed in range(seeds) if (digest, seed) in survey.complete)
        members, step = (complete, spec.steps) if complete else _furthest(theirs, spec)
        kept = np.isin(np.asarray(theirs["seed"]), members) & (np.asarray(theirs["step"]) <= step)
        called = name if step == spec.steps else f"{name} (to step {step:,} of {spec.steps:,})"
        arm = arm_of({column: values[kept] for column, values in theirs.items()}, called, spec, members, step)
        arms[called] = replace(arm, coordinates=planned[name].coordinates) if name in planned else arm
    return Results(recipe, scale, arms) if arms else None


def _furthest(rows: Mapping[str, np.ndarray], spec: Spec) -> tuple[Sequence[int], int]:
    """Seeds of the members that came furthest, and the step up to which all of them were evaluated.

    With `until`, members leave a job when they have learned, and waiting members take their places, in the order of
    their seeds. The seeds kept are those up to the one that has trained longest and still trains, whether they left or
    not. Members that have left, taken alone, would be the quickest ones.
    """
    members, place = np.unique(np.asarray(rows["seed"]), return_inverse=True)
    last = np.zeros(len(members), int)
    np.maximum.at(last, place, np.asarray(rows["step"]))
    trains = ~_left(rows, place, last, spec)
    if not trains.any():
        return members.tolist(), spec.steps
    furthest = np.flatnonzero(trains & (last == last[trains].max()))[-1] + 1
    return members[:furthest].tolist(), int(last[:furthest][trains[:furthest]].min())


def _left(rows: Mapping[str, np.ndarray], place: np.ndarray, last: np.ndarray, spec: Spec) -> np.ndarray:
    """(M,) whether each member is done: at its last step, diverged, or good enough at two evaluations in a row.
    `place` is the member of each row, `last` the step of each member's last row."""
    left = last == spec.steps
    if spec.until is None:
        return left
    np.logical_or.at(left, place, np.asarray(rows["diverged"]))
    own = np.flatnonzero(np.asarray(rows["metric"]) == spec.until.metric)  # ordered by seed, then by step
    values = np.ma.filled(np.ma.asarray(rows["value"], dtype=np.float64), np.nan)[own]
    good, member = spec.until.reached(values), place[own]
    left[member[1:][good[1:] & good[:-1] & (member[1:] == member[:-1])]] = True
    return left
