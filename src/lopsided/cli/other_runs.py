"""Runs of a folder that `lopsided check` has no claims of: unfinished ones, and those that were changed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from lopsided.core.telling import printable

if TYPE_CHECKING:
    from lopsided.claims.recipe import Recipe
    from lopsided.store.parts import Store
    from lopsided.study.manifest import Manifest


class OtherRun(NamedTuple):
    """A run, or looks of one, that `check` has no claims of."""

    run: str
    done: int
    members: int
    changes: list[str]
    where: str
    """Where the verdicts of a run that was changed by hand are; empty for one that is not finished."""


def other_runs(
    names: Sequence[str], manifests: Sequence[Manifest], asked: Sequence[Recipe], store: Store
) -> list[OtherRun]:
    """Runs that are not finished, looks among them, and those that were changed by hand: all, or of recipes that were
    asked for by `names`."""
    from lopsided.study.manifest import called
    from lopsided.study.others import members_of

    complete, theirs = set(store.complete()), {recipe.name for recipe in asked}
    by_label = {each.label: each for each in manifests if not names or each.recipe in theirs}
    runs = members_of(store, list(by_label.values()))
    shown, changes = called(runs, manifests)
    found = []
    for label, members in runs.items():
        done, run = len(complete & set(members)), by_label.get(label)
        if run is None and label.partition(",")[0] not in by_label:
            continue  # a look of another recipe
        if done < len(set(members)):
            found.append(OtherRun(shown[label], done, len(set(members)), changes[label], ""))
        elif run is not None and run.overrides and not run.drawn:
            found.append(OtherRun(shown[label], done, done, changes[label], where_verdicts_are(run, store)))
    return found


def say_other_runs(found: Sequence[OtherRun]) -> None:
    """Print a line for each."""
    for each in found:
        if each.done < each.members:
            there = f"{each.done} of {each.members} members"
            print(f"Unfinished: {printable(each.run)}, {there}; the same command goes on")
        else:
            print(f"Changed by hand: {printable(each.run)}, {each.members} members ({each.where})")


def where_verdicts_are(run: Manifest, store: Store) -> str:
    """Where the verdicts of a run that was changed by hand are."""
    from lopsided.core.registry import registered
    from lopsided.study.targets import OF_A_SPEC

    if run.scale == "smoke":
        return "smoke: no verdicts"
    if run.recipe.startswith(OF_A_SPEC):
        return "a spec, which makes no claims"
    if run.recipe in registered("recipe"):
        return "`lopsided report` has its verdicts"
    page = store.root / "reports" / run.label / "index.html"
    return f"its verdicts: {printable(str(page))}" if page.is_file() else "the command that ran it has its verdicts"
