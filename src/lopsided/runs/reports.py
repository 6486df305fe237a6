"""Reports of recipe runs: one page, and each figure as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lopsided.core.errors import InputError
from lopsided.runs.recipe_run import RecipeRun
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store
from lopsided.store.results import Results


def write_report(store: Store, runs: Sequence[tuple[RecipeRun, Results, list[Claim]]], page: Path) -> Path:
    """Page and figures of runs, each with its results and claims."""
    from lopsided.report.html import Section, write
    from lopsided.report.matplotlib_draw import save

    parts = [part for part in store.parts() if part.final]
    sections = []
    try:
        for asked, results, claims in runs:
            figure = asked.figure(results)
            folder = page.parent if page.parent.name == asked.label else page.parent / asked.label
            folder.mkdir(parents=True, exist_ok=True)
            save(figure, folder / "figure")
            hashes = {spec.content_hash() for spec in asked.arms.values()}
            made = [store.provenance(part) for part in parts if hashes & set(part.seeds)]
            sections.append(Section(asked.recipe, results, claims, figure, asked.overrides, made))
        return write(sections, page)
    except OSError as error:
        raise InputError(
            f"report {str(page)!r}: cannot be written ({error.strerror or error}); rows are safe"
        ) from None
