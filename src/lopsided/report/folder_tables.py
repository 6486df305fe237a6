"""Tables of what a folder is doing, for people, on stdout: `lopsided status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from lopsided.report.console import console as _console
from lopsided.report.console import plain
from lopsided.report.text import duration

MOST_WORKERS = 8
"""Workers that are named."""


WIDE = 110
"""Characters from which all columns fit beside the names of runs."""


def _counts(runs: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    """Columns of members that are not done; in a narrow terminal, whose room the names need, those with any."""
    every = ("running", "stale", "failed", "waiting")
    return [column for column in every if width >= WIDE or any(row[column] for row in runs)]


def status_tables(found: dict[str, Any], titles: Mapping[str, str]) -> None:
    """`lopsided status`. `titles`: what a run is called, with what was changed by hand, by its name."""
    console, table = _console(), Table(box=SIMPLE_HEAD)
    columns = ("run", "members", "done", *_counts(found["runs"], console.width))
    for column in (*columns, "time left"):
        table.add_column(column, justify="left" if column == "run" else "right", overflow="fold")
    for row in found["runs"]:
        left = "" if row["seconds_left"] is None else duration(row["seconds_left"])
        title = titles[row["run"]]
        name = plain(title) if title == row["run"] else f"{plain(title)}\n[dim]{plain(row['run'])}[/]"
        table.add_row(name, *(plain(row[c]) for c in columns[1:]), left)
    console.print(table)
    for row in found["runs"]:
        if row["begun"] and not row["running"]:
            far = f"{row['begun']} members are {_half_done(row)}"
            console.print(f"[dim]{plain(titles[row['run']])}: {far}; the same command goes on from there[/]")
    for e in found["running"]:
        console.print(
            f"running: {e['members']} members at step {e['step']:,}/{e['steps']:,} (pid {e['pid']}, {plain(e['host'])})"
        )
    if found["workers"]:
        names = ", ".join(
            f"{e['worker']} (idle)" if e["idle"] else e["worker"] for e in found["workers"][:MOST_WORKERS]
        )
        more = "" if len(found["workers"]) <= MOST_WORKERS else " …"
        console.print(f"workers ({len(found['workers'])}): {plain(names)}{more}")
    for e in found["stale"]:
        console.print(
            f"[yellow]stale: {e['members']} members; their process (pid {e['pid']}, {plain(e['host'])}) is gone[/]"
        )
    for e in found["failed"]:
        then = "trained again now" if e["again"] else "the same command tries again"
        tried = f"attempt {e['attempts']}; {then}"
        console.print(f"[red]failed: {e['members']} members: {plain(e['message'])}[/] ({tried})")
    for e in found["unreadable"]:
        console.print(f"[red]cannot be read: {plain(e['part'])}: {plain(e['reason'])}[/]")
    for name in found["foreign"]:
        console.print(f"[dim]no part of this store, ignored: {plain(name)}[/]")
    for e in found["damaged"]:
        console.print(f"[red]damaged: {plain(e['part'])}: {plain(e['reason'])}; the next run computes it anew[/]")


def times_table(
    rows: Sequence[dict[str, Any]], kinds: Sequence[str], peaks: Sequence[float | None], titles: Mapping[str, str]
) -> None:
    """`lopsided status --times`; `peaks`: float32 operations a second where each row was computed, None: unknown;
    `titles`: see `status_tables`."""
    table = Table(box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    table.add_column("run", overflow="fold")
    for column in ("seconds", *kinds, "GFLOP/s\n(of peak)"):
        table.add_column(column, justify="right", no_wrap=True)
    for row, peak in zip(rows, peaks, strict=True):
        total, rate = sum(row[kind] for kind in kinds), row["rate"]
        shares = [f"{row[kind] / total:.0%}" if total else "–" for kind in kinds]
        share = f" ({rate / peak:.0%})" if rate and peak else ""
        table.add_row(
            plain(titles[row["run"]]),
            f"{total:,.0f}" if total else "–",
            *shares,
            f"{rate / 1e9:,.3g}{share}" if rate else "–",
        )
    _console().print(table)
    if any(row["rate"] and row["place"] and not peak for row, peak in zip(rows, peaks, strict=True)):
        print("The peak is not known: `lopsided doctor` measures it, on the machine that computed.")


def _half_done(row: Mapping[str, Any]) -> str:
    """How far a run's half-done members are; no step is known where members take one another's places."""
    if row["step"] is None:
        return "of jobs that are half done, and committed"
    to = f"{row['step']:,}" if row["step"] == row["furthest"] else f"{row['step']:,} to {row['furthest']:,}"
    return f"half done, committed to step {to} of {row['of']:,}"
