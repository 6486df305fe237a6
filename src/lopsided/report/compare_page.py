"""The page of `lopsided compare`: a table of arms, the verdicts, curves, times and differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.figures.panels import PALETTE, Line, Panel, over_members
from lopsided.report.html import write_page
from lopsided.report.plotly_draw import panel_html
from lopsided.report.words import effect_text, how_decided, measure
from lopsided.stats.crossing import Track, crossings

POINTS = 200
"""Places at which curves with evaluations of their own are drawn together."""
LONGEST = 24
"""Letters of a name on an axis or in a legend."""


def write_comparison(path: Path, runs: Any, data: Mapping[str, Any], verdicts: Mapping[str, Any]) -> Path:
    """Write the page. `runs` are a `lopsided.Runs`, `verdicts` by arm, `data` what the command prints as JSON."""
    drawn = panels_of(runs, data, verdicts)
    shown = [
        {
            "arm": arm,
            "verdict": verdict.verdict,
            "claim": verdict.claim.claim,
            "effect": effect_text(verdict.claim),
            "test": f"{how_decided(verdict.claim)}; {verdict.claim.members} runs",
            "notes": verdict.notes,
        }
        for arm, verdict in verdicts.items()
    ]
    return write_page(
        path,
        "compare.html.jinja",
        data=data,
        verdicts=shown,
        latex=latex(data),
        panels=[panel_html(panel, i == 0) for i, panel in enumerate(drawn)],
    )


def panels_of(runs: Any, data: Mapping[str, Any], verdicts: Mapping[str, Any]) -> list[Panel]:
    """Curves, times where there is a goal, and effects."""
    every = {row["arm"]: runs.curves(row["arm"], data["metric"], data["axis"]) for row in data["arms"]}
    found = [curves(every, data)] if every else []
    found += [times(every, data)] if every and data["at"] is not None else []
    return [*found, differences(verdicts)]


def curves(every: Mapping[str, Any], data: Mapping[str, Any]) -> Panel:
    """Medians over runs with their range, at places between the runs' own evaluations."""
    lines = []
    for arm, found in every.items():
        axis = np.unique(np.concatenate([track.axis for track in found.tracks]))
        axis = axis if len(axis) <= POINTS else np.linspace(axis[0], axis[-1], POINTS)
        values = np.array([_at(track, axis) for track in found.tracks])
        lines.append(over_members(arm, axis, values, len(lines)))
    marks = {} if data["at"] is None else {f"{data['at']:g}": data["at"]}
    return Panel("Curves", data["axis"], data["metric"], lines, marks=marks)


def _at(track: Track, axis: np.ndarray) -> np.ndarray:
    """A run's values between its evaluations; NaN where it has none yet, or none any more."""
    inside = (axis >= track.axis[0]) & (axis <= track.axis[-1])
    return np.where(inside, np.interp(axis, track.axis, track.value), np.nan)


def times(every: Mapping[str, Any], data: Mapping[str, Any]) -> Panel:
    """A point for each run: when it was there; grey, at its end, for one that was not."""
    lines = []
    for number, (arm, found) in enumerate(every.items()):
        there = crossings(found.tracks, data["at"], data["falling"])
        place = number + 1 + np.linspace(-0.2, 0.2, len(there.time))
        for kind, which in (("", ~there.censored), (", not there by", there.censored)):
            if which.any():
                colour = "#999999" if kind else PALETTE[number % len(PALETTE)]
                own = there.time[which]
                lines.append(Line(arm + kind, place[which], own, own, own, colour, "points"))
    return Panel(f"{data['axis'].capitalize()} to {data['at']:g}", "arm", data["axis"], lines, x_names=short(every))


def differences(verdicts: Mapping[str, Any]) -> Panel:
    """The effect of each verdict with its interval, whose unknown ends lie beyond all that is known."""
    ratio = any(verdict.claim.ratio for verdict in verdicts.values())
    none = 1.0 if ratio else 0.0
    ends = [end for verdict in verdicts.values() for end in (verdict.claim.effect, *verdict.claim.interval)]
    known = np.array([none, *(end for end in ends if end is not None)])
    beyond = 0.2 * (np.ptp(known) or 1.0)
    lines = []
    for number, (arm, verdict) in enumerate(verdicts.items()):
        effect, (low, high) = verdict.claim.effect, verdict.claim.interval
        if effect is not None:
            down = np.array([(0.0 if ratio else known.min() - beyond) if low is None else low])
            up = np.array([known.max() + beyond if high is None else high])
            place, middle = np.array([number + 1.0]), np.array([effect])
            lines.append(Line(arm, place, middle, down, up, PALETTE[number % len(PALETTE)], "points"))
    unit = next((measure(verdict.claim) for verdict in verdicts.values() if verdict.claim.estimand), "effect")
    return Panel("Effects", "arm", unit, lines, marks={"none": none}, x_names=short(verdicts))


def short(names: Iterable[str]) -> list[str]:
    """Names that fit on an axis or in a legend; of a long one its end, where names of one family differ."""
    return [name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}" for name in names]


IN_LATEX = str.maketrans({
    **{sign: f"\\{sign}" for sign in "_&%#${}"}, "^": r"\^{}", "~": r"\~{}", "\\": r"\textbackslash{}",
})  # fmt: skip
"""What LaTeX takes for a command, and how to write it."""


def latex(data: Mapping[str, Any]) -> str:
    """Rows of a table for a paper."""
    lines = []
    for row in data["arms"]:
        name = str(row["arm"]).translate(IN_LATEX)
        cells = [name, str(row["runs"]), f"{row['median']:.4g} [{row['low']:.4g}, {row['high']:.4g}]"]
        if "time" in row:
            middle, low, high = (_beyond(end, row["followed"]) for end in (row["time"], *row["interval"]))
            cells.append(f"{middle} [{low}, {high}]")
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join(lines)


def _beyond(time: float, ends: float | None) -> str:
    """A time; where it is not known, that it lies beyond where runs that are not there yet were followed to."""
    return f"{time:.4g}" if np.isfinite(time) else rf"$>${ends:.4g}" if ends is not None else r"$\infty$"
