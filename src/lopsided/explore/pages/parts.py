"""Pieces that several views share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dash import dcc, html

from lopsided.explore.draw import nothing
from lopsided.report.plotly_draw import CONFIG

COLOURS = {
    "holds": "holds",
    "contradicted": "contradicted",
    "negligible": "negligible",
    "inconclusive": "inconclusive",
    "not run": "not-run",
}
"""Style of each verdict."""
FEW = 6
"""Controls of a list that are shown at once."""


def labelled(label: str, control: Any, name: str = "control") -> html.Div:
    """A control with its name above it."""
    identity = getattr(control, "id", None)
    if isinstance(identity, str):
        return html.Div([html.Label(label, className="label", htmlFor=identity), control], className=name)
    return html.Div(html.Label([html.Span(label, className="label"), control]), className=name)


KEPT: dict[str, Any] = {"persistence": True, "persistence_type": "session"}
"""Properties of a control whose value a reload of the page keeps."""


def choose(identity: Any, options: Iterable[Any], value: Any, **more: Any) -> dcc.Dropdown:
    """A drop-down of plain values."""
    return dcc.Dropdown(id=identity, options=list(options), value=value, clearable=False, **more)


def pick(identity: str, options: dict[str, str], value: str) -> dcc.RadioItems:
    """One of few."""
    return dcc.RadioItems(id=identity, options=options, value=value, inline=True, className="radio", **KEPT)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], name: str = "") -> html.Div:
    """A table that scrolls sideways where the screen is narrow."""
    body = html.Tbody([html.Tr([html.Td(cell) for cell in row]) for row in rows])
    top = html.Thead(html.Tr([html.Th(text, scope="col") for text in head]))
    return html.Div(html.Table([top, body], className=name), className="scroll")


def verdict(text: str) -> html.Span:
    """A verdict as a coloured word."""
    return html.Span(text, className=f"verdict {COLOURS[text]}")


def graph(identity: str, why: str) -> html.Div:
    """A picture that is empty so far."""
    return html.Div(dcc.Graph(id=identity, figure=nothing(why), config=CONFIG), className="picture")


def filters(controls: Sequence[Any]) -> list[Any]:
    """Many controls: the first few, the others behind a word."""
    few, more = list(controls[:FEW]), list(controls[FEW:])
    return [*few, html.Details([html.Summary(f"{len(more)} more"), *more])] if more else few
