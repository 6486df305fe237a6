"""What lies in the folder of parts: which of them are read, and why the others are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from lopsided.store.index import Listing, Summary

MemberId = tuple[str, int]
"""(content hash of the spec, seed)."""


class Damage(NamedTuple):
    """A part that must not be read, and why."""

    folder: Path
    reason: str


@dataclass(frozen=True)
class Survey:
    """What lies in the folder of parts."""

    good: list[Summary]
    """Parts on the chain that is read of each job, in order."""
    other: list[Summary]
    """Sound parts on other chains of a job."""
    damaged: list[Damage]
    unreadable: list[Damage]
    """Parts that this user may not read."""
    foreign: list[str]
    """Folders that are no parts of this store; ignored."""

    @cached_property
    def complete(self) -> dict[MemberId, str]:
        """The job whose rows are read of each complete member. Where several jobs hold one, it is the largest: a part
        that others were merged into goes before those (see `store.compact`)."""
        found: dict[MemberId, str] = {}
        final = [part for part in self.good if part.final]
        for part in sorted(final, key=lambda part: (-sum(map(len, part.seeds.values())), part.folder)):
            for spec, seeds in part.seeds.items():
                for seed in seeds:
                    found.setdefault((spec, seed), part.job)
        return found

    @cached_property
    def half_done(self) -> dict[MemberId, int]:
        """The step to which the members of unfinished jobs are committed."""
        return {member: part.step for member, part in self._unfinished.items()}

    @cached_property
    def jobs_begun(self) -> dict[MemberId, str]:
        """Name of the job that trains a member, for every member of a job that is not finished."""
        return {member: part.job for member, part in self._unfinished.items()}

    @cached_property
    def _unfinished(self) -> dict[MemberId, Summary]:
        """The last part of each member of an unfinished job."""
        ended = {part.job for part in self.good if part.final}
        last = {part.job: part for part in self.good if part.job not in ended}
        return {(spec, n): part for part in last.values() for spec, many in part.seeds.items() for n in many}


BEGINNING = "/"
"""What the first part of a job goes on from; no folder has this name."""


def survey_of(found: Listing, folder: Path) -> Survey:
    """The survey of what the index found in `folder`."""
    jobs: dict[str, dict[str, Summary]] = {}
    for part in found.sound:
        jobs.setdefault(part.job, {})[part.folder] = part
    good: list[Summary] = []
    other: list[Summary] = []
    damaged = [Damage(folder / name, reason) for name, reason in found.damaged.items()]
    for parts in jobs.values():
        chain, orphans = _chain(parts)
        good += chain
        if len(chain) + len(orphans) < len(parts):
            skip = {part.folder for part in chain} | set(orphans)
            other += [part for name, part in parts.items() if name not in skip]
        damaged += [Damage(folder / name, "a part before it is missing or damaged") for name in orphans]
    unreadable = [Damage(folder / name, reason) for name, reason in found.unreadable.items()]
    return Survey(good, other, damaged, unreadable, found.foreign)


def _chain(parts: Mapping[str, Summary]) -> tuple[list[Summary], list[str]]:
    """The chain of one job's parts that is read, and parts that no chain reaches. A finished chain is preferred, then
    the one that reaches furthest, then the one of fewer parts; of two alike the first by name, so that every reader
    chooses the same."""

    lengths = {folder: length for folder, length in _lengths(parts).items() if length}
    orphans = [folder for folder in parts if folder not in lengths]
    if not lengths:
        return [], orphans
    chain = [parts[min(lengths, key=lambda f: (not parts[f].final, -parts[f].step, lengths[f], f))]]
    while chain[-1].parent:
        chain.append(parts[chain[-1].parent])
    return chain[::-1], orphans


def _lengths(parts: Mapping[str, Summary]) -> dict[str, int]:
    """How many parts the chain has that ends in each of one job's parts; 0 where a part before it is missing. Each part
    is looked at once: a job of a week has ten thousand."""
    found: dict[str, int] = {}
    for folder in parts:
        way: list[str] = []
        here = folder
        while here in parts and here not in found:
            found[here] = 0  # for good, if the way leads back here: somebody forged a part
            way.append(here)
            here = _before(parts, parts[here])
        length = 0 if here == BEGINNING else found.get(here, 0)
        if here == BEGINNING or length:
            found |= {name: length + i for i, name in enumerate(reversed(way), 1)}
    return found


def _before(parts: Mapping[str, Summary], part: Summary) -> str:
    """The folder of the part that a part goes on from, `BEGINNING` for the first one, or nothing if it is missing."""
    if not part.parent:
        return "" if part.start else BEGINNING
    before = parts.get(part.parent)
    return part.parent if before is not None and before.step == part.start else ""
