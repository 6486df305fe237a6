"""Plotly figures of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from lopsided.explore.curves import AXES, ArmCurves
from lopsided.figures.panels import METRIC_LABEL, PALETTE
from lopsided.report.text import number
from lopsided.stats.times import Times

DASHES = ("solid", "dash", "dot", "dashdot")
MOST_LINES = 320
"""Lines of single members in one picture; more would take a browser seconds."""
MOST_BANDS = 8
"""Arms whose ranges are drawn; more would hide each other."""
MOST_DOTS = 640
"""Times of single members in one picture."""


def drawn_each(arms: int, most: int) -> int:
    """Members of each arm that are drawn one by one: the first ones."""
    return max(1, most // max(arms, 1))


def colours(arms: Sequence[Any], coordinate: str | None) -> dict[str, tuple[str, str]]:
    """A colour and a dash for each arm: one of its own, or by the value of a coordinate (numbers along a scale)."""
    if coordinate is None:
        n = len(PALETTE)
        return {arm.name: (PALETTE[i % n], DASHES[i // n % len(DASHES)]) for i, arm in enumerate(arms)}
    numbers = [arm.at.get(coordinate) for arm in arms]
    all_numbers = all(isinstance(v, (int, float)) for v in numbers)
    named = [str(float(v)) if all_numbers else str(v) for v in numbers]  # 1 and 1.0 are one value
    values = list(dict.fromkeys(named))
    if all_numbers:
        values.sort(key=float)
        shades = (
            sample_colorscale("Viridis", list(np.linspace(0, 0.9, len(values)))) if len(values) > 1 else ["#0072B2"]
        )
    else:
        few = len(values) <= len(PALETTE)
        shades = (
            PALETTE[: len(values)] if few else sample_colorscale("Turbo", list(np.linspace(0.05, 0.95, len(values))))
        )
    by_value: dict[str, str] = dict(zip(values, map(str, shades), strict=True))
    return {arm.name: (by_value[name], "solid") for arm, name in zip(arms, named, strict=True)}


def lines(
    found: Sequence[ArmCurves],
    metric: str,
    axis: str,
    log: Sequence[str],
    members: bool,
    shades: Mapping[str, tuple[str, str]],
) -> go.Figure:
    """Medians with bands from the lowest to the highest member, or every member."""
    figure, bands, medians = go.Figure(), [], []
    for curves in found:
        colour, dash = shades[curves.arm.name]
        x = curves.axis(axis)
        shared: dict[str, Any] = {"mode": "lines", "legendgroup": curves.arm.name, "name": curves.arm.name}
        if members:
            few = drawn_each(len(found), MOST_LINES)
            flat = np.full((len(curves.seeds[:few]), len(x) + 1), np.nan)  # one trace an arm, gaps between members
            flat[:, :-1] = curves.values[:few]
            along = np.tile(np.append(x, np.nan), len(flat))
            seeds = np.repeat(curves.seeds[:few], len(x) + 1)
            figure.add_scatter(
                x=along, y=flat.reshape(-1), line={"color": colour, "width": 1}, opacity=0.6, customdata=seeds,
                hovertemplate="seed %{customdata}: %{y:.4g} at %{x:,.6~g}", **shared,
            )  # fmt: skip
            continue
        middle, low, high = curves.band()
        edge = {**shared, "hoverinfo": "skip", "showlegend": False, "line": {"width": 0}}
        if len(curves.seeds) > 1 and len(found) <= MOST_BANDS:
            bands.append({**edge, "x": x, "y": high})
            bands.append({**edge, "x": x, "y": low, "fill": "tonexty", "fillcolor": _faint(colour)})
        said = f"%{{y:.4g}} at %{{x:,.6~g}} (%{{customdata}} of {len(curves.seeds)} members)"
        stroke = {"color": colour, "width": 2, "dash": dash}
        known = np.isfinite(curves.values).sum(0)  # a diverged member has no loss
        medians.append({**shared, "x": x, "y": middle, "line": stroke, "hovertemplate": said, "customdata": known})
    for trace in (*bands, *medians):  # medians lie on top
        figure.add_scatter(**trace)
    return _laid_out(figure, AXES[axis], METRIC_LABEL.get(metric, metric), log)


def strips(
    found: Sequence[tuple[ArmCurves, Times]], axis: str, log: Sequence[str], shades: Mapping[str, tuple[str, str]]
) -> go.Figure:
    """When each member learned: a dot each, a triangle at its budget for one that did not; a bar at the median."""
    figure, few = go.Figure(), drawn_each(len(found), MOST_DOTS)
    x, y, censored, colour, said = [], [], [], [], []  # one trace for all arms: a browser draws few traces soonest
    for i, (curves, times) in enumerate(found):
        n = len(times.time[:few])
        x.append(i + np.linspace(-0.25, 0.25, n) if n > 1 else np.array([float(i)]))
        y.append(times.time[:few])
        censored.append(times.censored[:few])
        colour += [shades[curves.arm.name][0]] * n
        said += [f"{curves.arm.name}, seed {seed}" for seed in curves.seeds[:few]]
    never = np.concatenate(censored)
    shapes = np.where(never, "triangle-up-open", "circle")
    what = np.where(never, "not learned by", "learned at")
    figure.add_scatter(
        x=np.concatenate(x), y=np.concatenate(y), mode="markers", text=said, customdata=what, showlegend=False,
        marker={"symbol": shapes, "color": colour, "size": 6},
        hovertemplate="%{text}: %{customdata} %{y:,.6~g}<extra></extra>",
    )  # fmt: skip
    middle = [times.median if np.isfinite(times.median) else None for _, times in found]
    bars = [shades[curves.arm.name][0] for curves, _ in found]
    figure.add_scatter(
        x=list(range(len(found))), y=middle, mode="markers", showlegend=False, name="median",
        marker={"symbol": "line-ew", "size": 34, "line": {"width": 3, "color": bars}},
        hovertemplate="median %{y:,.6~g}<extra></extra>",
    )  # fmt: skip
    ticks = {"tickvals": list(range(len(found))), "ticktext": [_short(curves.arm.name) for curves, _ in found]}
    figure = _laid_out(figure, "", f"{AXES[axis]} to learn", [each for each in log if each == "y"])
    return figure.update_xaxes(**ticks)


def heat(
    rows: Sequence[Any], columns: Sequence[Any], values: np.ndarray, labels: tuple[str, str, str], log: bool
) -> go.Figure:
    """A matrix with its numbers; cells in which half of the members never learned say so."""
    shown = np.where(np.isfinite(values), values, np.nan)
    if log:
        shown = np.log10(np.where(shown > 0, shown, np.nan))
    text = [["not learned" if np.isinf(v) else "" if np.isnan(v) else number(v) for v in row] for row in values]
    row_label, column_label, value_label = labels
    bar = {"title": {"text": f"log₁₀ {value_label}" if log else value_label, "side": "right"}}
    figure = go.Figure(
        go.Heatmap(
            z=shown, x=[str(v) for v in columns], y=[str(v) for v in rows], text=text, colorbar=bar,
            texttemplate="%{text}", colorscale="Viridis",
            hovertemplate=f"{row_label} %{{y}}, {column_label} %{{x}}: %{{text}}<extra></extra>",
        )
    )  # fmt: skip
    figure = _laid_out(figure, column_label, row_label, ())
    return figure.update_xaxes(type="category").update_yaxes(type="category")


def nothing(why: str) -> go.Figure:
    """An empty picture with a sentence."""
    figure = go.Figure().update_layout(template="plotly_white")
    figure.update_xaxes(visible=False).update_yaxes(visible=False)
    return figure.add_annotation(text=why, showarrow=False, font={"size": 15, "color": "#555"})


def _laid_out(figure: go.Figure, x: str, y: str, log: Sequence[str]) -> go.Figure:
    power = {"exponentformat": "power"}
    return figure.update_layout(
        template="plotly_white",
        xaxis={"title": x, "automargin": True, **({"type": "log", **power} if "x" in log else {})},
        yaxis={"title": y, "automargin": True, **({"type": "log", **power} if "y" in log else {})},
        legend={"orientation": "h", "y": -0.15, "yanchor": "top", "maxheight": 0.3, "font": {"size": 11}},
        margin={"l": 50, "r": 15, "t": 20, "b": 50},
        hovermode="closest",
    )


def _faint(colour: str) -> str:
    if colour.startswith("#"):
        parts = ",".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
        return f"rgba({parts},0.15)"
    return colour.replace("rgb(", "rgba(").replace(")", ",0.15)")


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
