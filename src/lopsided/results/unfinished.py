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

    An arm has the members that are complete. If none is, it has those that are committed furthest, up to there, and
    its name says so: members of several jobs stand at several steps, and a median over all of them at the earliest
    would hide what the furthest have done.
    """
    found = {name: _furthest(store, spec, seeds) for name, spec in specs.items()}
    pairs = [(specs[name].content_hash(), seed) for name, (members, _) in found.items() for seed in members]
    rows = rows_of(store, pairs, half_done=True) if pairs else {}
    arms = {}
    for name, (members, step) in found.items():
        spec = specs[name]
        theirs = rows.get(spec.content_hash())
        if theirs is None:
            continue
        called = name if step == spec.steps else f"{name} (to step {step:,} of {spec.steps:,})"
        until_there = np.asarray(theirs["step"]) <= step
        if not until_there.any():  # committed before its first evaluation
            continue
        arm = arm_of({column: values[until_there] for column, values in theirs.items()}, called, spec, members, step)
        arms[called] = replace(arm, coordinates=planned[name].coordinates) if name in planned else arm
    return Results(recipe, scale, arms) if arms else None


def _furthest(store: Store, spec: Spec, seeds: int) -> tuple[Sequence[int], int]:
    """Seeds of the members that came furthest, and the step; none, and 0, if nothing is committed."""
    survey, digest = store.survey(), spec.content_hash()
    complete = tuple(seed for seed in range(seeds) if (digest, seed) in survey.complete)
    if complete:
        return complete, spec.steps
    begun = {seed: survey.half_done[digest, seed] for seed in range(seeds) if (digest, seed) in survey.half_done}
    step = max(begun.values(), default=0)
    furthest = tuple(seed for seed, at in begun.items() if at == step and step)
    return furthest, min(step, spec.steps)  # a job of longer specs, too, stands beyond the end of this one
