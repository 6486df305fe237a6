"""Reports of recipe runs: one page, and each figure as a picture."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.store.files import canonical
from lopsided.store.parts import Store
from lopsided.store.paths import folder_in
from lopsided.store.status import time_of
from lopsided.study.checking import FoundRun
from lopsided.study.own_code import mixed_text
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.targets import plain_curves

OF_ONE_PART = ("finished", "seconds", "operations", "specs")
"""What provenance says of a single part."""


def write_report(store: Store, runs: Sequence[FoundRun], page: Path, names: Mapping[str, str] = {}) -> Path:
    """Page and figures of the runs that have results. `names`: what runs are called beside one another, by label."""
    from lopsided.report.html import Section, write
    from lopsided.report.matplotlib_draw import save

    sections, begun = [], []
    try:
        for found in runs:
            asked, results = found.run, found.shown
            if results is None:
                continue
            figure = plain_curves(asked.title, results, asked.recipe.metric) if found.interim else asked.figure(results)
            # A run's own page has its pictures beside it; a page of several has one folder for all of theirs.
            own = page.parent.name == asked.label
            folder = page.parent if own else page.parent / f"{page.stem}-files" / asked.label
            if folder.is_relative_to(store.root):
                folder_in(store.root, *folder.relative_to(store.root).parts)
            if not folder.exists():
                begun.append(folder)
            folder.mkdir(parents=True, exist_ok=True)
            save(figure, folder / "figure")
            section = Section(
                asked.recipe,
                results,
                found.claims,
                found.judged_by,
                figure,
                asked.overrides,
                made(store, asked),
                names.get(asked.label, asked.title),
                found.interim,
                "" if found.claims else mixed_text(asked.arms.values(), store, range(asked.seeds)),
                asked.drawn,
            )
            sections.append(section)
        return write(sections, page, store.root)
    except OSError as error:
        _leave_nothing(begun)
        raise InputError(
            f"report {str(page)!r}: cannot be written ({error.strerror or error}); rows are safe"
        ) from None
    except BaseException:
        _leave_nothing(begun)
        raise


def _leave_nothing(folders: Sequence[Path]) -> None:
    """Remove folders that were made for a page that could not be written: the next try would take them for
    somebody's."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # others have theirs in it
            folder.parent.rmdir()


def made(store: Store, asked: RecipeRun) -> list[dict[str, Any]]:
    """What made a run's parts, each once and in order of time: `first` and `last` say when, `parts` how many were the
    last of their jobs, `took` where the time went (see `lopsided.store.status`)."""
    hashes = {spec.content_hash() for spec in asked.arms.values()}
    parts = [part for part in store.parts() if hashes & set(part.seeds)]
    found: dict[str, dict[str, Any]] = {}
    several: dict[str, list[dict[str, Any]]] = {}
    every = [(each, part.final) for part in parts for each in store.provenance(part, hashes)]
    for each, final in sorted(every, key=lambda pair: pair[0]["finished"]):
        what = {key: value for key, value in each.items() if key not in OF_ONE_PART}
        entry = found.setdefault(canonical(what), {**what, "first": each["finished"], "parts": 0})
        entry["last"], entry["parts"] = each["finished"], entry["parts"] + final
        several.setdefault(canonical(what), []).append(each)
    return [{**entry, "took": time_of(several[key])} for key, entry in found.items()]
