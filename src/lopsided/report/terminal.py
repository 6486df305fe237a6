"""Tables for people, on stdout."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table

from lopsided.claims.counts import counts
from lopsided.report.console import console as _console
from lopsided.report.console import plain
from lopsided.report.text import duration, never_learned, number, rules, to_learn
from lopsided.report.words import (
    claim_rows,
    counts_text,
    coverage_text,
    ratio_text,
    settings_text,
    value_text,
    would_decide,
)

if TYPE_CHECKING:
    from lopsided.claims.assumption import Assumption
    from lopsided.claims.setting import Apart
    from lopsided.stats.verdict import Claim

MOST_ARMS = 3
"""Arms of a difference that are named."""
MOST_DIFFERENCES = 10
"""Differences from the paper's setting that are said below a table."""
COLOURS = {
    "holds": "bold green",
    "contradicted": "bold red",
    "negligible": "bold cyan",
    "inconclusive": "yellow",
    "not run": "dim",
}


def recipe_table(recipes: Sequence[dict[str, Any]]) -> None:
    """`lopsided list`: a line or two for each recipe, grouped by paper."""
    console = _console()
    for paper in sorted({r["paper"] for r in recipes}):
        console.print(f"[bold]Paper {plain(paper)}[/]")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(ratio=1)
        table.add_column(justify="right", no_wrap=True, style="dim", min_width=9)
        for r in recipes:
            if r["paper"] == paper:
                took = duration(r["scales"]["laptop"]["seconds"]) if "laptop" in r["scales"] else ""
                table.add_row(r["name"], plain(r["question"]), f"{len(r['claims'])} · {took}")
        console.print(table)
        console.print()
    console.print("On the right: number of claims, and time at laptop scale on two cores.")
    console.print("One in full: [bold]lopsided list NAME[/]. Run one: [bold]lopsided run NAME[/]")


def recipe_page(recipe: dict[str, Any]) -> None:
    """`lopsided list NAME`."""
    console = _console()
    console.print(f"[bold]{plain(recipe['name'])}[/]: {plain(recipe['question'])}")
    console.print(f"paper {plain(recipe['paper'])}, figure {plain(recipe['figure'])}\n")
    console.print(plain(recipe["about"]))
    console.print("\n[bold]Claims[/]")
    for claim in recipe["claims"]:
        console.print(Padding(f"• {plain(claim)}", (0, 0, 0, 2), expand=False))
    console.print("\n[bold]Scales[/]")
    for name, scale in recipe["scales"].items():
        said = f"{name}: {scale['seeds']} seeds an arm, {_price(recipe['name'], scale)}"
        console.print(Padding(said, (0, 0, 0, 2), expand=False))


def _price(recipe: str, scale: dict[str, Any]) -> str:
    """What a scale costs: measured seconds, or counted operations."""
    counted = scale["counted"]
    if scale["seconds"] is not None:
        return f"{duration(scale['seconds'])}, {plain(scale['on'])}"
    if counted is None:
        return f"see lopsided cost {recipe}"
    at_least = "at least " if counted["adaptive"] else ""
    took = duration(3600 * counted["h100_hours"])
    return f"{at_least}{took} of one H100 at 30 % of its peak (lopsided cost {recipe} says more)"


def claim_table(claims: Sequence[Claim], with_recipe: bool = True, needed: Sequence[int | None] | None = None) -> None:
    """Claims with effect, verdict and the paper's number; for undecided ones what would decide them."""
    table = Table(box=SIMPLE_HEAD)
    for column in (["recipe"] if with_recipe else []) + ["claim", plain("measured [interval]"), "verdict", "paper"]:
        table.add_column(column, no_wrap=column in ("recipe", "verdict"))
    more = needed or [None] * len(claims)
    for claim, seeds, (text, effect, verdict, paper) in zip(claims, more, claim_rows(claims), strict=True):
        said = f"[{COLOURS[verdict]}]{verdict}[/]"
        if needed and (waits := would_decide(claim, seeds)):
            said += f"\n[dim]{waits}[/]"
        shown = [plain(text), plain(effect), said, plain(paper)]
        table.add_row(*([f"{claim.recipe} ({claim.scale})"] if with_recipe else []), *shown)
    console = _console()
    console.print(table)
    for recipe in dict.fromkeys(claim.recipe for claim in claims):
        apart = settings_text([claim for claim in claims if claim.recipe == recipe], MOST_DIFFERENCES)
        if apart:
            console.print(f"[dim]{plain(recipe)}, against the paper: {plain(apart)} (lopsided diff {recipe})[/]")
    for line in counts_text(counts(claims)):
        console.print(line)
    if covered := coverage_text(claims):
        console.print(f"[dim]{covered}[/]")


def difference_table(recipe: str, scale: str, rows: Sequence[Apart], assumptions: Sequence[Assumption]) -> None:
    """`lopsided diff`."""
    console = _console()
    title = f"{recipe}: {scale} against the paper's own numbers"
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left")
    for column in ("field", "here", "paper", "ratio", "arms"):
        table.add_column(column)
    for row in rows:
        each = row.difference
        arms = "all" if not row.arms else "; ".join(row.arms[:MOST_ARMS]) + (" …" if len(row.arms) > MOST_ARMS else "")
        table.add_row(*map(plain, (each.field, value_text(each.here), value_text(each.paper), ratio_text(each), arms)))
    console.print(table if rows else f"{recipe}: the scales {scale} and paper have the same settings.")
    for each in assumptions:
        value = "" if each.value is None else f" = {each.value}"
        console.print(f"Assumed: [bold]{plain(each.field + value)}[/]; {plain(each.why)}.")


def outcome(
    recipe: Any,
    scale: str,
    arms: Sequence[dict[str, Any]],
    claims: Sequence[Claim],
    judged: str,
    done: Any,
    page: Path,
    overrides: Sequence[str],
    others: int = 0,
) -> None:
    """The end of `lopsided run`. `judged` says which seeds decided the claims, where these are not those of `arms`;
    `others` is how many more arms there are."""
    console = _console()
    table = Table(box=SIMPLE_HEAD, title=plain(recipe.question), title_justify="left")
    metrics = list(dict.fromkeys(a["metric"] for a in arms))
    final = f"final {metrics[0]}: median" if len(metrics) == 1 else "final median"
    heads = ("arm", "members", plain(final), "lowest … highest", "steps to learn", "compute to learn")
    for i, head in enumerate((*heads, "never learned", "diverged")):
        table.add_column(head, justify="right" if i else "left")
    for a in arms:
        f = a["final"]
        table.add_row(
            plain(a["name"]),
            str(a["members"]),
            number(f["median"]),
            f"{number(f['low'])} … {number(f['high'])}",
            to_learn(a, "steps"),
            to_learn(a, "compute"),
            never_learned(a),
            str(a["diverged"]),
        )
    console.print(table)
    if others:
        console.print(
            f"[dim]{others} more arms are not listed: other settings of sweeps, and arms without this metric.[/]"
        )
    if learned := rules(arms):
        console.print(f"[dim]Learned = {learned} reached and held at the next evaluation; compute = samples seen.[/]")
    if overrides:
        console.print(f"[yellow]Changed by hand: {plain(' '.join(overrides))}. Verdicts are about that setting.[/]")
    if claims:
        claim_table(claims, with_recipe=False)
    if judged:
        console.print(judged)
    if scale == "smoke":
        console.print("[dim]Smoke scale only exercises the code: no verdicts.[/]")
    if done is not None:
        trained = f"Trained {done.trained} members in {done.seconds:.0f} s" if done.trained else "Nothing to train"
        console.print(f"{trained}; {done.already} were already in the store.")
    console.print(f"Report: {plain(str(page))}", soft_wrap=True)


def query_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """`lopsided query`."""
    table = Table(box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(plain(column), overflow="fold")  # two names that begin alike are not cut to one text
    for row in rows:
        table.add_row(*(plain(f"{v:.6g}" if isinstance(v, float) else str(v)) for v in row))
    _console().print(table)


def doctor_table(peaks: Sequence[Any]) -> None:
    """`lopsided doctor`; `peaks` of `lopsided.price.peak`."""
    import jax

    from lopsided.core.execution import DEFAULT
    from lopsided.core.provenance import software
    from lopsided.engines import devices, hosts

    found = jax.devices()
    table = Table(box=SIMPLE_HEAD, show_header=False)
    for name, version in software().items():
        table.add_row(name, version)
    table.add_row("devices for ensembles", f"{len(found)} x {found[0].device_kind} ({found[0].platform})")
    table.add_row("hosts to share members with", hosts.detected())
    settings = ", ".join(f"{k} {v}" for k, v in DEFAULT.model_dump().items() if v is not None)
    table.add_row("execution", settings)
    table.add_row("memory", f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB")
    table.add_row("free disk here", f"{shutil.disk_usage('.').free / 2**30:.1f} GiB")
    table.add_row("compilation cache", str(devices.cache_folder()))
    for precision in dict.fromkeys(peak.precision for peak in peaks):
        ranked = sorted((peak for peak in peaks if peak.precision == precision), key=lambda peak: -peak.rate)
        said = ", ".join(f"{peak.library} {peak.rate / 1e9:,.0f}" for peak in ranked)
        table.add_row(f"matrix product, {precision}", f"{said} GFLOP/s")
    value = float(jax.jit(lambda x: (x @ x).sum())(jax.numpy.ones((8, 8))))
    table.add_row("a product of ones", "right" if value == 512.0 else f"WRONG: {value}")
    _console().print(table)


def samples(records: Sequence[dict[str, Any]]) -> None:
    """Samples one after the other: text or numbers, then answer, skills and ranks."""
    for record in records:
        text = record["text"] if "text" in record else f"{record['input']} -> {record['target']}"
        print(text)
        notes = [f"answer {record['answer']!r}"] if "answer" in record else []
        notes += [f"{name} {record[name]}" for name in ("skills", "ranks") if name in record]
        if notes:
            print(f"    [{'; '.join(notes)}]")
