"""Looks of `--until-decided`, for `lopsided status` and `query`: which is in hand, OUT/plans/<label>.look, and which
seeds the plan, OUT/plans/<label>.json, judges.

Nothing is decided from it, and reading it needs no JAX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from lopsided.store import records
from lopsided.store.files import replace_text
from lopsided.store.parts import Store
from lopsided.store.records import LONGEST, Hash, Record, Seed
from lopsided.store.survey import MemberId

ENDING = ".look"


class Look(Record):
    """One look, and whom it trains."""

    run: Annotated[str, Field(max_length=400)]
    specs: tuple[Hash, ...]
    seeds: tuple[Seed, ...]


class Judged(BaseModel):
    """What a plan says of its seeds. (`lopsided.study.until_decided` reads all of it.)"""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    first: Seed
    arms: tuple[str, ...]
    looks: Annotated[tuple[Annotated[int, Field(ge=1, le=LONGEST)], ...], Field(min_length=1)]


def judged(store: Store, label: str) -> Judged | None:
    """The seeds that the looks of a run judge; None where none are planned."""
    try:
        return Judged.model_validate_json(records.text_of(store.root / "plans" / f"{label}.json"))
    except (OSError, ValueError, RecursionError):
        return None


def tell(store: Store, label: str, said: str, specs: Sequence[str], seeds: Sequence[int]) -> None:
    """A look of the run `label` begins: what to call it, and its members."""
    found = Look(run=f"{label}, {said}", specs=tuple(specs), seeds=tuple(seeds))
    replace_text(store.root / "plans" / f"{label}{ENDING}", found.model_dump_json())


def end(store: Store, label: str) -> None:
    """The run has no further look."""
    (store.root / "plans" / f"{label}{ENDING}").unlink(missing_ok=True)


def in_hand(store: Store) -> dict[str, list[MemberId]]:
    """For each `--until-decided` run that is under way, by its name: the members that it trains for its next test."""
    every = (said for _, said in records.all_of(store.root / "plans", Look, ENDING))
    return {said.run: [(spec, seed) for spec in said.specs for seed in said.seeds] for said in every if said}
