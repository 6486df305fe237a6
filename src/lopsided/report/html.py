"""Self-contained HTML pages: the report of one or more recipe runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FunctionLoader

from lopsided.claims.counts import counts
from lopsided.core.provenance import software
from lopsided.figures.panels import Figure
from lopsided.report.neighbour_curve import curve
from lopsided.report.page_file import MARK, of_folder
from lopsided.report.plotly_draw import panel_html
from lopsided.report.summary import arm_summaries
from lopsided.report.text import never_learned, number, rules, to_learn
from lopsided.report.took import took
from lopsided.report.words import (
    counts_text,
    coverage_text,
    effect_text,
    how_decided,
    neighbour_seeds,
    paper_text,
    setting_text,
)
from lopsided.results.stored import Results
from lopsided.stats.verdict import Claim
from lopsided.store.files import replace_text


class Section(NamedTuple):
    """One recipe's part of a report."""

    recipe: Any
    results: Results
    claims: Sequence[Claim]
    judged: str
    """Which seeds decided the claims, where these are not those of `results` (see `report.text`)."""
    figure: Figure
    overrides: Sequence[str]
    provenance: Sequence[dict[str, Any]]
    title: str = ""
    """What the run is called, with what was changed by hand."""
    interim: str = ""
    """How far an unfinished run is; empty for one that is complete."""
    mixed: str = ""
    """That rows of several versions of the code are shown, where no claim says so."""
    drawn: bool = False
    """Whether a key drew the changes (`--neighbours`), and nobody made them by hand."""


def write(sections: Sequence[Section], path: Path, folder: Path | None = None) -> Path:
    """Write the page; everything it needs (scripts too) is inside. `folder`: the store that it is of."""
    first = True
    views = []
    for section in sections:
        panels = []
        arms = arm_summaries(section.results, section.recipe)
        for panel in section.figure.panels:
            panels.append(panel_html(panel, first))
            first = False
        shown = [section.results[a["name"]] for a in arms]
        views.append(
            {
                "section": section,
                "recipe": section.recipe,
                "about": (section.recipe.about or "").strip(),
                "arms": arms,
                "rules": rules(arms),
                "counts": counts_text(counts(section.claims)),
                "coverage": coverage_text(section.claims),
                "neighbours": list(filter(None, map(curve, section.claims))),
                "neighbour_seeds": neighbour_seeds(section.claims),
                "specs": {a.name: json.dumps(a.spec.model_dump(mode="json"), indent=1) for a in shown},
                "hashes": {a.name: a.spec.content_hash() for a in shown},
                "panels": panels,
            }
        )
    return write_page(path, "report.html.jinja", views=views, folder="" if folder is None else of_folder(folder))


def write_page(path: Path, template: str, **values: Any) -> Path:
    """Fill a template of this package in; the file is there whole, or not at all."""
    load = FunctionLoader(lambda name: files("lopsided.report").joinpath(name).read_text())
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=load)
    environment.filters |= {
        "number": number,
        "effect": effect_text,
        "test": how_decided,
        "paper": paper_text,
        "setting": setting_text,
        "to_learn": to_learn,
        "never_learned": never_learned,
        "took": took,
    }
    text = environment.get_template(template).render(**{"folder": "", **values}, mark=MARK, software=software())
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, text)
    return path
