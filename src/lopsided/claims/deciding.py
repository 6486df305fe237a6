"""Claims from stored results: what their tests find, and what qualifies a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from lopsided.claims.assumption import Assumption
from lopsided.claims.readings import Measured
from lopsided.claims.recipe import Recipe
from lopsided.claims.setting import Counterparts, differences, settings_of
from lopsided.claims.settled import long_enough
from lopsided.claims.statement import Own, Statement
from lopsided.core.arms import ArmSpec, ScaleName, kept_name
from lopsided.core.errors import InputError
from lopsided.results import sweeps
from lopsided.results.stored import Results
from lopsided.results.sweeps import Tuned
from lopsided.stats.bounded import made_of_times
from lopsided.stats.decisions import LEVEL
from lopsided.stats.selection import FOLDS, folds
from lopsided.stats.verdict import DECIDED, Claim, Decision, Reason, Verdict


def decide(recipe: Recipe, results: Results) -> list[Claim]:
    """A recipe's claims.

    Where a claim compares arms at their best settings, it says how many of the three folds of seeds, each choosing
    alone for the others, lead to the same verdict. A best setting that lies at an end of its sweep leaves the claim
    inconclusive: beyond that end may lie a better one.
    """
    least = min(len(each.seeds) for each in results.arms.values())
    if least < recipe.least_seeds:
        return [statement.not_run(recipe.name, results.scale) for statement in recipe.claims]
    choosers = _choosers(results)
    rotated = [replace(results, chooser=k) for k in choosers]
    claims = []
    for statement in recipe.claims:
        found, chosen = found_of(recipe, statement, results), statement.test.chosen(results)
        others: list[Verdict] = [found_of(recipe, statement, each).verdict for each in rotated] if chosen else []
        claims.append(qualified(recipe, statement, results, found, chosen, others))
    return claims


def _choosers(results: Results) -> Sequence[int]:
    """The folds that may choose alone; none where nothing is swept, or where there are too few seeds."""
    swept = any(arm.swept for arm in results.arms.values())
    return range(FOLDS) if swept and all(folds(arm.seeds).any() for arm in results.arms.values()) else ()


def found_of(recipe: Recipe, statement: Statement, results: Results, level: float = LEVEL) -> Decision:
    """What a claim's test finds. A verdict against a level at the end of training stands only if the runs were long
    enough for it (`lopsided.claims.settled`). Raises `InputError` if the test gives no `Decision`."""
    found, ends = statement.test.decide(results, level), statement.test.ends
    if not isinstance(found, Decision):  # a function of somebody's own recipe may return anything
        raise InputError(
            f"claim {statement.claim!r}: its test has to return a Decision, as the functions of "
            f"lopsided.stats.decisions do, not {type(found).__name__}"
        )
    measured = [each for each in statement.test.readings if isinstance(each, Measured)]
    found = made_of_times(found, max((each.apart(results) for each in measured), default=0.0))
    if found.verdict not in ("contradicted", "negligible") or not ends:
        return found
    if long_enough(results, ends, papers(recipe), level):
        return found
    return found._replace(verdict="inconclusive", reason="budget")


def qualified(
    recipe: Recipe,
    statement: Statement,
    results: Results,
    found: Decision,
    chosen: Sequence[Tuned],
    others: Sequence[Verdict] = (),
) -> Claim:
    """The claim, with the folds that agree, the ends of sweeps, why it is open, and how far it is from the paper.
    `others` are the verdicts where each fold chose alone."""
    ends = {f"{key} = {arm.coordinates[key]:g} of {t.name!r}" for t in chosen for arm, key in t.edges}
    agree = (sum(each == found.verdict for each in others), len(others)) if others else None
    found = at_edges(found) if ends else found
    lost = most_diverged(results, statement.test.reads(results.arms))
    claim = with_reason(statement.with_what(found, recipe.name, results.scale), found, bool(ends), lost)
    return replace(claim, folds_agree=agree, at_edge=tuple(sorted(ends)), **about(recipe, statement, results))


def at_edges(found: Decision) -> Decision:
    """What was found where a best setting lies at an end of its sweep: beyond it may lie a better one."""
    return found._replace(verdict="inconclusive") if found.verdict in DECIDED else found


def with_reason(claim: Claim, found: Decision, at_edge: bool, lost: bool = False) -> Claim:
    """The claim with why it is open."""
    return replace(claim, reason=reason_of(found, at_edge, lost))


def most_diverged(results: Results, names: Iterable[str]) -> bool:
    """Whether half or more of one of these arms diverged, at each of its settings."""
    swept = sweeps.groups([results.arms[name] for name in names if results.arms[name].seeds]).values()
    return any(all(arm.diverged.mean() >= 0.5 for arm in group) for group in swept)


def reason_of(found: Decision, at_edge: bool, lost: bool = False) -> Reason:
    """Why a claim is open; empty for others. `lost`: whether an arm diverged."""
    if found.verdict != "inconclusive":
        return ""
    # First what a wider sweep would change: with a better setting, neither budget nor seeds may be missing.
    if at_edge:
        return "edge"
    if found.reason:
        return found.reason
    if found.rivals is not None and not found.rivals.agree:
        return "rivals"
    if found.effect is None:  # too few members learned
        return "diverged" if lost else "budget"
    low, high = found.interval
    return "ties" if low is not None and low == high else "seeds"  # without bounds there are too few members


def about(recipe: Recipe, statement: Statement, results: Results) -> dict[str, Any]:
    """How many members of the arms that a claim reads diverged, how far these arms are from the paper's, and what the
    paper does not give (nothing for claims that no paper makes)."""
    names = statement.test.reads(results.arms)
    read = (_planned(recipe, results, name) for name in names)  # looked up only where a paper's arms are there
    diverged = sum(int(results.arms[name].diverged.sum()) for name in names)
    return distance(recipe, statement, read, results.scale) | {"diverged": diverged}


def distance(recipe: Recipe, statement: Statement, read: Iterable[ArmSpec], scale: str) -> dict[str, Any]:
    """How far the arms `read` by a claim are from the paper's, and what the paper does not give."""
    if isinstance(statement.source, Own) or not (paper := papers(recipe)).arms:
        return {"setting": (), "assumed": ()}
    read = list(read)
    setting = () if scale == "paper" else differences(read, paper)
    return {"setting": setting, "assumed": assumed(recipe.assumptions, read)}


def assumed(assumptions: Sequence[Assumption], arms: Sequence[ArmSpec]) -> tuple[str, ...]:
    """Fields of the assumptions that any of the arms rests on."""
    settings = [settings_of(each.spec) for each in arms]
    return tuple(each.field for each in assumptions if any(map(each.of, settings)))


@lru_cache(maxsize=8)
def papers(recipe: Recipe) -> Counterparts:
    """The arms at the paper's own numbers; none where the recipe has no such scale."""
    return Counterparts(recipe.arms_at("paper") if "paper" in recipe.scales else {})


def _planned(recipe: Recipe, results: Results, name: str) -> ArmSpec:
    """An arm as it was trained, with the function that makes it at other settings. (An arm that a longer sweep added is
    made as its neighbours are.)"""
    arm, plan = results.arms[name], recipe.arms_at(cast(ScaleName, results.scale))
    alike = (each for each in plan.values() if kept_name(each.coordinates, each.swept) == sweeps.kept_name(arm))
    make = plan[name].make if name in plan else next((each.make for each in alike), None)
    return ArmSpec(arm.spec, arm.coordinates, arm.swept, make)
