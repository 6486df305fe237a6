"""The runs of a folder as the page shows them: arms by coordinates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lopsided.core.arms import LEARNED_ACCURACY
from lopsided.store.survey import MemberId
from lopsided.study.catalog import catalog
from lopsided.study.manifest import Manifest
from lopsided.study.others import OTHERS, others


class PlacedArm(NamedTuple):
    """An arm, its place among the arms of its run, and the seeds that the run has of it."""

    name: str
    digest: str
    spec: Mapping[str, Any]
    """The spec as JSON."""
    at: Mapping[str, Any]
    seeds: Sequence[int] | None = None
    """Which seeds of the spec are this run's, since another run in the folder may have trained more of the same spec.
    None: all that the folder holds."""


class ListedRun(NamedTuple):
    """One run."""

    label: str
    recipe: str
    scale: str
    arms: tuple[PlacedArm, ...]
    metric: str
    threshold: float | None
    """What counts as learned, of that metric, where an arm's spec does not say it; None: nobody said it."""
    title: str
    """What people call it, with what was changed by hand."""

    def coordinates(self) -> dict[str, list[Any]]:
        """The values of each coordinate, in order of appearance. Lists are texts here."""
        found: dict[str, dict[Any, None]] = {}
        for arm in self.arms:
            for key, value in arm.at.items():
                found.setdefault(key, {})[text_of(value)] = None
        return {key: list(values) for key, values in found.items()}


def text_of(value: Any) -> Any:
    """A coordinate's value as a drop-down takes it: numbers and texts as they are."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return json.dumps(value)
    return value


def of_manifest(manifest: Manifest) -> ListedRun:
    """A recipe's run. Its own coordinates where every arm has them, else the settings that differ."""
    named = all(arm.at is not None for arm in manifest.arms.values())
    run_seeds = range(manifest.seeds)
    arms = [
        PlacedArm(name, arm.hash, arm.spec, arm.at if named and arm.at is not None else arm.coordinates, run_seeds)
        for name, arm in manifest.arms.items()
    ]
    metric, threshold = _goal(manifest)
    return ListedRun(manifest.label, manifest.recipe, manifest.scale, tuple(arms), metric, threshold, manifest.title)


def _goal(manifest: Manifest) -> tuple[str, float | None]:
    """The metric that the run's recipe reads first, and where a member has learned: of a recipe file what it said when
    it ran, of this package's what they say today."""
    known = {row["name"]: row for row in catalog()}.get(manifest.recipe)
    if known is not None:
        return known["metric"], known["threshold"]
    metric = manifest.metric or "test/accuracy"
    usual = LEARNED_ACCURACY if metric.lower().endswith("accuracy") else None
    return metric, usual if manifest.threshold is None else manifest.threshold


def of_others(specs: Mapping[str, str], known: Iterable[ListedRun], members: Iterable[MemberId]) -> ListedRun | None:
    """The run of `members` that belong to no `known` run; `specs` is canonical JSON by content hash. Of a known run's
    own spec the arm has the seeds of these members, of every other spec whatever there is."""
    seeds: dict[str, list[int]] = {}
    for digest, seed in members:
        seeds.setdefault(digest, []).append(seed)
    shared = {arm.digest for run in known for arm in run.arms}
    arms = [
        PlacedArm(*arm, tuple(sorted(seeds[arm.digest])) if arm.digest in shared else None)
        for arm in others(specs, seeds)
    ]
    return ListedRun(OTHERS, OTHERS, "", tuple(arms), "test/accuracy", LEARNED_ACCURACY, OTHERS) if arms else None
