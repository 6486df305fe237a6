"""Interactive panels of a `Figure` for the HTML report, with plotly."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go

from lopsided.figures.panels import Contour, Heat, Panel

CONFIG: Any = {"displaylogo": False, "showSendToCloud": False, "responsive": True}
"""No logo, and no button that would send a figure away."""


def panel_html(panel: Panel | Heat | Contour, first: bool) -> str:
    """A div; `first` carries the script itself, so that the page needs no network."""
    return panel_figure(panel).to_html(full_html=False, include_plotlyjs=first, config=CONFIG)


def panel_figure(panel: Panel | Heat | Contour) -> go.Figure:
    """A panel as Plotly draws it."""
    return {Heat: _matrix, Contour: _surface, Panel: _lines}[type(panel)](panel)  # type: ignore[operator]


def _lines(panel: Panel) -> go.Figure:
    figure = go.Figure()
    for line in panel.lines:
        named = {"name": line.name, "legendgroup": line.name, "showlegend": line.legend}
        if line.style == "points":
            reach = {"array": line.high - line.middle, "arrayminus": line.middle - line.low, "thickness": 1}
            marker = {"color": line.colour, "size": 5}
            figure.add_scatter(x=line.x, y=line.middle, error_y=reach, mode="markers", marker=marker, **named)
            continue
        red, green, blue = (int(line.colour[i : i + 2], 16) for i in (1, 3, 5))
        band = f"rgba({red},{green},{blue},{panel.band:.3g})"
        shared = {"mode": "lines", "legendgroup": line.name, "hoverinfo": "skip", "showlegend": False}
        if line.style == "line":
            figure.add_scatter(x=line.x, y=line.high, line={"width": 0}, **shared)
            figure.add_scatter(x=line.x, y=line.low, line={"width": 0}, fill="tonexty", fillcolor=band, **shared)
        dash = "dash" if line.style == "dashed" else "solid"
        stroke = {"color": line.colour, "width": 2 if line.legend else 1, "dash": dash}
        figure.add_scatter(x=line.x, y=line.middle, mode="lines", line=stroke, **named)
    _draw_levels(figure, panel)
    power = {"exponentformat": "power"}
    named = {"tickvals": list(range(1, len(panel.x_names) + 1)), "ticktext": list(panel.x_names)}
    x_axis = {"title": panel.x_label, **({"type": "log", **power} if panel.log_x else named if panel.x_names else {})}
    figure.update_layout(
        title={"text": panel.title, "font": {"size": 15}},
        template="plotly_white",
        xaxis=x_axis,
        yaxis={"title": panel.y_label, "type": "log", **power} if panel.log_y else {"title": panel.y_label},
        legend={"orientation": "h", "y": -0.25},
        margin={"l": 60, "r": 20, "t": 50, "b": 60},
        height=380,
    )
    return figure


def _draw_levels(figure: go.Figure, panel: Panel) -> None:
    """Draw dotted lines at marks and moments, with their names."""
    dotted, plain = {"dash": "dot", "color": "#777"}, {"showarrow": False}
    for name, level in panel.marks.items():
        figure.add_hline(level, line=dotted)
        at = _place(level, panel.log_y)
        figure.add_annotation(text=name, x=1, xref="x domain", xanchor="right", y=at, yanchor="bottom", **plain)
    for name, moment in panel.moments.items():
        figure.add_vline(moment, line=dotted)
        at = _place(moment, panel.log_x)
        figure.add_annotation(text=name, x=at, xanchor="left", y=1, yref="y domain", yanchor="top", **plain)


def _place(value: float, logarithmic: bool) -> float | None:
    """Where a text stands on an axis; None for what a logarithmic one has no place for. Plotly takes lines there at
    their value, and texts at its logarithm (plotly.py, issue 2580): as `annotation_text` of the line, a moment of 200
    stretched the axis to 10^200."""
    if not logarithmic:
        return value
    return math.log10(value) if value > 0 else None


def _matrix(heat: Heat) -> go.Figure:
    n, m = heat.values.shape
    figure = go.Figure(
        go.Heatmap(
            z=heat.values,
            x=list(range(1, m + 1)),
            y=list(range(1, n + 1)),
            zmin=heat.low,
            zmax=heat.high,
            colorscale="Viridis",
            colorbar={"title": heat.value_label},
        )
    )
    if heat.mark is not None:
        marker = {"symbol": "star", "size": 14, "color": "#D55E00", "line": {"color": "white", "width": 1}}
        figure.add_scatter(x=[heat.mark[1] + 1], y=[heat.mark[0] + 1], mode="markers", marker=marker, showlegend=False)
    x_ticks = {"tickvals": list(range(1, m + 1)), "ticktext": list(heat.x_ticks)} if heat.x_ticks else {}
    y_ticks = {"tickvals": list(range(1, n + 1)), "ticktext": list(heat.y_ticks)} if heat.y_ticks else {}
    figure.update_layout(
        title={"text": heat.title, "font": {"size": 15}},
        template="plotly_white",
        xaxis={"title": heat.x_label, **x_ticks},
        yaxis={"title": heat.y_label, "autorange": "reversed", **y_ticks},
        margin={"l": 60, "r": 20, "t": 50, "b": 60},
        height=380,
    )
    return figure


def _surface(surface: Contour) -> go.Figure:
    figure = go.Figure(
        go.Contour(
            x=surface.x,
            y=surface.y,
            z=surface.values,
            ncontours=surface.levels,
            colorscale="Viridis",
            line={"color": "white", "width": 0.5},
            colorbar={"title": surface.value_label},
        )
    )
    named = {"showlegend": False, "marker": {"color": "#D55E00"}}
    figure.add_scatter(x=surface.way[:, 0], y=surface.way[:, 1], mode="lines+markers", **named)
    figure.add_scatter(x=surface.way[:1, 0], y=surface.way[:1, 1], mode="markers", marker_symbol="star", **named)
    figure.update_layout(
        title={"text": surface.title, "font": {"size": 15}},
        template="plotly_white",
        xaxis={"title": surface.x_label, "range": [surface.x[0], surface.x[-1]]},
        yaxis={"title": surface.y_label, "range": [surface.y[0], surface.y[-1]]},
        margin={"l": 60, "r": 20, "t": 50, "b": 60},
        height=420,
    )
    return figure
