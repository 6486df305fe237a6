"""The page of a race between shapes (`lopsided advise`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lopsided.figures.panels import Heat, Panel
from lopsided.report.advice import words
from lopsided.report.html import write_page
from lopsided.report.plotly_draw import panel_html
from lopsided.stats.race import Advice, RacePlan

Scores = Mapping[str, Mapping[int, float]]
"""By shape and seed; NaN for a run that never reached the goal."""


def write_race(
    path: Path,
    title: str,
    advice: Advice,
    plan: RacePlan,
    scores: Scores,
    label: str,
    shapes: Mapping[str, str],
    more: Sequence[Panel] = (),
    data: str = "",
) -> Path:
    """`label` says what the scores are; `shapes` has what to paste for each shape; `more`: panels below the race;
    `data`: rows and skills, and how sure the skills are, as a sentence."""
    order = sorted(shapes, key=lambda name: (-len(scores[name]), advice.screened[name]))
    rows = []
    for name in order:
        values = np.array(list(scores[name].values()))
        known = values[np.isfinite(values)]
        low, middle, high = np.percentile(known, (0, 50, 100)) if known.size else [float("nan")] * 3
        rows.append(
            {
                "name": name,
                "rank": advice.screened[name],
                "runs": len(values),
                "median": middle,
                "low": low,
                "high": high,
                "never": len(values) - known.size,
            }
        )
    panels = [race_panel(plan, scores, order, label), *more]
    return write_page(
        path,
        "race.html.jinja",
        title=title,
        words=words(advice, plan.looks[-1]),
        first=plan.first,
        label=label,
        data=data,
        rows=rows,
        panels=[panel_html(panel, i == 0) for i, panel in enumerate(panels)],
        shapes={name: shapes[name] for name in order},
    )


def race_panel(plan: RacePlan, scores: Scores, order: Sequence[str], label: str) -> Heat:
    """Shapes by seeds; a shape that had left has no colour."""
    seeds = sorted({seed for of in scores.values() for seed in of})
    values = np.array([[scores[name].get(seed, float("nan")) for seed in seeds] for name in order])
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    ticks = [str(seed) if seed < plan.first else f"{seed} fresh" for seed in seeds]
    return Heat(f"{label.capitalize()}, by shape and seed", "seed", "", values, label, low, high, ticks, tuple(order))
