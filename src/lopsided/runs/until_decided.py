"""Seeds until every claim is decided: settings frozen first, then planned looks at seeds that chose nothing.

The seeds of an ordinary run choose among swept settings. What they chose, the claims and the looks are written to
OUT/plans/<label>.json before the first judged seed is trained, and hold from then on. At each look every open claim is
tested at that look's level (`lopsided.stats.sequential`). Arms that no open claim reads stop. Everything but the plan
is a function of stored rows, so a stopped run goes on, and `lopsided check` sees what it has.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError, StoreError
from lopsided.core.progress import Progress
from lopsided.results.stored import Results, load, recorded_reads
from lopsided.results.sweeps import bests
from lopsided.runs.recipe_run import RecipeRun
from lopsided.runs.worker import Done, run
from lopsided.stats import decisions, sequential
from lopsided.stats.sequential import LOOKS, level
from lopsided.stats.verdict import Claim
from lopsided.store.files import replace_text
from lopsided.store.parts import Store

DECIDED = ("holds", "contradicted")


@dataclass(frozen=True)
class Plan:
    """What is frozen before the first judged seed."""

    first: int
    """The first judged seed; those below chose."""
    arms: tuple[str, ...]
    """Arms that are judged, each sweep at its best setting."""
    at_edges: tuple[str, ...]
    """Those of them that lie at an end of their sweep; claims that read them stay undecided."""
    claims: tuple[str, ...]
    looks: tuple[int, ...] = LOOKS


@dataclass(frozen=True)
class State:
    """What the folder says so far."""

    claims: list[Claim]
    looks: int
    """Looks that are over."""
    results: Results | None
    """Of the last look."""
    wanted: tuple[str, ...]
    """Arms that the next look needs; none: everything is decided, or all looks are over."""
    seeds: int
    """Judged seeds at the last look."""


def until_decided(
    asked: RecipeRun,
    store: Store,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> tuple[State, Done]:
    """Train what chooses, then look after look what open claims read. Raises `Stopped` when `stop` is set."""
    if not asked.recipe.claims:
        raise InputError(f"--until-decided: {asked.recipe.name} has no claims to decide")
    plan, done = read(asked, store), Done(0, 0, 0.0, 0)
    if plan is None:
        done = asked.train(store, progress, stop)
        asked = asked.grown(store.as_of_now())
        plan = _write(asked, store.as_of_now())
    asked = asked.grown(store.as_of_now())
    while (state := replay(asked, plan, store.as_of_now())).wanted:
        judged = _seeds(plan, state.looks)
        done = done.plus(run([asked.arms[name] for name in state.wanted], judged, store, progress, stop=stop))
    return state, done


def looked(asked: RecipeRun, store: Store) -> State | None:
    """What the looks of a grown run have found so far; None where there was none."""
    plan = read(asked, store)
    state = replay(asked, plan, store) if plan else None
    return state if state and state.looks else None


def seeds_needed(claim: Claim, seeds: int) -> int | None:
    """Seeds an arm at which an undecided claim would be decided four times in five, if the measured effect is the true
    one; None for claims that are decided or have no p-value."""
    if claim.verdict != "inconclusive" or claim.p_value is None:
        return None
    return sequential.seeds_needed(claim.p_value, seeds)


def replay(asked: RecipeRun, plan: Plan, store: Store) -> State:
    """Every look that the folder has the rows for. `asked` is the grown run."""
    recipe = asked.recipe
    claims = [s.not_run(recipe.name, asked.scale) for s in recipe.claims]
    wanted, results = plan.arms, None
    for look, count in enumerate(plan.looks):
        seeds = dict.fromkeys(wanted, _seeds(plan, look))
        specs = {name: asked.arms[name] for name in wanted}
        found = load(store, recipe.name, asked.scale, specs, seeds, asked.planned)
        if found is None:
            return State(list(claims), look, results, wanted, plan.looks[look - 1] if look else 0)
        # Arms that stopped keep the seeds they had; no open claim reads them.
        results = replace(found, arms={**(results.arms if results else {}), **found.arms})
        wanted = _look(asked, plan, results, claims, look, count)
        if not wanted:
            return State(list(claims), look + 1, results, (), count)
    return State(list(claims), len(plan.looks), results, (), plan.looks[-1])


def _look(
    asked: RecipeRun, plan: Plan, results: Results, claims: list[Claim], look: int, count: int
) -> tuple[str, ...]:
    """Decide the open ones of `claims`, in place; the arms that those still open read, in the plan's order."""
    recipe, needed, at = asked.recipe, set(), level(look, plan.looks)
    with decisions.at_level(at):
        with recorded_reads() as shared:
            measured = recipe.measure(results) if recipe.measure else results
        for i, statement in enumerate(recipe.claims):
            if claims[i].verdict in DECIDED:
                continue
            with recorded_reads() as own:
                found = statement.decide(measured, recipe.name, asked.scale)
            said = f"{found.test}; look {look + 1} of {len(plan.looks)}, {count} seeds, level {at:.3g}"
            edges = sorted({*shared, *own} & set(plan.at_edges))
            if edges:
                found = replace(found, verdict="inconclusive")
                said = f"{said}; best at the end of its sweep: {', '.join(edges)}"
            claims[i] = replace(found, test=said)
            if found.verdict not in DECIDED and not edges:
                needed |= {*shared, *own}
    # What `measure` makes of all arms needs all of them.
    return plan.arms if needed and recipe.measure else tuple(name for name in plan.arms if name in needed)


def _seeds(plan: Plan, look: int) -> tuple[int, ...]:
    return tuple(range(plan.first, plan.first + plan.looks[look]))


def read(asked: RecipeRun, store: Store) -> Plan | None:
    """The plan that the folder holds for this run, if any. Raises `StoreError` if it is of other claims."""
    file = _file(asked, store)
    if not file.is_file():
        return None
    try:
        data: dict[str, Any] = json.loads(file.read_text())
        lists = {key: tuple(data[key]) for key in ("arms", "at_edges", "claims", "looks")}
        plan = Plan(first=int(data["first"]), **lists)
    except (OSError, ValueError, KeyError, TypeError):
        raise StoreError(f"{file}: is no plan; remove it to plan anew") from None
    if plan.claims != tuple(s.claim for s in asked.recipe.claims):
        raise StoreError(f"{file}: was made for other claims of {asked.recipe.name!r}; remove it to plan anew")
    return plan


def _write(asked: RecipeRun, store: Store) -> Plan:
    results = asked.results(store)
    assert results is not None
    tuned = bests(results, **{}) if any(arm.swept for arm in results.arms.values()) else []
    swept = {arm.name for each in tuned for arm in each.group if arm.swept}
    kept = [name for name in asked.arms if name not in swept]
    best = {each.arm.name: each.edges for each in tuned if each.arm.swept}
    arms = tuple(name for name in asked.arms if name in {*kept, *best})
    plan = Plan(asked.seeds, arms, tuple(n for n, edges in best.items() if any(a.name == n for a, _ in edges)),
                tuple(s.claim for s in asked.recipe.claims))  # fmt: skip
    file = _file(asked, store)
    file.parent.mkdir(exist_ok=True)
    replace_text(file, json.dumps(plan.__dict__, indent=1))
    return plan


def _file(asked: RecipeRun, store: Store) -> Path:
    return store.root / "plans" / f"{asked.label}.json"
