"""Looks of `--until-decided`: the plan, OUT/plans/<label>.json, which look is in hand, <label>.look, and by how many
seeds each arm was judged, <label>.judged.

Nothing is decided here, and reading it needs no JAX: `lopsided status` and `query` do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lopsided.store import records
from lopsided.store.files import replace_text
from lopsided.store.parts import Store
from lopsided.store.records import LONGEST, Hash, Seed, StrictRecord
from lopsided.store.survey import MemberId
from lopsided.study.plan_key import plan_key

ENDING, JUDGED = ".look", ".judged"


class PlannedLook(StrictRecord):
    """One look, and whom it trains."""

    run: Annotated[str, Field(max_length=400)]
    specs: tuple[Hash, ...]
    seeds: tuple[Seed, ...]


class LookPlan(StrictRecord):
    """What `--until-decided` freezes before the first judged seed."""

    first: Seed
    """The first judged seed; those below chose."""
    arms: tuple[str, ...]
    """Arms that are judged: each sweep at its best setting, and `others`."""
    others: tuple[str, ...]
    """Rivals: settings that the choosing seeds cannot tell to be slower than their sweep's best, and settings that a
    claim names. A verdict has to stand against them, too (`lopsided.results.every_setting`)."""
    at_edges: tuple[str, ...]
    """Best arms that lie at an end of their sweep; claims that read them stay undecided."""
    best: tuple[str, ...]
    """The best arm of each sweep, the best of all first: a claim may ask for the best of several sweeps."""
    claims: tuple[str, ...]
    looks: Annotated[tuple[Annotated[int, Field(ge=1, le=LONGEST)], ...], Field(min_length=1)]
    """How many judged seeds there are at each look."""
    arms_hash: str
    """Digest of the names and specs of the recipe's arms: a plan is refused once they have changed."""
    tests: tuple[str, ...] = ()
    """Digest of the settings of each claim's test; () in plans of versions before 2026-11-28."""


class Judged(StrictRecord):
    """What the looks of a run were of so far: what an arm has more was trained for something else."""

    seeds: Mapping[str, Annotated[int, Field(ge=0, le=LONGEST)]]
    """By arm, how many seeds from the plan's first one on."""


def file_of(store: Store, label: str) -> Path:
    """Where the plan of a run is, if it has one."""
    return store.root / "plans" / f"{label}.json"


def plan_of(store: Store, label: str) -> LookPlan | None:
    """The plan of a run; None where nothing is planned, or the file is no plan of this version."""
    return records.read(file_of(store, label), LookPlan)


def plan_in_force(store: Store, label: str, key: str) -> LookPlan | None:
    """The plan of a run whose own digest is `key`; None if it was made for other arms, claims or tests, and is passed
    over. An empty key, of manifests before 2026-11-29, tells nothing."""
    plan = plan_of(store, label)
    if plan is None or not key or not plan.tests:
        return plan
    return plan if plan_key(plan.arms_hash, plan.claims, plan.tests) == key else None


def tell(store: Store, label: str, said: str, specs: Sequence[str], seeds: Sequence[int]) -> None:
    """A look of the run `label` begins: what to call it, and its members."""
    found = PlannedLook(run=f"{label}, {said}", specs=tuple(specs), seeds=tuple(seeds))
    replace_text(store.root / "plans" / f"{label}{ENDING}", found.model_dump_json())


def judged_of(store: Store, plan: LookPlan, label: str, hashes: Mapping[str, str]) -> dict[str, range]:
    """The seeds that the looks of a run judged each planned arm by. `hashes`: content hashes of the run's arms, by
    name, for a folder that does not say it (published rows of before 2026-12, and folders of before 2026-11-28): there,
    the seeds of as many looks as an arm has."""
    found = records.read(store.root / "plans" / f"{label}{JUDGED}", Judged)
    seeds = _of_whole_looks(store, plan, hashes) if found is None else found.seeds
    return {name: range(plan.first, plan.first + seeds.get(name, 0)) for name in plan.arms}


def _of_whole_looks(store: Store, plan: LookPlan, hashes: Mapping[str, str]) -> dict[str, int]:
    """By arm: how many judged seeds the largest planned look has whose seeds are all in the store; 0 if none has."""
    there = set(store.complete())

    def has(name: str, count: int) -> bool:
        return all((hashes.get(name, ""), plan.first + seed) in there for seed in range(count))

    return {name: max((count for count in plan.looks if has(name, count)), default=0) for name in plan.arms}


def took(store: Store, label: str, seeds: Mapping[str, int]) -> None:
    """Write down by how many seeds each arm was judged so far."""
    replace_text(store.root / "plans" / f"{label}{JUDGED}", Judged(seeds=seeds).model_dump_json())


def end(store: Store, label: str) -> None:
    """The run has no further look."""
    (store.root / "plans" / f"{label}{ENDING}").unlink(missing_ok=True)


def in_hand(store: Store) -> dict[str, list[MemberId]]:
    """For each `--until-decided` run that is under way, by its name: the members that it trains for its next test."""
    every = (said for _, said in records.all_of(store.root / "plans", PlannedLook, ENDING))
    return {said.run: [(spec, seed) for spec in said.specs for seed in said.seeds] for said in every if said}
