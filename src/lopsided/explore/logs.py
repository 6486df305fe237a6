"""A page for logs of anybody's runs: what `lopsided compare` says, for the metric, goal and baseline that one picks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dash import Dash, Input, Output, dcc, html

from lopsided.core.errors import InputError
from lopsided.explore.pages.parts import choose, labelled, pick, table, verdict
from lopsided.explore.server import Served, empty_app
from lopsided.report.compare_page import panels_of, short
from lopsided.report.plotly_draw import CONFIG, panel_figure
from lopsided.report.text import number
from lopsided.report.words import effect_text, how_decided


class Source(NamedTuple):
    """Runs, and how they are judged."""

    name: str
    runs: Any
    """`lopsided.Runs`."""
    judge: Callable[[str, float | None, Any, str | None], Any]
    """Metric, goal, axis and baseline to data and verdicts."""


class LogsPage(Served):
    """The page of a folder of logs and its server."""

    def __init__(self, source: Source, port: int = 0):
        super().__init__(lambda address: make_logs_app(source, address), port)


def make_logs_app(source: Source, address: str) -> Dash:
    """The page under `address`."""
    app, runs = empty_app(address), source.runs
    metrics, arms = runs.metrics, list(runs.arms)
    first = next((m for m in metrics if "val" in m.lower() or "test" in m.lower()), metrics[0])
    base = next((arm for arm in arms if "baseline" in arm.lower()), arms[0])
    timed = all(points.seconds is not None for run in runs.all for points in run.metrics.values())
    axes = {"steps": "steps", **({"seconds": "seconds"} if timed else {})}
    controls = [
        labelled("Metric", choose("metric", metrics, first)),
        labelled("Goal (empty: last values)", dcc.Input(id="goal", type="number", debounce=True)),
        labelled("Baseline", choose("baseline", arms, base)),
        labelled("Axis", pick("axis", axes, "steps")),
    ]
    notes = html.Details([html.Summary("How they were read"), html.Ul([html.Li(note) for note in runs.notes])])
    app.layout = html.Div(
        [
            html.Header([html.Strong("lopsided"), html.Span(f"{len(runs)} runs of {len(arms)} arms in {source.name}")]),
            html.Main([html.Div(controls, className="controls"), dcc.Loading(html.Div(id="judged")), notes]),
        ]
    )

    @app.callback(
        Output("judged", "children"),
        Input("metric", "value"),
        Input("goal", "value"),
        Input("baseline", "value"),
        Input("axis", "value"),
    )
    def show(metric: str, goal: float | None, baseline: str, axis: str) -> Any:
        try:
            data, verdicts = source.judge(metric, goal, axis, baseline)
            drawn = [panel_figure(panel) for panel in panels_of(runs, data, verdicts)]
        except InputError as error:
            return html.P(str(error), className="wrong")
        pictures = [dcc.Graph(figure=_legible(figure), config=CONFIG) for figure in drawn]
        said = html.Details([html.Summary("In words"), html.P(data["in_words"], className="about")])
        return [_arms(data), *pictures, *_verdicts(verdicts), said]

    return app


def _legible(figure: Any) -> Any:
    """The figure with a legend beside it, and names that fit; all of a name is in the table."""
    figure.for_each_trace(lambda trace: trace.update(name=short([trace.name or ""])[0]))
    return figure.update_layout(legend={"orientation": "v", "x": 1.02, "y": 1})


def _arms(data: Mapping[str, Any]) -> Any:
    """The table of arms, with the letters of those that are not told apart."""
    letters = {row["arm"]: row["letters"] for row in data.get("ranking", ())}
    head = ["arm", "runs", "last value: median [range]", "diverged", *(["not told apart"] if letters else [])]
    head += [f"{data['axis']} to {data['at']:g}", "95 %", "never"] if data["at"] is not None else []
    lines = []
    for row in data["arms"]:
        middle, low, high = (number(row[name]) for name in ("median", "low", "high"))
        line = [row["arm"], row["runs"], f"{middle} [{low}, {high}]", row["diverged"]]
        line += [letters[row["arm"]]] if letters else []
        if data["at"] is not None:
            ends = " … ".join("∞" if end == float("inf") else number(end) for end in row["interval"])
            line += ["∞" if row["time"] == float("inf") else number(row["time"]), ends, row["never"]]
        lines.append(line)
    return table(head, lines)


def _verdicts(verdicts: Mapping[str, Any]) -> list[Any]:
    """A paragraph for each arm that was judged."""
    found = []
    for each in verdicts.values():
        claim = each.claim
        small = [effect_text(claim), f"{how_decided(claim)}; {claim.members} runs", *each.notes]
        found.append(html.P([f"{claim.claim}: ", verdict(claim.verdict), *(html.Small([html.Br(), s]) for s in small)]))
    return found
