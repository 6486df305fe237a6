"""Members that no recorded run has: those that a Python program trained with `lopsided.run`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lopsided.core.arms import name_of
from lopsided.core.json_text import parsed
from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId
from lopsided.store.tables import ArmRow
from lopsided.study.looks import in_hand
from lopsided.study.manifest import Manifest, differing, looked_at

OTHERS = "members of no recipe"
"""What they are called together."""
WHOSE = "members of no recorded run (of Python, of more seeds than were asked for last, or of a file edited since)"
"""What they may be, in words."""


class OtherArm(NamedTuple):
    """One spec of theirs."""

    name: str
    """The settings in which this spec differs from the others; its hash if it is the only one."""
    digest: str
    spec: Mapping[str, Any]
    """The spec as JSON."""
    coordinates: Mapping[str, Any]
    """The settings in which these specs differ; None where a spec does not have one."""


def others(specs: Mapping[str, str], digests: Iterable[str]) -> list[OtherArm]:
    """Specs by their hashes, with names that tell them apart. `specs`: canonical JSON by content hash."""
    found = {digest: parsed(specs[digest]) for digest in sorted(digests) if digest in specs}
    at = differing(found)
    return [OtherArm(_name(at[digest]) or digest, digest, spec, at[digest]) for digest, spec in found.items()]


def _name(at: Mapping[str, Any]) -> str:
    return name_of({key: value for key, value in at.items() if value is not None})


def members_of(store: Store, manifests: Sequence[Manifest]) -> dict[str, list[MemberId]]:
    """The members of every recorded run, those by which looks judged it, and those that the look in hand adds."""
    looked = looked_at(store, manifests)
    over = {member for each in looked.values() for member in each}
    now = {run: [member for member in each if member not in over] for run, each in in_hand(store).items()}
    asked = {each.label: each.members() for each in manifests}
    return asked | {run: each for run, each in now.items() if each} | looked


def with_seeds(store: Store, manifests: Sequence[Manifest]) -> list[tuple[OtherArm, tuple[int, ...]]]:
    """Specs with the complete seeds that belong to no recorded run: of a run's own spec those that a program added."""
    taken = {member for each in members_of(store, manifests).values() for member in each}
    seeds: dict[str, list[int]] = {}
    for spec, seed in store.complete():
        if (spec, seed) not in taken:
            seeds.setdefault(spec, []).append(seed)
    return [(arm, tuple(sorted(seeds[arm.digest]))) for arm in others(store.index.specs, seeds)]


def arm_rows(store: Store, manifests: Sequence[Manifest]) -> list[ArmRow]:
    """Rows of the table `arms` for what a Python program trained. A spec that no recorded run has has no number of
    seeds; the column `seeds` is its largest seed plus one, so that `seed < seeds` selects all of its rows. Of a run's
    own spec `judged_from` and `judged_to` hold the seeds that are the program's, a row for each stretch of them."""
    known = {arm.hash for found in manifests for arm in found.arms.values()}
    rows = []
    for arm, seeds in with_seeds(store, manifests):
        shared = arm.digest in known
        row = ArmRow(arm.name, OTHERS, "", OTHERS, (), 0 if shared else seeds[-1] + 1, arm.digest, arm.coordinates)
        if not shared:
            rows.append(row)
            continue
        its = set(seeds)
        begins, ends = [n for n in seeds if n - 1 not in its], [n + 1 for n in seeds if n + 1 not in its]
        rows += [row._replace(judged_from=a, judged_to=b) for a, b in zip(begins, ends, strict=True)]
    return rows


def members(store: Store, runs: Mapping[str, Sequence[MemberId]]) -> dict[str, list[MemberId]]:
    """For `status`: those that are complete, half done, in training or failed, under what they are called together;
    nothing if there are none. `runs`: the members of all others."""
    taken = {member for each in runs.values() for member in each}
    leases = Leases(store.root)
    held = {member for lease in leases.all() for member in lease.members}
    failed = {member for failure in leases.failures() for member in failure.members}
    survey = store.survey()
    found = sorted({*survey.complete, *survey.half_done, *held, *failed} - taken)
    return {OTHERS: found} if found else {}
