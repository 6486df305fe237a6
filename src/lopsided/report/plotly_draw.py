"""Interactive panels of a `Figure` for the HTML report, with plotly."""

from __future__ import annotations

import plotly.graph_objects as go

from lopsided.report.panels import Panel


def panel_html(panel: Panel, first: bool) -> str:
    """A div; `first` carries the script itself, so that the page needs no network."""
    figure = go.Figure()
    for line in panel.lines:
        red, green, blue = (int(line.colour[i : i + 2], 16) for i in (1, 3, 5))
        band = f"rgba({red},{green},{blue},0.15)"
        shared = {"mode": "lines", "legendgroup": line.name, "hoverinfo": "skip", "showlegend": False}
        figure.add_scatter(x=line.x, y=line.high, line={"width": 0}, **shared)
        figure.add_scatter(x=line.x, y=line.low, line={"width": 0}, fill="tonexty", fillcolor=band, **shared)
        figure.add_scatter(
            x=line.x,
            y=line.middle,
            mode="lines",
            name=line.name,
            legendgroup=line.name,
            line={"color": line.colour, "width": 2},
        )
    for name, level in panel.marks.items():
        figure.add_hline(level, line={"dash": "dot", "color": "#777"}, annotation_text=name)
    figure.update_layout(
        title={"text": panel.title, "font": {"size": 15}},
        template="plotly_white",
        xaxis={"title": panel.x_label, "type": "log" if panel.log_x else "linear"},
        yaxis={"title": panel.y_label, "type": "log" if panel.log_y else "linear"},
        legend={"orientation": "h", "y": -0.25},
        margin={"l": 60, "r": 20, "t": 50, "b": 60},
        height=380,
    )
    return figure.to_html(full_html=False, include_plotlyjs=first, config={"displaylogo": False, "responsive": True})
