"""The run that a plan was made from: the seeds that chose, with all rounds of their sweeps."""

from __future__ import annotations

from dataclasses import replace

from lopsided.core.errors import StoreError
from lopsided.store.parts import Store
from lopsided.study.looks import Plan, file_of
from lopsided.study.recipe_run import RecipeRun


def choosing(asked: RecipeRun, plan: Plan) -> RecipeRun:
    """The run before its first round, of the plan's seeds, whatever number of seeds is asked for now."""
    return replace(asked, seeds=plan.first, arms=asked.base, rounds=())


def gone(asked: RecipeRun, plan: Plan, store: Store) -> bool:
    """Whether the folder lacks rows that the plan was made from: a part was damaged, or deleted."""
    grown, results = choosing(asked, plan).grown(store)
    return results is None or not set(plan.arms) <= set(grown.arms)


def chose(asked: RecipeRun, plan: Plan, store: Store) -> RecipeRun:
    """The run with all of its rounds. Raises `StoreError` if it lacks arms of the plan."""
    grown = choosing(asked, plan).grown(store)[0]
    if lacking := [name for name in plan.arms if name not in grown.arms]:
        raise StoreError(
            f"{file_of(store, asked.label)}: rows that it was made from are gone, of {len(lacking)} arms such as "
            f"{lacking[0]!r}; `lopsided run {asked.recipe.name} --until-decided` trains them again"
        )
    return grown
