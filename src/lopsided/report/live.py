"""What a person sees while a recipe runs: a line per arm, speed, time left; plain lines without a terminal.

Every run also writes plain lines to a log file, so that progress survives a closed terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lopsided.core.progress import Progress

PLAIN_EVERY = 10.0
"""Seconds between lines where there is no terminal: a log is read afterwards."""
LATEST = 24
"""Arms in the table at most, on a high screen: those that appeared last."""
NAMED = 6
"""Arms that one line names at most; the rest is a count."""


class Screen(Console):
    """Standard error. A reader that went away does not end the run (rich would exit there)."""

    def __init__(self) -> None:
        super().__init__(stderr=True)

    def on_broken_pipe(self) -> None:
        """Do nothing: the log file goes on."""


class Display:
    """Shows `Progress`; use as a context manager around the run."""

    def __init__(
        self, console: Console, arms: Callable[[], Mapping[str, str]], metric: str, log: Path, title: str = ""
    ):
        """`arms` gives the content hash of each arm's spec by the arm's name; asked again when a spec is unknown, for
        arms that are added while sweeps go on. `title`: what the run is called, at the head of every line."""
        self._console, self._metric, self._arms, self._title = console, metric, arms, title
        self._log = log.open("a", encoding="utf-8", buffering=1)
        self._names: dict[str, list[str]] = {}
        self._rows: dict[str, dict[int, tuple[int, int, float, bool]]] = {}
        self._live = Live(console=console, refresh_per_second=4) if console.is_terminal else None
        self._last_line = 0.0
        self._hash: dict[int, str] = {}

    def __enter__(self) -> Display:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._log.close()
        if self._live:
            with suppress(OSError):  # the terminal may be gone
                self._live.__exit__(*error)  # type: ignore[arg-type]

    def __call__(self, progress: Progress) -> None:
        """Update from one evaluation."""
        if progress.evaluated is None:
            names = sorted({self._arm(m.spec) for m in progress.members})
            what = f"compiling for {len(progress.members)} members ({_some(names, ', ')})"
            waiting = f"other processes train the rest · {_clock(progress.seconds)} gone{_left(progress)}"
            self._say(progress, what if names else waiting)
            return
        values = progress.evaluated.metrics.get(self._metric)
        if values is None:
            values = next(iter(progress.evaluated.metrics.values()))
        diverged = progress.evaluated.diverged >= 0
        evaluated = progress.evaluated
        present = progress.members if evaluated.who is None else [progress.members[i] for i in evaluated.who]
        steps = np.broadcast_to(evaluated.step, len(present)).tolist()
        for member, step, value, gone in zip(present, steps, values.tolist(), diverged.tolist(), strict=True):
            self._rows.setdefault(self._arm(member.spec), {})[member.seed] = step, progress.steps, value, gone
        speed = len(progress.members) * progress.step / max(progress.evaluated.seconds, 1e-9)
        gone = f"{_clock(progress.seconds)} gone{_left(progress)}"
        self._say(progress, f"{speed:,.0f} member-steps/s · {gone}")

    def _arm(self, spec: Any) -> str:
        if id(spec) not in self._hash:
            self._hash[id(spec)] = spec.content_hash()
            if self._hash[id(spec)] not in self._names:
                self._names = {}
                for name, digest in self._arms().items():
                    self._names.setdefault(digest, []).append(name)
        return " = ".join(self._names.get(self._hash[id(spec)], ["?"]))

    def _say(self, progress: Progress, status: str) -> None:
        with suppress(OSError):  # a closed terminal or a full disk must not end the run
            if self._live:
                self._live.update(self._table(progress, status))
            now = time.perf_counter()
            ends = progress.evaluated is not None and progress.step == progress.steps
            if not ends and now - self._last_line < PLAIN_EVERY and self._last_line:
                return
            self._last_line = now
            arms = [f"{a} {np.median([v for *_, v, _ in m.values()]):.3f}" for a, m in reversed(self._rows.items())]
            said = [
                *([self._title] if self._title else []),
                f"{progress.done:.0%}",
                *([f"step {progress.step:,}/{progress.steps:,}"] if progress.steps else []),
                *filter(None, [_some(arms, " · ")]),
            ]
            line = " · ".join([*said, status])
            self._log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")
            if not self._live:
                self._console.print(line, highlight=False, soft_wrap=True, markup=False, emoji=False)

    def _table(self, progress: Progress, status: str) -> Group:
        """Share done and time left first: whatever does not fit is cut at the end."""
        wide, room = self._console.width >= 100, max(1, min(LATEST, self._console.height - 5 - bool(self._title)))
        table = Table(box=None, pad_edge=False)
        table.add_column("arm", no_wrap=True, overflow="ellipsis")
        for column in ("step", *([""] if wide else []), f"{self._metric}: median", "lowest … highest", "diverged"):
            table.add_column(column, justify="right" if column else "left", no_wrap=True)
        for arm, members in list(self._rows.items())[-room:]:
            step, steps = min((s, n) for s, n, _, _ in members.values())
            finite = np.array([v for *_, v, _ in members.values() if np.isfinite(v)])
            low, middle, high = (f"{f(finite):.3f}" for f in (np.min, np.median, np.max)) if len(finite) else ("–",) * 3
            bar = [ProgressBar(total=steps, completed=step, width=24)] if wide else []
            diverged = sum(gone for *_, gone in members.values())
            table.add_row(Text(arm), f"{step:,}/{steps:,}", *bar, middle, f"{low} … {high}", str(diverged or ""))
        hidden = max(0, len(self._rows) - room)
        more = [Text(f"and {hidden} arms that began earlier", style="dim")] if hidden else []
        name = [Text(self._title, style="bold", overflow="ellipsis", no_wrap=True)] if self._title else []
        said = Text(f"{progress.done:.0%} · {status}", style="bold", overflow="ellipsis")
        return Group(*name, said, table, *more)


def _some(names: Sequence[str], between: str) -> str:
    """At most six names, the rest as a count."""
    more = len(names) - NAMED
    return between.join(names[:NAMED]) + (f"{between}{more} more" if more > 0 else "")


def _left(progress: Progress) -> str:
    return "" if progress.left is None else f" · about {_clock(progress.left)} left"


def _clock(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
