"""View `live`: what is running, waiting and failed, and the curves of unfinished jobs."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, dcc, html, no_update

from lopsided.core.telling import counted
from lopsided.explore import curves, draw
from lopsided.explore.folder import Folder
from lopsided.explore.pages.parts import choose, graph, labelled, table
from lopsided.report.text import duration

METRICS = ("test/accuracy", "test/loss", "train/loss")
MOST_ARMS = 12
"""Arms in the picture at most."""


def layout() -> list[Any]:
    """Tables and one picture, renewed every two seconds while the view is open."""
    return [
        html.Div(id="live-tables"),
        html.H2("Curves of unfinished jobs"),
        html.Div(
            [
                labelled("Metric", choose("live-metric", METRICS, METRICS[0])),
                labelled("Log axes", dcc.Checklist(id="live-log", options=["x", "y"], value=[], inline=True,
                                                   className="radio")),
            ],
            className="controls",
        ),
        graph("live-picture", "Nothing is running."),
        dcc.Interval(id="live-tick", interval=2000),
    ]  # fmt: skip


def register(app: Dash, folder: Folder) -> None:
    """What the clock does."""

    @app.callback(Output("live-tables", "children"), Input("live-tick", "n_intervals"))
    def tables(_: Any) -> Any:
        return _tables(folder)

    @app.callback(
        Output("live-picture", "figure"),
        Input("live-tick", "n_intervals"),
        Input("live-metric", "value"),
        Input("live-log", "value"),
    )
    def picture(_: Any, metric: str, log: list[str]) -> Any:
        status = folder.status
        if not status or not status["running"]:
            return draw.nothing("Nothing is running.") if status else no_update
        specs = {spec for each in status["running"] for spec in each["specs"]}
        arms = {arm.digest: arm for run in folder.runs.values() for arm in run.arms if arm.digest in specs}
        found = curves.read(folder.mirror, list(arms.values())[:MOST_ARMS], metric, ended=False)
        if not found:
            return draw.nothing(f"The running jobs have committed no {metric} yet.")
        shades = draw.colours([each.arm for each in found], None)
        return draw.lines(found, metric, "steps", log, False, shades).update_layout(uirevision=metric)


def _tables(folder: Folder) -> Any:
    status = folder.status
    copied, of = folder.mirror.copied
    said = [] if not folder.trouble else [html.P(f"The last look at the folder failed: {folder.trouble}", role="alert")]
    if not status:
        return [*said, html.P(f"Reading the folder: {copied:,} of {of:,} parts.")]
    titles = folder.titles
    counts = "members", "done", "running", "stale", "failed", "waiting"
    runs = [
        (
            titles.get(row["run"], row["run"]),
            *(f"{row[key]:,}" for key in counts),
            _bar(row["done"], row["members"]),
            _left(row["seconds_left"]),
        )
        for row in status["runs"]
    ]
    found = [*said, html.H2("Runs"), table(("run", *counts, "", "time left"), runs)]
    if status["running"]:
        jobs = [
            (each["job"], each["members"], f"{each['step']:,} of {each['steps']:,}", _bar(each["step"], each["steps"]),
             f"pid {each['pid']} on {each['host']}", _left(each["seconds_left"]))
            for each in status["running"]
        ]  # fmt: skip
        found += [
            html.H2("Running jobs"),
            table(("job", "members", "step", "", "process", "time left to the process"), jobs),
        ]
    for key, title in (("failed", "Failures"), ("stale", "Jobs whose process is gone"), ("damaged", "Damaged parts")):
        if status[key]:
            heads = [name for name in status[key][0] if name != "specs"]
            lines = [[str(each[name]) for name in heads] for each in status[key]]
            found += [html.H2(title), table(heads, lines)]
    if status["workers"]:
        idle = sum(each["idle"] for each in status["workers"])
        found.append(html.P(f"{counted(len(status['workers']), 'worker')}, {idle or 'none'} of them idle."))
    return found


def _bar(done: int, of: int) -> html.Progress:
    return html.Progress(value=str(done), max=str(max(of, 1)))


def _left(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)
