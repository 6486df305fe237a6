"""Whether a verdict depends on settings that somebody chose: a recipe at neighbouring settings, drawn from a key."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from lopsided.claims.nuisance import drawn
from lopsided.core.errors import InputError
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.progress import Progress
from lopsided.stats.signflip import FEWEST
from lopsided.stats.verdict import Claim, Neighbour, Neighbours
from lopsided.store import records
from lopsided.store.files import replace_text
from lopsided.store.parts import Store
from lopsided.store.paths import folder_in
from lopsided.store.records import StrictRecord
from lopsided.study import manifest
from lopsided.study.manifest import label_of
from lopsided.study.overrides import overridden
from lopsided.study.recipe_run import RecipeRun
from lopsided.work.done import Done, Request, Runner
from lopsided.work.worker import train

DRAWN = ".drawn"
MOST = 64
"""Neighbours of a run at most; the usual settings allow 53."""


class Drawn(StrictRecord):
    """How many neighbours of a run were asked for, OUT/plans/<label>.drawn: what somebody picked by --set is none."""

    count: Annotated[int, Field(ge=1, le=MOST)]


def neighbours(asked: RecipeRun, count: int, seeds: int | None = None) -> list[RecipeRun]:
    """The first `count` neighbours of an unchanged run, with `seeds` each: by default as many as a test needs. Raises
    `InputError` for a run that was changed by hand, and for a recipe without settings that may be changed."""
    if asked.overrides:
        raise InputError("--neighbours: of a recipe as it is; leave --set out")
    if not asked.recipe.claims:
        raise InputError(f"--neighbours: {asked.recipe.name} has no claims")
    if asked.scale == "smoke":
        raise InputError("--neighbours: the scale smoke has no verdicts")
    if not 1 <= count <= MOST:
        raise InputError(f"--neighbours {count}: between 1 and {MOST}")
    if not (possible := _possible(asked)):
        raise InputError(f"--neighbours: {asked.recipe.name} has no setting that may be changed (`nuisance`)")
    seeds = seeds or max(FEWEST, asked.recipe.least_seeds)
    every = (_changed(asked, changes, seeds) for changes in drawn(_key(asked), possible))
    return list(islice((each for each in every if each is not None), count))


def _key(asked: RecipeRun) -> str:
    return f"{asked.recipe.name} {asked.scale}"


def _possible(asked: RecipeRun) -> list[list[str]]:
    """For each setting that may be changed, the changes that the recipe can stand; a sweep moves its own."""
    swept = {key for arm in asked.recipe.arms_at(asked.scale).values() for key in arm.swept}
    every = (
        [change for change in each.changes if _changed(asked, (change,), 1) is not None]
        for each in asked.recipe.nuisance
        if each.field.rpartition(".")[2] not in swept  # a sweep's `lr` is the spec's `optimizer.lr`
    )
    return [changes for changes in every if changes]


def _changed(asked: RecipeRun, changes: tuple[str, ...], seeds: int) -> RecipeRun | None:
    """The run at a neighbouring setting; None if the recipe cannot stand it, or it changes nothing."""
    before = asked.recipe.specs(asked.scale)
    try:
        arms = overridden(asked.recipe.name, before, changes)
    except InputError:
        return None
    return None if arms == before else RecipeRun(asked.recipe, asked.scale, arms, seeds, changes, drawn=True)


def train_neighbours(
    runs: Sequence[RecipeRun],
    store: Store,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
    execution: Execution = DEFAULT,
    runner: Runner = train,
) -> Done:
    """Train all of them: first together, so that what differs in numbers alone shares a program, then what the sweeps
    of each lack."""
    store.require_writable()
    least = runs[0].seeds
    runs = [_as_before(run, store) for run in runs]
    for run in runs:
        run.note(store)
    file = folder_in(store.root, "plans") / f"{label_of(runs[0].recipe.name, runs[0].scale, ())}{DRAWN}"
    before = records.read(file, Drawn)
    replace_text(file, Drawn(count=max(len(runs), before.count if before else 1)).model_dump_json())
    specs = [spec for run in runs for spec in run.arms.values()]
    done = runner(Request(specs, least, store, progress, execution, stop or threading.Event()))
    for run in runs:
        more = run.train(store, progress, stop, execution, runner)
        done = done.plus(more._replace(already=0))  # they are those of before
    return done


def _as_before(run: RecipeRun, store: Store) -> RecipeRun:
    """The run with as many seeds as the folder has asked for: somebody may have given it more, by hand."""
    before = manifest.read(store, run.label)
    return run if before is None or before.seeds <= run.seeds else replace(run, seeds=before.seeds)


def with_neighbours(claims: Sequence[Claim], asked: RecipeRun, store: Store) -> list[Claim]:
    """The claims, with what the neighbours in the folder say of them; those that are not complete are left out."""
    begun = recorded(asked, store)
    found = _decided(begun, store)
    if not found:
        return list(claims)
    # The run itself, of as few seeds: a neighbour that finds the same changes nothing that the claim reads.
    seeds = dict.fromkeys(run.seeds for run, _ in found)
    own = [decided for _, decided in _decided([replace(asked, seeds=n, rounds=()) for n in seeds], store)]
    around = [[(run, each[i]) for run, each in found] for i in range(len(claims))]
    return [
        replace(claim, neighbours=_said(claim, [each[i] for each in own], around[i], len(begun) - len(found)))
        for i, claim in enumerate(claims)
    ]


def _decided(runs: Sequence[RecipeRun], store: Store) -> list[tuple[RecipeRun, list[Claim]]]:
    """The runs that are complete, with their claims."""
    every = [each.grown(store) for each in runs]
    return [(run, run.claims(results)) for run, results in every if results is not None]


def recorded(asked: RecipeRun, store: Store) -> list[RecipeRun]:
    """The neighbours that were asked for and that a folder remembers, in the order in which they were drawn."""
    if asked.overrides or not asked.recipe.claims or asked.scale == "smoke":
        return []
    files = (store.root / "runs").glob(f"{asked.label}-????????.json")
    known = {each.overrides: each for file in files if (each := manifest.read(store, file.stem)) is not None}
    asked_for = records.read(store.root / "plans" / f"{asked.label}{DRAWN}", Drawn)
    if not known or asked_for is None:
        return []
    every = (_changed(asked, changes, 1) for changes in drawn(_key(asked), _possible(asked)))
    first = islice((run for run in every if run is not None), asked_for.count)
    return [replace(run, seeds=known[run.overrides].seeds) for run in first if run.overrides in known]


def _said(claim: Claim, own: Sequence[Claim], around: Sequence[tuple[RecipeRun, Claim]], unfinished: int) -> Neighbours:
    """What neighbours say of a claim. `own`: the claim decided by as few seeds of the run itself."""
    side = True if claim.as_said is None else claim.as_said
    seen: set[Any] = {(each.effect, each.interval) for each in own if each.effect is not None}
    others: list[tuple[RecipeRun, Claim]] = []
    for run, other in around:
        if (measured := (other.effect, other.interval)) not in seen:
            others.append((run, other))
        if other.effect is not None:
            seen.add(measured)
    right, wrong = ("holds", "contradicted") if side else ("contradicted", "holds")
    return Neighbours(
        of=len(others),
        same=sum(other.as_said is side for _, other in others),
        certain=sum(other.verdict == right for _, other in others),
        against=sum(other.verdict == wrong for _, other in others),
        alike=len(around) - len(others),
        unfinished=unfinished,
        at=tuple(
            Neighbour(run.overrides, other.effect, other.interval, other.verdict, run.seeds, other.diverged or 0)
            for run, other in others
        ),
    )
