"""View `run`: one run's arms by their coordinates, as curves, times to learn or a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update

from lopsided.explore import curves, draw, selection
from lopsided.explore.folder import Folder
from lopsided.explore.pages import pictures
from lopsided.explore.pages.parts import KEPT, choose, filters, graph, labelled, pick

CHARTS = {"curves": "curves", "times": "times to learn", "heat": "heat map"}
EACH = "arm"
"""Choice of a colour for each arm."""


def layout(folder: Folder, search: str) -> list[Any]:
    """What is drawn on top, the other controls beside the picture."""
    runs = list(folder.runs)
    names = named(folder)
    asked = parse_qs(search.lstrip("?")).get("run", [""])[0]
    if not runs and not asked:
        return [html.P("This folder holds no run yet. The view “try” starts a small one.")]
    log = dcc.Checklist(id="run-log", options=["x", "y"], value=[], inline=True, className="radio", **KEPT)
    threshold = dcc.Input(id="run-threshold", type="number", debounce=True, step="any")
    first = [
        labelled(
            "Run", choose("run-label", [*names, *([asked] if asked not in ("", *runs) else [])], asked or runs[0])
        ),
        labelled("Metric", choose("run-metric", [], None)),
        labelled("Picture", pick("run-chart", CHARTS, "curves")),
    ]
    controls = [
        labelled("Along", pick("run-axis", curves.AXES, "steps")),
        labelled("Log axes", log),
        labelled("Members", pick("run-members", {"band": "median and range", "each": "every member"}, "band")),
        labelled("Colour", choose("run-colour", [EACH], EACH)),
        labelled("Learned at (where a spec has no rule for this metric)", threshold),
        html.Fieldset([html.Legend("Arms"), html.Div(id="run-coordinates")]),
        html.Fieldset(
            [
                html.Legend("Heat map"),
                labelled("Rows", choose("run-rows", [], None)),
                labelled("Columns", choose("run-columns", [], None)),
                labelled("Value", pick("run-measure", pictures.MEASURES, "steps")),
            ]
        ),
    ]
    buttons = [
        html.Button(text, id=f"run-{text.lower()}", className="button") for text in ("PNG", "SVG", "CSV")
    ]  # fmt: skip
    picture = [
        html.P(id="run-note", role="status"),
        graph("run-picture", "Reading …"),
        html.Div([html.Span("Save as", className="label"), *buttons], className="save"),
        dcc.Download(id="run-download"),
        html.Div(id="run-table"),
        html.Div([html.Span("The same from the command line", className="label"),
                  html.Div([html.Code(id="run-query"), dcc.Clipboard(target_id="run-query", className="copy")],
                           className="query")]),
    ]  # fmt: skip
    split = html.Div([html.Div(controls, className="side"), html.Div(picture, className="main")], className="split")
    hidden = [dcc.Interval(id="run-tick", interval=3000), dcc.Store(id="run-version"), dcc.Store(id="run-saved")]
    return [html.Div(first, className="controls"), split, *hidden]


def named(folder: Folder) -> list[dict[str, str]]:
    """The folder's runs as a drop-down shows them: by what was changed, not by a digest of it."""
    return [{"label": run.title, "value": label} for label, run in folder.runs.items()]


def register(app: Dash, folder: Folder) -> None:
    """What the controls do."""
    _register_controls(app, folder)
    _register_picture(app, folder)
    for kind in ("png", "svg"):
        app.clientside_callback(
            ClientsideFunction("lopsided", f"save_{kind}"),
            Output("run-saved", "data", allow_duplicate=True),
            Input(f"run-{kind}", "n_clicks"),
            State("run-label", "value"),
            prevent_initial_call=True,
        )


def _register_controls(app: Dash, folder: Folder) -> None:
    @app.callback(
        Output("run-version", "data"),
        Output("run-label", "options"),
        Input("run-tick", "n_intervals"),
        State("run-version", "data"),
        State("run-label", "value"),
        State("run-label", "options"),
    )
    def tick(_: Any, seen: Any, label: str, known: list[Any]) -> Any:
        """Draw again when more can be read; name runs that are new."""
        now = [folder.mirror.version, len(folder.runs)]
        runs = [*named(folder), *([label] if label not in folder.runs else [])]
        return no_update if seen == now else now, no_update if runs == known else runs

    @app.callback(
        Output("run-metric", "options"),
        Output("run-metric", "value"),
        Output("run-colour", "options"),
        Output("run-colour", "value"),
        Output("run-coordinates", "children"),
        Output("run-rows", "options"),
        Output("run-rows", "value"),
        Output("run-columns", "options"),
        Output("run-columns", "value"),
        Input("run-label", "value"),
        Input("run-version", "data"),
        State("run-metric", "value"),
        State("run-metric", "options"),
    )
    def choose_run(label: str, _: Any, metric: str, known: list[str]) -> Any:
        run = folder.runs.get(label)
        if run is None:
            return (no_update,) * 9
        metrics = folder.mirror.metrics(arm.digest for arm in run.arms)
        if known and metrics == known and _asked_by("run-version"):
            return (no_update,) * 9
        if metric not in metrics:
            liked = [m for m in (run.metric, "test/accuracy", "test/loss") if m in metrics]
            metric = (liked or metrics or [""])[0]
        if _asked_by("run-version") and known:
            return (metrics, metric, *(no_update,) * 7)
        several = {key: values for key, values in run.coordinates().items() if len(values) > 1}
        keys = list(several)
        slices = [
            labelled(key, dcc.Dropdown(id={"type": "run-slice", "key": key}, options=values, value=[], multi=True,
                                       placeholder="all"))
            for key, values in several.items()
        ]  # fmt: skip
        second = keys[1] if len(keys) > 1 else keys[0] if keys else None
        return (
            metrics, metric, [EACH, *keys], EACH,
            filters(slices) if slices else "One arm.", keys, keys[0] if keys else None, keys, second,
        )  # fmt: skip

    @app.callback(Output("run-threshold", "value"), Input("run-metric", "value"), State("run-label", "value"))
    def threshold(metric: str, label: str) -> Any:
        """What the recipe says of its own metric; nothing of others."""
        run = folder.runs.get(label)
        return run.threshold if run is not None and metric == run.metric else None


def _register_picture(app: Dash, folder: Folder) -> None:
    chosen = [
        Input("run-label", "value"),
        Input("run-metric", "value"),
        Input({"type": "run-slice", "key": ALL}, "value"),
        State({"type": "run-slice", "key": ALL}, "id"),
    ]

    @app.callback(
        Output("run-picture", "figure"),
        Output("run-note", "children"),
        Output("run-query", "children"),
        Output("run-table", "children"),
        *chosen,
        Input("run-chart", "value"),
        Input("run-axis", "value"),
        Input("run-log", "value"),
        Input("run-members", "value"),
        Input("run-colour", "value"),
        Input("run-threshold", "value"),
        Input("run-rows", "value"),
        Input("run-columns", "value"),
        Input("run-measure", "value"),
        Input("run-version", "data"),
    )
    def show(
        label: str, metric: str, values: list[list[Any]], ids: list[dict[str, str]], chart: str, axis: str,
        log: list[str], members: str, colour: str, threshold: float | None, rows: str, columns: str, measure: str,
        _: Any,
    ) -> Any:  # fmt: skip
        run = folder.runs.get(label)
        if run is None or not metric:
            return draw.nothing("No rows of this run have been read yet."), _reading(folder), "", None
        found = selection.choose(run, metric, _slices(values, ids))
        if chart == "heat" and (not rows or rows == columns):
            return draw.nothing("A heat map needs two coordinates."), _reading(folder), "", None
        drawn = selection.read(folder.reader, found, everything=chart == "heat")
        if not drawn:
            why = "No member of these arms is complete yet; the view “live” shows unfinished ones."
            return draw.nothing(why), _reading(folder), "", None
        wanted = pictures.Controls(metric, chart, axis, log, members == "each", threshold, rows, columns, measure)
        figure = pictures.figure(drawn, wanted, None if colour == EACH else colour)
        note = [
            _reading(folder),
            selection.left_out(found, len(drawn)),
            folder.mixed(run),
            selection.diverged_text(drawn, metric),
            pictures.cut(drawn, wanted),
        ]
        return (
            figure.update_layout(uirevision=f"{label} {metric} {chart} {axis}"),
            " ".join(filter(None, note)),
            selection.command(found, folder.root),
            [] if chart == "heat" else pictures.arms_table(drawn, axis, metric, threshold),
        )

    @app.callback(
        Output("run-download", "data"),
        Input("run-csv", "n_clicks"),
        *[State(each.component_id, each.component_property) for each in chosen],
        prevent_initial_call=True,
    )
    def save(_: Any, label: str, metric: str, values: list[list[Any]], ids: list[dict[str, str]]) -> Any:
        run = folder.runs.get(label)
        if run is None or not metric:
            return no_update
        found = selection.choose(run, metric, _slices(values, ids))
        return dcc.send_string(selection.csv(folder.mirror, found), f"{label}-{metric.replace('/', '-')}.csv")


def _slices(values: Sequence[Sequence[Any]], ids: Sequence[dict[str, str]]) -> dict[str, Sequence[Any]]:
    return {each["key"]: value for each, value in zip(ids, values, strict=True) if value}


def _asked_by(component: str) -> bool:
    return ctx.triggered_id == component


def _reading(folder: Folder) -> str:
    copied, of = folder.mirror.copied
    return "" if copied == of and folder.status else f"Reading the folder: {copied:,} of {of:,} parts."
