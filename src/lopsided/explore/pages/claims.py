"""View `claims`: papers, recipes, verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from dash import Dash, Input, Output, dcc, html

from lopsided.claims.counts import counts
from lopsided.explore.folder import Folder
from lopsided.explore.pages.parts import COLOURS, KEPT, choose, labelled, table, verdict
from lopsided.explore.verdicts import ShownClaims, Verdicts
from lopsided.report.text import number
from lopsided.report.words import counts_text, effect_text, how_decided, paper_text, setting_text, would_decide
from lopsided.study.manifest import label_of

ALL = "all"
GRADES = {ALL: "all", "fully": "fully", "in direction": "in direction", "not": "not", "no number": "no number"}


def layout(verdicts: Verdicts) -> list[Any]:
    """Filters, the matrix and the claims."""
    papers = {ALL: "all papers", **{row.paper: row.paper for row in verdicts.recipes.values()}}
    tested = [name for name in COLOURS if name != "not run"]
    filters = [
        labelled("Verdict", dcc.Checklist(id="claims-verdicts", options=list(COLOURS), value=tested, inline=True,
                                          className="radio", **KEPT)),
        labelled("Paper", choose("claims-paper", [{"label": v, "value": k} for k, v in papers.items()], ALL, **KEPT)),
        labelled("Replicates the paper's number", choose("claims-grade", list(GRADES), ALL, **KEPT)),
        labelled("Words", dcc.Input(id="claims-words", type="search", value="", debounce=True,
                                    placeholder="for example transformer", **KEPT)),
    ]  # fmt: skip
    return [
        html.Div(filters, className="controls"),
        html.P(id="claims-count", role="status"),
        html.Div(id="claims-matrix"),
        html.Div(id="claims-list"),
        dcc.Interval(id="claims-tick", interval=3000),
        dcc.Store(id="claims-seen"),
    ]


def register(app: Dash, verdicts: Verdicts, folder: Folder, address: str) -> None:
    """What the filters do."""

    @app.callback(
        Output("claims-seen", "data"), Output("claims-count", "children"), Input("claims-tick", "n_intervals")
    )
    def tick(_: Any) -> tuple[Any, str]:
        """A new number when a verdict changed, and how far the deciding is."""
        every = [claim for row in verdicts.recipes.values() for claim in row.claims]
        verdict_counts = Counter(claim.verdict for claim in every)
        waiting = verdict_counts["not run"]
        there = (
            f"{waiting} claims are of recipes without a run here." if waiting < len(every) else "No claim is decided."
        )
        said = " ".join([*counts_text(counts(every)), there if waiting else ""]).strip()
        if verdicts.waiting:
            said += f" Deciding {verdicts.waiting[0]} ({len(verdicts.waiting)} recipes to go)"
        if verdicts.errors:
            said += " " + "; ".join(f"{name} cannot be decided: {why}" for name, why in verdicts.errors.items())
        return [verdict_counts[name] for name in COLOURS], said

    @app.callback(
        Output("claims-matrix", "children"),
        Output("claims-list", "children"),
        Input("claims-seen", "data"),
        Input("claims-verdicts", "value"),
        Input("claims-paper", "value"),
        Input("claims-grade", "value"),
        Input("claims-words", "value"),
    )
    def show(_: Any, chosen: list[str], paper: str, grade: str, words: str) -> tuple[Any, Any]:
        kept = [_kept(row, set(chosen), paper, grade, words or "") for row in verdicts.recipes.values()]
        found = [(row, claims) for row, claims in kept if claims]
        every = (claim for row in verdicts.recipes.values() for claim in row.claims)
        decided = {label_of(claim.recipe, claim.scale, ()) for claim in every if claim.verdict != "not run"}
        if not found and not decided:
            return _runs(folder, address, decided), None
        if not found:
            return html.P("No claim fits these filters."), None
        return [_matrix(found), _runs(folder, address, decided)], [_claims(row, each, address) for row, each in found]


def _runs(folder: Folder, address: str, decided: Collection[str]) -> html.Div | None:
    """What the folder has beside the runs that are `decided`: recipes of somebody's own, changed runs, unfinished
    ones, what programs trained."""
    done = {row["run"]: f"{row['done']} of {row['members']} members" for row in folder.status.get("runs", ())}
    lines = [
        html.Li([dcc.Link(run.title, href=f"{address}run?run={label}"), f" {done.get(label, '')}"])
        for label, run in folder.runs.items()
        if label not in decided
    ]
    if decided:
        return html.Div([html.H2("Other runs of this folder"), html.Ul(lines)]) if lines else None
    said = (
        "No claim of this package's recipes is decided here (of a recipe file: `lopsided check FILE.py`). What this "
        "folder has:"
        if lines
        else "This folder holds no run yet."
    )
    return html.Div([html.P(said), html.Ul(lines)])


def _kept(row: ShownClaims, chosen: set[str], paper: str, grade: str, words: str) -> tuple[ShownClaims, list[int]]:
    """The places of a recipe's claims that pass the filters."""
    if paper not in (ALL, row.paper):
        return row, []
    asked = words.lower().split()
    return row, [
        i
        for i, claim in enumerate(row.claims)
        if claim.verdict in chosen
        and grade in (ALL, claim.replicates or "no number")
        and all(word in f"{row.recipe} {row.question} {claim.claim} {paper_text(claim)}".lower() for word in asked)
    ]


def _matrix(found: list[tuple[ShownClaims, list[int]]]) -> html.Div:
    """A line for each recipe, a square for each claim."""
    groups: dict[str, list[Any]] = {}
    for row, places in found:
        squares = [
            html.Span(className=f"square {COLOURS[row.claims[i].verdict]}",
                      title=f"{row.claims[i].verdict}: {row.claims[i].claim}")
            for i in places
        ]  # fmt: skip
        each = Counter(row.claims[i].verdict for i in places)
        said = ", ".join(f"{n} {name}" for name, n in each.items())
        line = [html.A(row.recipe, href=f"#{row.recipe}"), html.Span(squares, role="img", title=said)]
        groups.setdefault(row.paper, []).append(html.Div(line, className="line"))
    return html.Div([html.Div([html.H2(paper), *lines], className="paper") for paper, lines in groups.items()])


def _claims(row: ShownClaims, places: list[int], address: str) -> html.Section:
    """A recipe's claims in full."""
    lines = []
    for i in places:
        claim, seeds = row.claims[i], row.needed[i]
        said: list[Any] = [verdict(claim.verdict)]
        if claim.replicates:
            said.append(html.Small(f"paper's number: {claim.replicates}"))
        if waits := would_decide(claim, seeds):
            said.append(html.Small(f"would decide it: {waits}"))
        paper: list[Any] = [
            paper_text(claim) if claim.number is None else f"{paper_text(claim)} ({number(claim.number)})"
        ]
        if apart := setting_text(claim):
            paper.append(html.Small(f"our setting: {apart}"))
        measured: list[Any] = [effect_text(claim)]
        trivial = f"near-trivial: {claim.near_trivial}" if claim.near_trivial else ""
        more = [each for each in (how_decided(claim), claim.history, trivial) if each]
        if more:
            measured.append(html.Details([html.Summary("test"), *[html.P(each) for each in more]]))
        lines.append((claim.claim, measured, said, paper))
    links = [dcc.Link("open this run", href=f"{address}run?run={row.run}")] if row.run else []
    return html.Section(
        [
            html.H3([row.recipe, html.Small(f" {row.question} ")], id=row.recipe),
            *links,
            table(("claim", "measured [interval]", "verdict", "paper"), lines, "claims"),
        ]
    )
