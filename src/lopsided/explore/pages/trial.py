"""View `try`: a spec as a form, small runs that start from it."""

from __future__ import annotations

from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update

from lopsided.core.errors import InputError
from lopsided.explore import form
from lopsided.explore.folder import Folder
from lopsided.explore.form import EXAMPLE, Field
from lopsided.explore.pages.parts import choose, labelled
from lopsided.explore.trying import Tries

OWN = "a small example"


def layout(folder: Folder) -> list[Any]:
    """Where to start from, the form, the runs that were started."""
    runs = [{"label": OWN, "value": OWN}, *({"label": run.title, "value": key} for key, run in folder.runs.items())]
    start = [
        labelled("Start from", choose("try-run", runs, OWN)),
        labelled("Arm", choose("try-arm", ["–"], "–")),
        labelled("Seeds", dcc.Input(id="try-seeds", type="number", value=4, step="any")),
    ]
    return [
        html.Div(start, className="controls"),
        html.Div(id="try-form"),
        html.Div(
            [html.Button("Start", id="try-start", className="button strong"), html.P(id="try-said", role="status")],
            className="save",
        ),
        html.H2("Started from this page"),
        html.Div(id="try-runs"),
        dcc.Interval(id="try-tick", interval=1500),
        dcc.Store(id="try-cancelled"),
    ]


def register(app: Dash, folder: Folder, tries: Tries, address: str) -> None:
    """What the form does."""
    _register_form(app, folder)
    _register_runs(app, tries, address)


def _register_form(app: Dash, folder: Folder) -> None:
    @app.callback(Output("try-arm", "options"), Output("try-arm", "value"), Input("try-run", "value"))
    def arms(label: str) -> tuple[list[str], str]:
        run = folder.runs.get(label)
        names = [arm.name for arm in run.arms] if run else ["–"]
        return names, names[0]

    @app.callback(Output("try-form", "children"), Input("try-arm", "value"), State("try-run", "value"))
    def fill(name: str, label: str) -> Any:
        run = folder.runs.get(label)
        found = next((arm.spec for arm in run.arms if arm.name == name), None) if run else EXAMPLE
        if found is None:
            return no_update
        if strange := form.unknown_parts(found):
            return html.P(
                f"This page does not know {strange}: it is of somebody's own file. lopsided run FILE.py has it."
            )
        return _form(found)

    @app.callback(
        Output({"type": "try-part", "kind": ALL}, "children"),
        Input({"type": "try-name", "kind": ALL}, "value"),
        State({"type": "try-name", "kind": ALL}, "id"),
        prevent_initial_call=True,
    )
    def other_part(names: list[str], ids: list[dict[str, str]]) -> list[Any]:
        """Another task, model, ...: its own inputs in place of the old ones."""
        changed = ctx.triggered_id["kind"] if len(ctx.triggered) == 1 and ctx.triggered_id else None
        return [
            _part(each["kind"], name, {}) if each["kind"] == changed else no_update
            for each, name in zip(ids, names, strict=True)
        ]


def _register_runs(app: Dash, tries: Tries, address: str) -> None:
    @app.callback(
        Output("try-said", "children"),
        Input("try-start", "n_clicks"),
        State("try-seeds", "value"),
        State({"type": "try-name", "kind": ALL}, "value"),
        State({"type": "try-name", "kind": ALL}, "id"),
        State({"type": "try-field", "path": ALL}, "value"),
        State({"type": "try-field", "path": ALL}, "id"),
        prevent_initial_call=True,
    )
    def start(
        _: Any, seeds: int | None, names: list[str], kinds: list[dict[str, str]], values: list[Any],
        paths: list[dict[str, str]],
    ) -> Any:  # fmt: skip
        parts = {each["kind"]: name for each, name in zip(kinds, names, strict=True)}
        given = {each["path"]: value for each, value in zip(paths, values, strict=True)}
        try:
            if seeds is None:
                raise InputError("seeds: empty")
            found = tries.start(form.spec_of(parts, given), seeds)
        except InputError as error:
            return html.Span(str(error), className="wrong")
        return f"{found.name} started."

    @app.callback(Output("try-runs", "children"), Input("try-tick", "n_intervals"), Input("try-said", "children"))
    def runs(*_: Any) -> Any:
        if not tries.all:
            return html.P("None yet.")
        found = []
        for each in reversed(tries.all):
            going = each.process.poll() is None
            cancel = html.Button("Cancel", id={"type": "try-cancel", "name": each.name}, className="button",
                                 disabled=not going or each.cancelled)  # fmt: skip
            link = dcc.Link("open this run", href=f"{address}run?run={each.label}")
            head = html.Div([html.Strong(each.name), html.Span(each.state), cancel, link], className="save")
            found.append(html.Div([head, html.Pre(each.tail)], className="try"))
        return found

    @app.callback(
        Output("try-cancelled", "data"),
        Input({"type": "try-cancel", "name": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )
    def cancel(clicks: list[int | None]) -> Any:
        if not ctx.triggered_id or not any(clicks):
            return no_update
        tries.cancel(ctx.triggered_id["name"])
        return ctx.triggered_id["name"]


def _form(spec: Any) -> list[Any]:
    sections = []
    for kind in form.PART_FIELDS:
        name = (spec.get(kind) or {"name": "uniform"})["name"]
        names = choose({"type": "try-name", "kind": kind}, form.names(kind), name)
        inputs = html.Div(_part(kind, name, spec), id={"type": "try-part", "kind": kind})
        sections.append(html.Fieldset([html.Legend(kind), names, inputs]))
    rest = [_input(field, spec) for field in form.other_fields()]
    sections.append(html.Fieldset([html.Legend("training and evaluation"), html.Div(rest, className="fields")]))
    return [html.Div(sections, className="form")]


def _part(kind: str, name: str, spec: Any) -> list[Any]:
    fields = [_input(field, spec) for field in form.part_fields(kind, name)]
    return [html.P(form.about(kind, name), className="about"), html.Div(fields, className="fields")]


def _input(field: Field, spec: Any) -> html.Div:
    identity = {"type": "try-field", "path": field.path}
    value = form.shown(field, spec)
    label = field.path.split(".")[-1]
    if field.kind in ("choice", "boolean"):
        options = [{"label": str(v), "value": v} for v in (field.choices or (True, False))]
        return labelled(label, choose(identity, options, value))
    if field.kind in ("integer", "number"):  # without limits here: the browser would send nothing, not the wrong number
        return labelled(label, dcc.Input(id=identity, type="number", value=value, step="any"))
    hint = "JSON" if field.kind == "json" else ""
    return labelled(label, dcc.Input(id=identity, type="text", value=value, placeholder=hint))
