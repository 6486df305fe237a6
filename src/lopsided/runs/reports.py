"""Reports of recipe runs: one page, and each figure as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.results.stored import Results
from lopsided.runs.recipe_run import RecipeRun
from lopsided.stats.verdict import Claim
from lopsided.store.files import canonical
from lopsided.store.parts import Store

OF_ONE_PART = ("finished", "seconds")
"""What provenance says of a single part."""


def write_report(store: Store, runs: Sequence[tuple[RecipeRun, Results, list[Claim]]], page: Path) -> Path:
    """Page and figures of runs, each with its results and claims."""
    from lopsided.report.html import Section, write
    from lopsided.report.matplotlib_draw import save

    sections = []
    try:
        for asked, results, claims in runs:
            figure = asked.figure(results)
            folder = page.parent if page.parent.name == asked.label else page.parent / asked.label
            folder.mkdir(parents=True, exist_ok=True)
            save(figure, folder / "figure")
            sections.append(Section(asked.recipe, results, claims, figure, asked.overrides, made(store, asked)))
        return write(sections, page)
    except OSError as error:
        raise InputError(
            f"report {str(page)!r}: cannot be written ({error.strerror or error}); rows are safe"
        ) from None


def made(store: Store, asked: RecipeRun) -> list[dict[str, Any]]:
    """What made a run's parts, each once and in order of time: `first` and `last` say when, `parts` how many."""
    hashes = {spec.content_hash() for spec in asked.arms.values()}
    parts = [part for part in store.parts() if part.final and hashes & set(part.seeds)]
    found: dict[str, dict[str, Any]] = {}
    for each in sorted((p for part in parts for p in store.provenance(part)), key=lambda each: each["finished"]):
        what = {key: value for key, value in each.items() if key not in OF_ONE_PART}
        entry = found.setdefault(canonical(what), {**what, "first": each["finished"], "parts": 0})
        entry["last"], entry["parts"] = each["finished"], entry["parts"] + 1
    return list(found.values())
