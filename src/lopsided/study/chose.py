"""The run that a plan was made from: the seeds that chose, with all rounds of their sweeps."""

from __future__ import annotations

from dataclasses import replace

from lopsided.core.errors import StoreError
from lopsided.store.parts import Store
from lopsided.study.looks import LookPlan, file_of
from lopsided.study.recipe_run import RecipeRun


class RowsGoneError(StoreError):
    """The folder lacks rows that its plan was made from: a part was damaged, or deleted."""


def choosing(asked: RecipeRun, plan: LookPlan) -> RecipeRun:
    """The run before its first round, of the plan's seeds, whatever number of seeds is asked for now."""
    return replace(asked, seeds=plan.first, arms=asked.base, rounds=())


def chose(
    asked: RecipeRun, plan: LookPlan, store: Store, whole: bool = False, known: RecipeRun | None = None
) -> RecipeRun:
    """The run of the seeds that chose, with every learning rate (or other setting) that was added to its sweeps.

    `known`: `asked` with what was added to its sweeps, if the caller has found that already; rows are then not read
    again where `asked` is of the same seeds. Raises `RowsGoneError` if arms of the plan are lacking, or (`whole`) any
    rows."""
    if known is not None and not whole and asked.seeds == plan.first and not asked.rounds:
        grown, results = known, None  # to read its rows a second time took a tenth of the time to decide claims
    else:
        grown, results = choosing(asked, plan).grown(store)
    lacking = [name for name in plan.arms if name not in grown.arms]
    if lacking or (whole and results is None):
        which = f"of {len(lacking)} arms such as {lacking[0]!r}" if lacking else "of seeds that chose"
        raise RowsGoneError(
            f"{file_of(store, asked.label)}: rows that it was made from are gone, {which}; "
            f"`lopsided run {asked.recipe.name} --until-decided` trains them again"
        )
    return grown
