"""What `lopsided compare` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table

from lopsided.report.console import console, plain
from lopsided.report.terminal import COLOURS
from lopsided.report.words import effect_text, how_decided


def comparison(data: Mapping[str, Any], verdicts: Mapping[str, Any]) -> None:
    """`lopsided compare`."""
    screen = console()
    table = Table(box=SIMPLE_HEAD)
    at, times = data["at"], data["at"] is not None
    heads = ["arm", "runs", "last value: median", "lowest … highest"]
    heads += [f"{data['axis']} to {at:g}", "95 % interval", "not there"] if times else []
    for i, head in enumerate([*heads, "diverged"]):
        table.add_column(head, justify="right" if i else "left")
    for row in data["arms"]:
        cells = [plain(row["arm"]), str(row["runs"]), f"{row['median']:.4g}", f"{row['low']:.4g} … {row['high']:.4g}"]
        if times:
            low, high = row["interval"]
            ends = row["followed"]
            # One run may have ended before others were there: what is beyond it is beyond those, too.
            upper = ends if ends is None or not math.isfinite(low) else max(ends, low)
            cells += [_or_beyond(row["time"], upper), f"{_or_beyond(low, ends)} … {_or_beyond(high, upper)}"]
            cells.append(str(row["never"]))
        table.add_row(*cells, str(row["diverged"]))
    if data["arms"]:
        screen.print(table)
    if "ranking" in data:
        ranked = ", ".join(f"{plain(row['arm'])} ({row['letters']})" for row in data["ranking"])
        screen.print(f"In order; arms that share a letter are not told apart: {ranked}")
        if data["ranking_note"]:
            screen.print(data["ranking_note"])
    if "profile" in data:
        scores = ", ".join(f"{plain(arm)} {score:.3f}" for arm, score in data["profile"].items())
        screen.print(f"Profile over {len(data['tasks'])} tasks (1: the fastest on each): {scores}")
    if not data["target"]:
        screen.print(f"Compared with [bold]{plain(data['baseline'])}[/]:")
    for verdict in verdicts.values():
        claim = verdict.claim
        screen.print(f"{plain(claim.claim)}: [{COLOURS[claim.verdict]}]{claim.verdict}[/]")
        for line in (effect_text(claim), f"{how_decided(claim)}; {claim.members} runs", *verdict.notes):
            screen.print(Padding(f"[dim]{plain(line)}[/]", (0, 0, 0, 2), expand=False))
    for note in data["notes"]:
        screen.print(f"[dim]read: {plain(note)}[/]")
    if "report" in data:
        screen.print(f"Page: {plain(data['report'])}", soft_wrap=True)


def _or_beyond(time: float, ends: float | None) -> str:
    """A time, or that it lies beyond where runs that are not there yet were followed to."""
    return f"{time:.4g}" if math.isfinite(time) else f"> {ends:.4g}" if ends is not None else "∞"
