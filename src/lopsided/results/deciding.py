"""Claims from stored results, with what the choice of swept settings does to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lopsided.core.recipe import Recipe
from lopsided.results.stored import Results
from lopsided.results.sweeps import Tuned
from lopsided.stats.selection import FOLDS, folds
from lopsided.stats.verdict import AT_AN_END, DECIDED, Claim


def decide(recipe: Recipe, results: Results) -> list[Claim]:
    """A recipe's claims.

    Where a claim compares arms at their best settings, its test says how many of the three folds of seeds, each
    choosing alone for the others, lead to the same verdict. A best setting that lies at an end of its sweep leaves the
    claim inconclusive: beyond that end may lie a better one.
    """
    found = _decided(recipe, results)
    choosers = range(FOLDS) if any(arm.swept for arm in results.arms.values()) else ()
    if not all(folds(arm.seeds).any() for arm in results.arms.values()):
        choosers = ()
    rotated = [[claim for claim, _ in _decided(recipe, replace(results, chooser=k))] for k in choosers]
    others = zip(*rotated, strict=True) if rotated else [()] * len(found)
    return [
        _with_edges(_with_share(claim, verdicts), choices) if choices else claim
        for (claim, choices), verdicts in zip(found, others, strict=True)
    ]


def _decided(recipe: Recipe, results: Results) -> list[tuple[Claim, Sequence[Tuned]]]:
    """Every claim, and the sweeps that it chose from."""
    least = min(len(each.seeds) for each in results.arms.values())
    if least < recipe.least_seeds:
        return [(statement.not_run(recipe.name, results.scale), ()) for statement in recipe.claims]
    results = replace(results, choices=[])
    measured = recipe.measure(results) if recipe.measure else results
    shared = list(results.choices)
    found = []
    for statement in recipe.claims:
        results.choices.clear()
        claim = statement.decide(measured, recipe.name, results.scale)
        found.append((claim, [t for t in (*shared, *results.choices) if len(t.group) > 1]))
    return found


def _with_share(claim: Claim, others: Sequence[Claim]) -> Claim:
    if claim.verdict == "not run" or not others:
        return claim
    agree = sum(each.verdict == claim.verdict for each in others)
    return replace(claim, test=f"{claim.test}; {agree} of {len(others)} choosing folds agree")


def _with_edges(claim: Claim, choices: Sequence[Tuned]) -> Claim:
    ends = {f"{key} = {arm.coordinates[key]:g} of {t.name!r}" for t in choices for arm, key in t.edges}
    if not ends:
        return claim
    verdict = "inconclusive" if claim.verdict in DECIDED else claim.verdict
    said = f"{claim.test}; {AT_AN_END}: {', '.join(sorted(ends))}"
    return replace(claim, verdict=verdict, test=said)
