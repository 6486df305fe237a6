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

    Where members leave (`until`), others take their places, in order. Whoever began no later than the furthest of
    those that still train is shown: that choice does not look at what became of a member. Members that left alone
    would be the quickest ones.
    """
    members = np.unique(np.asarray(rows["seed"]))
    last = np.array([np.asarray(rows["step"])[np.asarray(rows["seed"]) == seed].max() for seed in members])
    trains = np.array([not _left(rows, int(seed), int(step), spec) for seed, step in zip(members, last, strict=True)])
    if not trains.any():
        return tuple(members.tolist()), spec.steps
    furthest = np.flatnonzero(trains & (last == last[trains].max()))[-1] + 1
    step = last[:furthest][trains[:furthest]].min()
    return tuple(members[:furthest].tolist()), int(step)


def _left(rows: Mapping[str, np.ndarray], seed: int, last: int, spec: Spec) -> bool:
    """Whether a member is done: at its last step, diverged, or good enough at two evaluations in a row."""
    its = np.asarray(rows["seed"]) == seed
    if last == spec.steps or spec.until is None:
        return last == spec.steps
    if np.asarray(rows["diverged"])[its].any():
        return True
    values = np.ma.filled(np.ma.asarray(rows["value"], dtype=np.float64), np.nan)
    values = values[its & (np.asarray(rows["metric"]) == spec.until.metric)]
    return len(values) > 1 and bool(spec.until.reached(values[-2:]).all())
