"""Claims as a folder decides them: the same for `lopsided run`, `check`, `report` and the explorer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lopsided.claims.recipe import Recipe
from lopsided.core.errors import StoreError
from lopsided.report import text
from lopsided.results.stored import Results
from lopsided.results.unfinished import so_far
from lopsided.stats.seeds_needed import seeds_needed
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store
from lopsided.study.manifest import Manifest, judging_plan
from lopsided.study.neighbours import with_neighbours
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.remembered import latest
from lopsided.study.until_decided import FolderState, looked


@dataclass(frozen=True)
class Checked:
    """A recipe's claims."""

    claims: list[Claim]
    needed: list[int | None]
    """For each claim that is open, the seeds that would probably decide it."""
    run: RecipeRun | None
    """The run that they are decided from; None where the folder has none that is complete."""
    seeds: int
    problem: str = ""
    """Why the plan of `--until-decided` that the folder has was passed over."""
    waiting: str = ""
    """Why no claim is decided yet, where the first look of such a plan is not over."""


@dataclass(frozen=True)
class FoundRun:
    """A run as far as the folder has it."""

    run: RecipeRun
    """With all rounds of its sweeps."""
    results: Results | None
    """Results of the seeds that choose settings; None while a member is missing."""
    claims: list[Claim]
    looks: FolderState | None = None
    """The looks of `--until-decided` that decide the claims; None if `results` do."""
    problem: str = ""
    """Why the plan of `--until-decided` that the folder has was passed over."""
    interim: str = ""
    """How far an unfinished run is: its report shows the arms that are complete, and no claims."""
    only_chose: str = ""
    """That the seeds shown chose, and others judged claims that are not known here; empty elsewhere."""

    @property
    def shown(self) -> Results | None:
        """What reports draw: the new seeds of the looks, which decided the claims, or else `results`. (Where settings
        are swept, the looks do not train all that a figure needs.)"""
        return (self.looks and self.looks.results) or self.results

    @property
    def seeds(self) -> int:
        """How many seeds an arm decided the claims, at most."""
        return self.looks.seeds if self.looks and self.looks.looks else self.run.seeds

    @property
    def judged_by(self) -> str:
        """A sentence that says which seeds decided the claims; empty if they are those that reports draw."""
        if self.problem:
            return text.plan_passed_over(self.problem, self.run.seeds)
        if self.looks is None:
            return self.only_chose
        if not self.looks.looks:
            return text.first_look(self.looks.first)
        drawn = None if self.looks.results else self.run.seeds
        return text.judged_by(self.looks.seeds, self.looks.first, drawn)


def found_in(asked: RecipeRun, store: Store) -> FoundRun:
    """The claims from the newest looks of `--until-decided`, or else from the seeds that choose."""
    grown, results = asked.grown(store)
    looks, problem = None, ""
    try:
        looks = looked(asked, store, grown)
    except StoreError as error:
        problem = str(error)
    judged = range(looks.first, looks.first + looks.seeds) if looks else ()
    claims = grown.marked(looks.claims if looks else grown.claims(results), store, judged)
    claims = with_neighbours(claims, asked, store)
    # A recipe file's run has no claims here: only the file has them.
    plan = None if asked.recipe.claims else judging_plan(store, asked.label)
    return FoundRun(grown, results, claims, looks, problem, only_chose=text.only_chose(plan.first) if plan else "")


def interim(asked: RecipeRun, store: Store) -> FoundRun | None:
    """The part of an unfinished run that a report can show: every arm up to the step to which its members were
    evaluated, without claims. None if nothing was evaluated."""
    results = so_far(store, asked.recipe.name, asked.scale, asked.arms, asked.seeds, asked.planned)
    if results is None:
        return None
    recipe = replace(asked.recipe, claims=[], shown=_with_its_metric(asked.recipe) if asked.recipe.shown else None)
    members = {(spec.content_hash(), seed) for spec in asked.arms.values() for seed in range(asked.seeds)}
    complete = members & set(store.complete())
    begun = sum((arm.spec.content_hash(), seed) not in complete for arm in results.arms.values() for seed in arm.seeds)
    missing = {spec for spec, _ in members - complete}
    arms = sum(spec.content_hash() not in missing for spec in asked.arms.values())
    half = f", {begun} that are half done are shown" if begun else ""
    said = f"{arms} of {len(asked.arms)} arms, {len(complete)} of {len(members)} members are complete{half}"
    said = f"Interim report: {said}. Claims are decided at the end."
    return FoundRun(replace(asked, recipe=recipe), results, [], interim=said)


def _with_its_metric(recipe: Recipe) -> Callable[[Results], list[str]]:
    """Names of the arms that have what the recipe reads first, for one whose own list is of complete arms."""
    return lambda results: [
        name for name, arm in results.arms.items() if arm.spec.until is not None or recipe.metric in arm.values
    ]


def claims_of(recipe: Recipe, manifests: Sequence[Manifest], store: Store) -> Checked:
    """The claims of the largest scale that the folder has."""
    asked = latest(manifests, recipe)
    if asked is None:
        claims = [statement.not_run(recipe.name, "laptop") for statement in recipe.claims]
        return Checked(claims, [None] * len(claims), None, 0)
    found = found_in(asked, store)
    if found.results is None:
        return Checked(found.claims, [None] * len(found.claims), None, 0, found.problem)
    needed = [seeds_needed(claim, found.seeds) for claim in found.claims]
    waiting = found.judged_by if found.looks is not None and not found.looks.looks else ""
    return Checked(found.claims, needed, found.run, found.seeds, found.problem, waiting)
