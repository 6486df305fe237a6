"""The evaluations of one metric of a run, by rising step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.logs.run import Points

EARLY = 0.1
"""Share of the largest step so far. A log that jumps back below this share was not resumed from a checkpoint: its step
counter began again."""


def points_of(steps: Any, values: Any, seconds: Any, metric: str, path: Path, notes: list[str]) -> Points:
    """With rising steps. A log that was resumed goes back: what it had from there on was of the attempt before, and is
    dropped. Raises `InputError` where the first step comes again: then these are several runs."""
    if _twice(steps) and _twice(values):
        steps, values, seconds = steps[::2], values[::2], None if seconds is None else seconds[::2]
    if _unordered(steps):
        order = np.argsort(steps)
        notes.append(f"{path.name}: {metric} is not in the order of its steps: sorted")
        steps, values, seconds = steps[order], values[order], None if seconds is None else seconds[order]
    if len(steps) > 1 and (np.diff(steps) <= 0).any():
        again = int((steps == steps[0]).sum())
        if again > 1:
            raise InputError(
                f"{path}: {metric} begins {again} times at step {steps[0]:g}: these are several runs. Name the column "
                "that tells them apart: run=, or seed="
            )
        highest = np.maximum.accumulate(steps)[:-1]
        reset = np.flatnonzero((np.diff(steps) < 0) & (steps[1:] <= EARLY * highest))
        if reset.size:
            after, back = highest[reset[0]], steps[reset[0] + 1]
            raise InputError(
                f"{path}: {metric} is at step {back:g} after {after:g}: a counter that began again, or several runs. "
                "Name the column that tells them apart (run=, seed=), or one that counts on (step=)"
            )
        keep = _kept(steps)
        if len(keep) < len(steps):
            gone = "what the attempt before had from there on is dropped"
            notes.append(f"{path.name}: {metric} goes back in steps, as a resumed log does; {gone}")
        steps, values = steps[keep], values[keep]
        seconds = None if seconds is None else seconds[keep]
    return Points(np.asarray(steps, float), np.asarray(values, float), seconds)


OFTEN = 4
"""Steps forward to one back. A run that is resumed again and again still goes on for some evaluations each time."""


def _twice(column: np.ndarray) -> bool:
    """Whether a column is made of equal pairs: its first two entries are the same, the next two, and so on."""
    return len(column) > 0 and np.array_equal(column[::2], column[1::2], equal_nan=True)


def _unordered(steps: np.ndarray) -> bool:
    """Whether rows stand in another order than that of their steps: newest first, or shuffled. A resumed log goes back
    seldom, and mostly to steps that it had."""
    back = int((np.diff(steps) < 0).sum())
    return back > 1 and back * OFTEN >= len(steps) and len(np.unique(steps)) == len(steps)


def _kept(steps: np.ndarray) -> np.ndarray:
    """The rows that count, by rising step. A row that lies before a single earlier one was written late: that is no
    resumed log, and both count."""
    kept: list[int] = []
    for i, step in enumerate(steps):
        after = [j for j in kept[-2:] if steps[j] >= step]  # two tell a resumed log from one late row
        if len(after) > 1 or (after and steps[after[-1]] == step):
            while kept and steps[kept[-1]] >= step:
                kept.pop()
        elif after:
            kept.insert(len(kept) - 1, i)
            continue
        kept.append(i)
    return np.array(kept)
