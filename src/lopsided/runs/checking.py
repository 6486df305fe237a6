"""Claims as a folder decides them: the same for `lopsided run`, `check`, `report` and the explorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lopsided.core.errors import StoreError
from lopsided.core.recipe import Recipe
from lopsided.report import text
from lopsided.results.stored import Results
from lopsided.runs.manifest import Manifest
from lopsided.runs.recipe_run import RecipeRun, latest
from lopsided.runs.until_decided import looked
from lopsided.stats.seeds_needed import seeds_needed
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store


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
    """See `Found`."""


@dataclass(frozen=True)
class Found:
    """A run as far as the folder has it."""

    run: RecipeRun
    """With all rounds of its sweeps."""
    results: Results | None
    """Of the seeds that choose settings; None while a member is missing."""
    claims: list[Claim]
    judged: int | None = None
    """New seeds an arm that decided the claims (`--until-decided`); None if `results` did."""
    chose: int = 0
    """How many seeds chose the settings at which those were judged."""
    of_looks: Results | None = None
    """Of those new seeds, where no setting is swept."""
    problem: str = ""
    """Why the plan of `--until-decided` that the folder has was passed over."""

    @property
    def shown(self) -> Results | None:
        """What reports draw: the seeds that decided the claims, or those that chose where a sweep has no others."""
        return self.of_looks or self.results

    @property
    def judged_by(self) -> str:
        """A sentence that says which seeds decided the claims; empty if they are those that reports draw."""
        if self.problem:
            return text.plan_passed_over(self.problem, self.run.seeds)
        if self.judged is None:
            return ""
        drawn = None if self.of_looks else self.run.seeds
        return text.judged_by(self.judged, self.chose, drawn)


def found_in(asked: RecipeRun, store: Store) -> Found:
    """The claims from the newest looks of `--until-decided`, or else from the seeds that choose."""
    grown, results = asked.grown(store)
    decided, problem = None, ""
    try:
        decided = looked(asked, store)
    except StoreError as error:
        problem = str(error)
    claims = grown.marked(decided.claims if decided else grown.claims(results), store)
    judged, chose, shown = (decided.seeds, decided.first, decided.results) if decided else (None, 0, None)
    return Found(grown, results, claims, judged, chose, shown, problem)


def claims_of(recipe: Recipe, manifests: Sequence[Manifest], store: Store) -> Checked:
    """The claims of the largest scale that the folder has."""
    asked = latest(manifests, recipe)
    if asked is None:
        claims = [statement.not_run(recipe.name, "laptop") for statement in recipe.claims]
        return Checked(claims, [None] * len(claims), None, 0)
    found = found_in(asked, store)
    if found.results is None:
        return Checked(found.claims, [None] * len(found.claims), None, 0, found.problem)
    seeds = found.judged or found.run.seeds
    return Checked(
        found.claims, [seeds_needed(claim, seeds) for claim in found.claims], found.run, seeds, found.problem
    )
