"""Members whose specs no recorded run has: those that a Python program trained with `lopsided.run`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lopsided.core.arms import name_of
from lopsided.core.json_text import parsed
from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId
from lopsided.store.tables import ArmRow
from lopsided.study.manifest import Manifest, differing

OTHERS = "members of no recipe"
"""What they are called together."""


class OtherArm(NamedTuple):
    """One spec of theirs."""

    name: str
    """The settings in which this spec differs from the others; its hash if it is the only one."""
    digest: str
    spec: Mapping[str, Any]
    """The spec as JSON."""
    coordinates: Mapping[str, Any]
    """The settings in which these specs differ; None where a spec does not have one."""


def others(specs: Mapping[str, str], taken: Collection[str], digests: Iterable[str]) -> list[OtherArm]:
    """Arms in the store that the recipe does not plan (made with --set): `digests` that are not `taken`. `specs` is
    canonical JSON by content hash."""
    found = {digest: parsed(specs[digest]) for digest in sorted(set(digests) - set(taken)) if digest in specs}
    at = differing(found)
    return [OtherArm(_name(at[digest]) or digest, digest, spec, at[digest]) for digest, spec in found.items()]


def _name(at: Mapping[str, Any]) -> str:
    return name_of({key: value for key, value in at.items() if value is not None})


def with_seeds(store: Store, manifests: Sequence[Manifest]) -> list[tuple[OtherArm, tuple[int, ...]]]:
    """Each spec that no manifest has, with the seeds that are complete."""
    taken = {arm.hash for found in manifests for arm in found.arms.values()}
    seeds: dict[str, list[int]] = {}
    for spec, seed in store.complete():
        seeds.setdefault(spec, []).append(seed)
    return [(arm, tuple(sorted(seeds[arm.digest]))) for arm in others(store.index.specs, taken, seeds)]


def arm_rows(store: Store, manifests: Sequence[Manifest]) -> list[ArmRow]:
    """Rows of the table `arms` for specs that a Python program trained, and no recorded run has. Such a spec has no
    number of seeds; the column `seeds` is its largest seed plus one, so that `seed < seeds` selects all of its rows."""
    return [
        ArmRow(arm.name, OTHERS, "", OTHERS, (), seeds[-1] + 1, arm.digest, arm.coordinates)
        for arm, seeds in with_seeds(store, manifests)
    ]


def members(store: Store, runs: Mapping[str, Sequence[MemberId]]) -> dict[str, list[MemberId]]:
    """For `status`: those that are complete, in training or failed, under what they are called together; nothing if
    there are none. `runs`: the members of all others."""
    taken = {spec for each in runs.values() for spec, _ in each}
    leases = Leases(store.root)
    held = {member for lease in leases.all() for member in lease.members}
    failed = {member for failure in leases.failures() for member in failure.members}
    found = sorted(member for member in {*store.complete(), *held, *failed} if member[0] not in taken)
    return {OTHERS: found} if found else {}
