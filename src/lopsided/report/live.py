"""What a person sees while a recipe runs: a line per arm, speed, time left; plain lines without a terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lopsided.run import Progress

PLAIN_EVERY = 10.0


class Display:
    """Shows `Progress`; use as a context manager around the run."""

    def __init__(self, console: Console, arms: Mapping[str, str], metric: str):
        """`arms` maps a spec's content hash to its arm's name."""
        self._console, self._metric = console, metric
        self._names: dict[str, list[str]] = {}
        for digest, name in arms.items():
            self._names.setdefault(digest, []).append(name)
        self._rows: dict[str, tuple[Any, ...]] = {}
        self._live = Live(console=console, refresh_per_second=4) if console.is_terminal else None
        self._last_line = time.perf_counter()
        self._started: dict[int, float] = {}
        self._hash: dict[int, str] = {}

    def __enter__(self) -> Display:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.__exit__(*error)  # type: ignore[arg-type]

    def __call__(self, progress: Progress) -> None:
        """Update from one evaluation."""
        if progress.stretch is None:
            names = sorted({self._arm(m.spec) for m in progress.members})
            self._say(progress, f"compiling for {len(progress.members)} members ({', '.join(names)})")
            return
        by_arm: dict[str, list[int]] = {}
        for i, member in enumerate(progress.members):
            by_arm.setdefault(self._arm(member.spec), []).append(i)
        values = progress.stretch.metrics.get(self._metric)
        if values is None:
            values = next(iter(progress.stretch.metrics.values()))
        for arm, at in by_arm.items():
            self._rows[arm] = (
                progress.step,
                progress.steps,
                values[at],
                int((progress.stretch.diverged[at] >= 0).sum()),
            )
        speed = len(progress.members) * progress.step / max(progress.stretch.seconds, 1e-9)
        left = progress.seconds * (1 - progress.done) / max(progress.done, 1e-9)
        self._say(
            progress,
            f"{speed:,.0f} member-steps/s · {_clock(progress.seconds)} gone · about {_clock(left)} left",
        )

    def _arm(self, spec: Any) -> str:
        if id(spec) not in self._hash:
            self._hash[id(spec)] = spec.content_hash()
        return " = ".join(self._names.get(self._hash[id(spec)], ["?"]))

    def _say(self, progress: Progress, status: str) -> None:
        if self._live:
            self._live.update(self._table(progress, status))
            return
        now = time.perf_counter()
        if progress.stretch is not None and progress.step < progress.steps and now - self._last_line < PLAIN_EVERY:
            return
        self._last_line = now
        arms = " · ".join(f"{a} {np.nanmedian(r[2]) if len(r[2]) else np.nan:.3f}" for a, r in self._rows.items())
        self._console.print(
            f"job {progress.job + 1}/{progress.jobs} step {progress.step:,}/{progress.steps:,} {arms} · {status}",
            highlight=False,
            soft_wrap=True,
        )

    def _table(self, progress: Progress, status: str) -> Group:
        table = Table(box=None, pad_edge=False)
        for column in ("arm", "step", "", f"{self._metric}: median", "lowest … highest", "diverged"):
            table.add_column(column, justify="left" if column in ("arm", "") else "right")
        for arm, (step, steps, values, diverged) in self._rows.items():
            finite = values[np.isfinite(values)]
            low, middle, high = (f"{f(finite):.3f}" for f in (np.min, np.median, np.max)) if len(finite) else ("–",) * 3
            bar = ProgressBar(total=steps, completed=step, width=24)
            table.add_row(arm, f"{step:,}/{steps:,}", bar, middle, f"{low} … {high}", str(diverged or ""))
        return Group(table, Text(f"job {progress.job + 1}/{progress.jobs} · {status}", style="dim"))


def _clock(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
