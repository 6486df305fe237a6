"""What a folder had of a run before the command that is about to begin, in words."""

from __future__ import annotations

from lopsided.store.parts import Store
from lopsided.study import manifest
from lopsided.study.looks import plan_in_force
from lopsided.study.manifest import Manifest
from lopsided.study.recipe_run import RecipeRun


def tested_before(asked: RecipeRun, store: Store) -> str:
    """A sentence if this run's claims were tested with fewer seeds before; otherwise "". Whoever adds seeds until a
    verdict pleases is wrong more often than a test promises."""
    if asked.scale == "smoke" or not asked.recipe.claims:
        return ""
    if (plan := plan_in_force(store, asked.label, asked.plan_key)) is not None:
        if asked.seeds == plan.first:
            return ""
        judge = f"seeds {plan.first} to {plan.first + plan.looks[-1] - 1} judge its claims, by a plan"
        return f"{asked.label}: {judge}; others enter no verdict (a new plan is one in another --out)"
    before = manifest.tested(store, asked.label)
    if not before or before >= asked.seeds or _all_others(asked, manifest.read(store, asked.label)):
        return ""
    return (
        f"{asked.label}: its claims were tested at {before} seeds before, and are now tested anew at "
        f"{asked.seeds}, each time at 5 %; --until-decided plans looks that are 5 % together"
    )


def replaces(asked: RecipeRun, store: Store) -> str:
    """A sentence if the folder's report is about to become one of fewer seeds, or of other specs; otherwise ""."""
    before = manifest.read(store, asked.label)
    if before is None:
        return ""
    if _all_others(asked, before):
        return (
            f"{asked.label}: its specs are others than before; the page is of the new ones, and what was trained "
            "before is among the members of no recipe"
        )
    now = {name: spec.content_hash() for name, spec in asked.arms.items()}
    if other := [name for name, arm in before.arms.items() if now.get(name, arm.hash) != arm.hash]:
        return f"{asked.label}: {_named(other)} other specs than before under this name; the page is of the new ones"
    if before.seeds > asked.seeds and plan_in_force(store, asked.label, asked.plan_key) is None:
        what = "the page" if (store.root / "reports" / asked.label / "index.html").is_file() else "this run"
        return f"{asked.label}: this folder has {before.seeds} seeds of it; {what} is now of {asked.seeds}"
    return ""


def _all_others(asked: RecipeRun, before: Manifest | None) -> bool:
    """Whether a file was edited so that all specs of its run are others: nothing of theirs was looked at."""
    there = () if before is None else before.arms.values()
    return not {arm.hash for arm in there} & {spec.content_hash() for spec in asked.arms.values()}


def _named(arms: list[str]) -> str:
    """Arms and the verb: `'a' and 2 more have`."""
    more = f" and {len(arms) - 1} more" if len(arms) > 1 else ""
    return f"{arms[0]!r}{more} {'have' if more else 'has'}"
