"""The claims of one recipe as a folder decides them: what `lopsided check` and the explorer show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lopsided.core.recipe import Recipe
from lopsided.runs.manifest import Manifest
from lopsided.runs.recipe_run import RecipeRun, latest
from lopsided.runs.until_decided import looked, seeds_needed
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


def claims_of(recipe: Recipe, manifests: Sequence[Manifest], store: Store) -> Checked:
    """The claims from the newest looks of `--until-decided`, or else from the seeds that choose; of the largest scale
    that the folder has."""
    found = latest(manifests, recipe)
    if found is None:
        claims = [statement.not_run(recipe.name, "laptop") for statement in recipe.claims]
        return Checked(claims, [None] * len(claims), None, 0)
    decided = looked(found, store)
    found, results = found.grown(store)
    claims = found.marked(decided.claims if decided else found.claims(results), store)
    if results is None:
        return Checked(claims, [None] * len(claims), None, 0)
    seeds = decided.seeds if decided else found.seeds
    return Checked(claims, [seeds_needed(claim, seeds) for claim in claims], found, seeds)
