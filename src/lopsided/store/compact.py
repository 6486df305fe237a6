"""Merging the parts of finished jobs, so that a folder of many small parts stays quick to read.

Nothing is ever missing on the way. First one new part with the rows of many finished jobs is committed; readers take a
member's rows from the largest job that holds it, so from now on they take the new part's. Only then are the old parts
removed. A process that is killed in between leaves both, and the next call removes the old ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from lopsided.core.errors import StoreError
from lopsided.store.files import canonical
from lopsided.store.index import Summary
from lopsided.store.leases import Leases
from lopsided.store.members import copy_rows
from lopsided.store.parts import Store, StoredPart, job_name
from lopsided.store.survey import MemberId, Survey

LEASE = "compaction"
MOST_MEMBERS = 20_000
"""Members of a merged part at most."""


class Compacted(NamedTuple):
    """What was done: numbers of parts in the folder."""

    before: int
    after: int


def compact(store: Store) -> Compacted:
    """Merge the finished jobs that the same code made. Other processes may train, read and commit meanwhile.

    Raises `StoreError` if another process compacts the folder.
    """
    store.require_writable()
    store.require_readable()
    leases = Leases(store.root)
    with _alone(leases) as token:
        survey = store.survey()
        before = len(survey.good) + len(survey.other)
        _remove(store, leases)
        for parts in _groups(store.survey()):
            _merge(store, parts, token)
        _remove(store, leases)
        survey = store.survey()
        return Compacted(before, len(survey.good) + len(survey.other))


@contextmanager
def _alone(leases: Leases) -> Iterator[str]:
    """Hold the lease of compaction: that of a process that died is taken over. Gives its token."""
    with leases.lock():
        if any(lease.job == LEASE and lease.alive for lease in leases.all()):
            raise StoreError("another process compacts this folder")
        lease = leases.take(LEASE, [], 0)
    with leases.hold(lease):
        yield lease.token


def _groups(survey: Survey) -> list[list[Summary]]:
    """Parts to merge into one, group by group: those of finished jobs made by the same code, job after job."""
    chains: dict[str, list[Summary]] = {}
    for part in survey.good:
        chains.setdefault(part.job, []).append(part)
    by_code: dict[str, list[list[Summary]]] = {}
    known: dict[str, dict[str, str]] = {}
    for chain in chains.values():
        large = len(chain) == 1 and 2 * _size(chain) >= MOST_MEMBERS
        if not chain[-1].final or large:
            continue
        code = chain[-1].code
        codes = {spec: chain[-1].code_of(spec) for spec in chain[-1].seeds}
        seen = known.setdefault(code, {})
        if any(seen.setdefault(spec, each) != each for spec, each in codes.items()):
            code = canonical(codes)  # one spec has rows of two versions: a part names one of each
        by_code.setdefault(code, []).append(chain)
    groups = []
    for found in by_code.values():
        group: list[Summary] = []
        for chain in sorted(found, key=lambda chain: chain[0].folder):
            if group and _size(group) + _size(chain) > MOST_MEMBERS:
                groups.append(group)
                group = []
            group += chain
        groups.append(group)
    return [group for group in groups if len(group) > 1]


def _size(parts: Sequence[Summary]) -> int:
    return sum(sum(map(len, part.seeds.values())) for part in parts if part.final)


def _merge(store: Store, parts: Sequence[Summary], token: str) -> None:
    """Commit one part with the rows of `parts`, whole jobs each."""
    complete = store.survey().complete
    members: dict[MemberId, str] = {
        (spec, seed): part.job
        for part in parts
        if part.final
        for spec, seeds in part.seeds.items()
        for seed in seeds
        if complete[spec, seed] == part.job
    }
    store.commit(merged(store, parts, members, token), lambda file: copy_rows(store, parts, members, file))


def merged(store: Store, parts: Sequence[Summary], members: Mapping[MemberId, str], token: str) -> StoredPart:
    """One part with the `members` (and the job of each) of several parts."""
    made: dict[str, dict[str, Any]] = {}
    for part in parts:
        for each in store.provenance(part):  # with its specs, so that no other run is said to have taken it
            told = {"specs": sorted(part.seeds), **each}
            made[canonical(told)] = told
    specs = {spec for spec, _ in members}
    return StoredPart(
        job=job_name(members),
        start=0,
        step=max(part.step for part in parts),
        final=True,
        seconds=sum(part.seconds for part in parts if part.final),
        members=tuple(sorted(members)),
        specs={spec: store.index.specs[spec] for spec, _ in members},
        provenance={"merged": [made[key] for key in sorted(made)]},
        code=parts[-1].code,
        token=token,
        codes={
            spec: part.code_of(spec)
            for part in parts
            for spec in part.seeds
            if spec in specs and part.code_of(spec) != parts[-1].code
        },
    )


def _remove(store: Store, leases: Leases) -> None:
    """Remove sound parts that nobody reads: of jobs whose members are all read from other jobs, and other chains of
    finished jobs. The last part of a chain goes first, so that what is left never has a gap."""
    survey = store.survey()
    complete = survey.complete
    held = {lease.job for lease in leases.all() if lease.alive}
    needed = {
        part.job
        for part in survey.good
        for spec, seeds in part.seeds.items()
        if any(complete.get((spec, seed), part.job) == part.job for seed in seeds)
    }
    finished = {part.job for part in survey.good if part.final}
    spare = [part for part in survey.good if part.job not in needed]
    spare += [part for part in survey.other if part.job in finished]
    for part in sorted(spare, key=lambda part: part.folder, reverse=True):
        if part.job not in held:
            store.remove(part)
