"""The page of `lopsided skills`: what was found, how stable it is, sizes, a map, examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lopsided.figures.panels import PALETTE, Line, Panel
from lopsided.report.html import write_page
from lopsided.report.plotly_draw import panel_html

if TYPE_CHECKING:
    from lopsided.discovery.discover import Discovered

SHOWN_ON_MAP = 4000
"""Points of the map; more hide one another, and make a page of megabytes."""
LETTERS = 300
"""Letters shown of an example."""


def write_skills(path: Path, found: Discovered, table: Path, text: str | None) -> Path:
    """Write the page; examples are shown where `text` names a column of the table."""
    from lopsided.discovery.tables import rows_of

    shown = {row for skill in found.skills for row in skill.examples}
    texts = rows_of(table, text, shown) if text is not None else None
    skills = [
        {
            "name": skill.name,
            "size": skill.size,
            "share": skill.size / len(found.labels),
            "examples": [str(texts[row])[:LETTERS] if texts else f"row {row + 1:,}" for row in skill.examples],
        }
        for skill in found.skills
    ]
    panels = [
        _sizes(found),
        *([_stability(found)] if found.stability else []),
        *([_map(found)] if len(found.map) else []),
    ]
    return write_page(
        path,
        "skills.html.jinja",
        found=found,
        skills=skills,
        table=table.name,
        panels=[panel_html(panel, i == 0) for i, panel in enumerate(panels)],
    )


def _line(name: str, x: np.ndarray, y: np.ndarray, colour: int, style: str = "points") -> Line:
    return Line(name, x, y, y, y, PALETTE[colour % len(PALETTE)], style)  # type: ignore[arg-type]


def _sizes(found: Discovered) -> Panel:
    sizes = np.array([skill.size for skill in found.found], float)
    rank = np.arange(1.0, len(sizes) + 1)
    law = rank**-found.exponent
    fitted = _line(f"exponent {found.exponent:.2f}", rank, sizes.sum() * law / law.sum(), 1, "dashed")
    return Panel("How large are they?", "rank", "examples", [_line("skills", rank, sizes, 0), fitted], True, True)


def _stability(found: Discovered) -> Panel:
    k = np.array([float(each.k) for each in found.stability])
    lines = [
        _line("your data", k, np.array([each.of_data for each in found.stability]), 0, "line"),
        _line("data without clusters", k, np.array([each.of_cloud for each in found.stability]), 6, "line"),
    ]
    title = "How many? Do halves of the data agree?"
    return Panel(title, "number of skills", "adjusted Rand index", lines, log_x=True)


def _map(found: Discovered) -> Panel:
    step = max(1, len(found.labels) // SHOWN_ON_MAP)
    lines = []
    for i, skill in enumerate(found.skills[: 2 * len(PALETTE)]):
        its = found.map[found.labels == i][::step]
        lines.append(_line(skill.name, its[:, 0], its[:, 1], i))
    return Panel("A map of two directions of many", "direction 1", "direction 2", lines)
