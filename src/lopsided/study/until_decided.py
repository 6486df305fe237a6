"""Seeds until every claim is decided: settings frozen first, then planned looks at seeds that chose nothing.

The seeds of an ordinary run choose among swept settings. What they chose, the claims and the looks are written to
OUT/plans/<label>.json before the first judged seed is trained, and hold from then on. At each look every open claim is
tested at that look's level (`lopsided.stats.sequential`). Arms that no open claim reads stop, and a sweep's other
settings are trained only once a claim that is decided at the best ones asks for them. Everything but the plan is a
function of stored rows, so a stopped run goes on, and `lopsided check` sees what it has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lopsided.claims.deciding import about, at_edges, found_of, most_diverged, with_reason
from lopsided.claims.recipe import Recipe
from lopsided.core.errors import InputError, StoreError
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.progress import Progress
from lopsided.core.telling import tell
from lopsided.results.stored import Arm, Results, load
from lopsided.results.sweeps import groups, kept_name, sweeps
from lopsided.stats.sequential import LOOKS, level
from lopsided.stats.verdict import DECIDED, NOT_RUN, Claim, Look
from lopsided.store.files import replace_text
from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.store.paths import folder_in
from lopsided.study import looks as look_in_hand
from lopsided.study import manifest
from lopsided.study.chose import RowsGoneError, choosing, chose
from lopsided.study.looks import LookPlan, file_of, plan_of
from lopsided.study.plan_key import arms_hash, tests_of
from lopsided.study.recipe_run import RecipeRun
from lopsided.work.done import Done, Request, Runner
from lopsided.work.worker import train


@dataclass(frozen=True)
class FolderState:
    """What the folder says so far."""

    claims: list[Claim]
    """Claims as the last look that is over left them."""
    looks: int
    """Looks that are over."""
    wanted: tuple[str, ...]
    """Arms that the present look needs; none: everything is decided, or all looks are over."""
    seeds: int
    """Judged seeds at the last look."""
    first: int
    """Seeds that chose."""
    judged: Mapping[str, int]
    """How many judged seeds each planned arm has."""
    results: Results | None = None
    """Results of the new seeds, as many as each arm has so far. None before the first look is over, and for a recipe
    that sweeps settings: its looks train only some of them."""


def until_decided(
    asked: RecipeRun,
    store: Store,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
    looks: tuple[int, ...] = (),
    runner: Runner = train,
    execution: Execution = DEFAULT,
) -> tuple[FolderState, Done]:
    """Train what chooses, then look after look what open claims read. `looks` is how many judged seeds there are at
    each one; none, those of the plan that the folder holds, or `LOOKS`. Raises `Stopped` when `stop` is set, and
    `InputError` for other looks than the plan's: each further test is one more chance of a wrong verdict."""
    plan, done, there = planned(asked, store, looks), Done(0, 0, 0.0, 0), set(store.complete())
    if plan is None:
        asked = _with_what_was_seen(asked, store)
        done = asked.train(store, progress, stop, execution, runner)
        plan = _written(asked, store, looks)
    try:
        asked = chose(asked, plan, store.as_of_now(), whole=True)
    except RowsGoneError:
        tell(f"{asked.label}: rows of the seeds that chose are gone; they are trained again")
        done = choosing(asked, plan).train(store, progress, stop, execution, runner)
        asked = chose(asked, plan, store.as_of_now(), whole=True)
    while (state := replay(asked, plan, store.as_of_now())).wanted:
        judged = _seeds(plan, state.looks)
        look_in_hand.took(store, asked.label, state.judged)
        _tell(asked, plan, state, store)
        specs = [asked.arms[name] for name in state.wanted]
        request = Request(specs, judged, store, progress, execution, stop or threading.Event())
        done = done.plus(runner(request))
    look_in_hand.took(store, asked.label, state.judged)
    look_in_hand.end(store, asked.label)
    choosers = {(spec.content_hash(), seed) for spec in asked.arms.values() for seed in range(plan.first)}
    looked_at = {
        (asked.arms[name].content_hash(), plan.first + seed)
        for name, seeds in state.judged.items()
        for seed in range(seeds)
    }
    # Not the sum over requests: each look asks for the seeds of those before it, too.
    return state, done._replace(already=len((choosers | looked_at) & there))


def _with_what_was_seen(asked: RecipeRun, store: Store) -> RecipeRun:
    """The run with as many choosing seeds as its claims were ever tested at: seeds whose verdict somebody has seen may
    choose settings, and must not judge claims."""
    if (before := manifest.tested(store, asked.label)) <= asked.seeds:
        return asked
    tell(f"{asked.label}: its claims were tested at {before} seeds before; these choose, and new ones judge")
    return replace(asked, seeds=before)


def planned(asked: RecipeRun, store: Store, looks: tuple[int, ...]) -> LookPlan | None:
    """The plan that the folder holds, if any. Raises `InputError` if it is of other `looks`, or if there is nothing to
    decide, and as `read` does."""
    if not asked.recipe.claims:
        raise InputError(f"--until-decided: {asked.recipe.name} has no claims to decide")
    plan = read(asked, store)
    if plan is not None and looks and looks != plan.looks:
        fixed = " ".join(map(str, plan.looks))
        raise InputError(f"--looks: {file_of(store, asked.label)} has fixed {fixed}; other looks need another --out")
    return plan


def looked(asked: RecipeRun, store: Store, grown: RecipeRun | None = None) -> FolderState | None:
    """What the looks of a run have found so far; None where there is no plan. `grown`: what the run grows to, where
    that is known. Raises `StoreError` if the plan is of other claims."""
    plan = read(asked, store) if asked.recipe.claims else None
    return replay(chose(asked, plan, store, known=grown), plan, store) if plan else None


def replay(asked: RecipeRun, plan: LookPlan, store: Store) -> FolderState:
    """Every look that the folder has the rows for. `asked` is the run whose seeds chose, grown."""
    recipe = asked.recipe
    claims = [s.not_run(recipe.name, asked.scale) for s in recipe.claims]
    arms = {name: _without_seeds(asked, name) for name in plan.arms}
    wanted = tuple(name for name in plan.arms if name not in plan.others)
    judged_results: Results | None = None
    for look, count in enumerate(plan.looks):
        judged, behind, before = _seeds(plan, look), set(wanted), list(claims)
        while behind:
            specs = {name: asked.arms[name] for name in plan.arms if name in behind}
            found = load(store, recipe.name, asked.scale, specs, dict.fromkeys(specs, judged), asked.planned)
            if found is None:
                seeds = plan.looks[look - 1] if look else 0
                return FolderState(before, look, wanted, seeds, plan.first, _counted(arms), judged_results)
            # Arms that stopped keep the seeds they had; no open claim reads them.
            arms |= found.arms
            looked_at = replace(found, arms=dict(arms), frozen=plan.best)
            needed, behind = _look(asked, plan, looked_at, claims, look)
            wanted = tuple(name for name in plan.arms if name in {*wanted, *behind})
        if not plan.best:
            judged_results = replace(found, arms=dict(arms))
        if count >= recipe.least_seeds:
            wanted = needed
        if not wanted:
            return FolderState(claims, look + 1, (), count, plan.first, _counted(arms), judged_results)
    return FolderState(claims, len(plan.looks), (), plan.looks[-1], plan.first, _counted(arms), judged_results)


def _counted(arms: Mapping[str, Arm]) -> dict[str, int]:
    return {name: len(arm.seeds) for name, arm in arms.items()}


def _without_seeds(asked: RecipeRun, name: str) -> Arm:
    """An arm before the first of its judged seeds is trained."""
    spec, planned = asked.arms[name], asked.planned[name]
    steps = np.array(spec.evaluation.points(spec.steps))
    nothing = np.zeros(len(steps))
    at = {"coordinates": planned.coordinates, "swept": planned.swept}
    return Arm(name, spec, (), steps, nothing, nothing, 0.0, np.zeros(0, bool), {}, **at)


def _look(
    asked: RecipeRun, plan: LookPlan, results: Results, claims: list[Claim], look: int
) -> tuple[tuple[str, ...], set[str]]:
    """Decide the open ones of `claims`, in place. Returns the arms that those still open read, in the plan's order, and
    the arms that have to be trained before all of them can be looked at."""
    recipe, judged = asked.recipe, plan.looks[look]
    needed, behind = set[str](), set[str]()
    if judged < recipe.least_seeds:
        return (), behind
    at = Look(look + 1, len(plan.looks), judged, level(look, plan.looks))
    for i, statement in enumerate(recipe.claims):
        if claims[i].verdict in DECIDED or claims[i].reason == "edge":
            continue  # no seeds decide what lies at an end of its sweep
        reads = statement.test.reads(results.arms, plan.best)
        lacking = {name for name in reads if len(results.arms[name].seeds) < judged}
        found = NOT_RUN if lacking else found_of(recipe, statement, results, at.level)
        lacking |= _sweeps_of(found.needs, results)
        if lacking:
            behind |= lacking
            continue
        edges = tuple(sorted(set(reads) & set(plan.at_edges)))
        found = at_edges(found) if edges else found
        lost = most_diverged(results, reads)
        claim = with_reason(statement.with_what(found, recipe.name, asked.scale), found, bool(edges), lost)
        claims[i] = replace(claim, look=at, at_edge=edges, **about(recipe, statement, results))
        if found.verdict not in DECIDED and not edges:
            needed |= set(reads)
    return tuple(name for name in plan.arms if name in needed), behind


def _sweeps_of(names: Sequence[str], results: Results) -> set[str]:
    """The planned settings of these arms' sweeps that lack seeds of theirs: a claim that asks for one of them will ask
    for the others, too."""
    every = groups(list(results.arms.values()))
    return {each.name for name in names for each in every[kept_name(results.arms[name])]}


def _seeds(plan: LookPlan, look: int) -> tuple[int, ...]:
    return tuple(range(plan.first, plan.first + plan.looks[look]))


def read(asked: RecipeRun, store: Store) -> LookPlan | None:
    """The plan that the folder holds for this run, if any. Raises `StoreError` if it is of other claims or arms."""
    file = file_of(store, asked.label)
    if not file.is_file():
        return None
    if (plan := plan_of(store, asked.label)) is None:
        raise StoreError(f"{file}: is no plan of this version; remove it to plan anew")
    claims = tuple(s.claim for s in asked.recipe.claims)
    for what, same in ("claims", plan.claims == claims), ("arms", plan.arms_hash == arms_hash(asked.base)):
        if not same:
            raise StoreError(f"{file}: was made for other {what} of {asked.recipe.name!r}; move it away to plan anew")
    for claim, then, now in zip(plan.claims, plan.tests, tests_of(asked.recipe), strict=False):
        if then != now:
            raise StoreError(
                f"{file}: was made for another test of {claim!r}, and seeds were looked at since; seeds that nobody "
                "has seen are in another --out"
            )
    return plan


def _written(asked: RecipeRun, store: Store, looks: tuple[int, ...]) -> LookPlan:
    """Write a plan of looks made from the seeds that chose, and return it. If another process has written one for this
    run in the meantime, that one stands and is returned."""
    found = _made(asked, store.as_of_now(), looks or LOOKS)
    with Leases(store.root).lock():
        if (theirs := planned(asked, store, looks)) is not None:
            return theirs
        file = file_of(store, asked.label)
        folder_in(file.parent.parent, file.parent.name)
        replace_text(file, found.model_dump_json(indent=1))
        return found


def _made(asked: RecipeRun, store: Store, looks: tuple[int, ...]) -> LookPlan:
    """The plan that the seeds that chose lead to."""
    asked, results = asked.grown(store)
    assert results is not None
    tuned = sorted(sweeps(results), key=lambda each: each.score)
    swept, best = {arm.name for each in tuned for arm in each.group}, {each.arm.name for each in tuned}
    others = {arm.name for each in tuned for arm in each.rivals} | (
        _named(asked.recipe, results.arms, best) & swept - best
    )
    left_out = swept - best - others
    return LookPlan(
        first=asked.seeds,
        arms=tuple(name for name in asked.arms if name not in left_out),
        others=tuple(name for name in asked.arms if name in others),
        at_edges=tuple(each.arm.name for each in tuned if any(arm.name == each.arm.name for arm, _ in each.edges)),
        best=tuple(each.arm.name for each in tuned),
        claims=tuple(s.claim for s in asked.recipe.claims),
        looks=looks,
        arms_hash=arms_hash(asked.base),
        tests=tests_of(asked.recipe),
    )


def _named(recipe: Recipe, arms: Mapping[str, Arm], best: Collection[str]) -> set[str]:
    """The arms that claims name by their settings, whatever their sweep found best."""
    return {name for statement in recipe.claims for name in statement.test.reads(arms, tuple(best))}


def _tell(asked: RecipeRun, plan: LookPlan, state: FolderState, store: Store) -> None:
    still_open = sum(claim.verdict not in DECIDED for claim in state.claims)
    said = f"look {state.looks + 1} of {len(plan.looks)}, {still_open} open"
    specs = [asked.arms[name].content_hash() for name in state.wanted]
    look_in_hand.tell(store, asked.label, said, specs, _seeds(plan, state.looks))
