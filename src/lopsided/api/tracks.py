"""Runs of logs along an axis: what each was evaluated at, how it ended, and what is to be told of it."""

from __future__ import annotations

import numpy as np

from lopsided.api.curves import Ragged
from lopsided.core.errors import InputError
from lopsided.logs.run import Run
from lopsided.stats.crossing import Track

PAUSE = 20.0
"""How many times as long as a run's usual distance of evaluations a pause is, and a fifth of the whole run: evaluations
and checkpoints that take their time should be shorter. Not varied."""


def told(arm: Ragged) -> Ragged:
    """An arm with what is to be said of its runs: how many diverged, and whose clocks went on while they paused."""
    lost, notes = sum(track.diverged for track in arm.tracks), list(arm.notes)
    if lost:
        notes.append(f"{arm.name}: {lost} of {len(arm.tracks)} runs diverged: from there on they get nowhere")
    steps = [np.diff(track.axis) for track in arm.tracks if arm.in_time and len(track.axis) > 2]
    pauses = [float(s.max()) for s in steps if s.max() > max(PAUSE * np.median(s), s.sum() / 5)]
    if pauses:
        notes.append(
            f"{arm.name}: {len(pauses)} of {len(arm.tracks)} runs paused, for up to {max(pauses):,.0f} s between two "
            "evaluations, and their seconds count it; axis='steps' does not"
        )
    return arm._replace(notes=tuple(notes))


def track_of(run: Run, metric: str, axis: str) -> Track:
    """A run's evaluations. Raises `InputError` for a run without any, or without seconds where those are asked for."""
    points = run.metrics[metric]
    along = points.step if axis == "steps" else points.seconds
    if along is None:
        raise InputError(f"run {run.name!r} ({run.source}): its log has no times; axis='steps', or seconds= a column")
    placed = np.isfinite(along)  # an evaluation of which nobody knows when is none, and says nothing of a run's end
    along, value = along[placed], points.value[placed]
    known = np.flatnonzero(np.isfinite(value))
    if not along.size:
        raise InputError(f"run {run.name!r} ({run.source}): {metric} has no value")
    if not known.size:  # it diverged before it was evaluated
        there = along.astype(np.float64)
        return Track(there[:1], np.array([np.nan]), True, float(there[-1]))
    gone = _ended_in_nan(value, known)
    if axis == "seconds" and (np.diff(along[known]) < 0).any():
        raise InputError(f"run {run.name!r} ({run.source}): its seconds go back, as those of a resumed log do; "
                         "axis='steps', or a column that counts on")  # fmt: skip
    kept, values = along[known].astype(np.float64), value[known]
    rising = np.append(True, np.diff(kept) > 0)  # two evaluations within a clock's tick are one
    return Track(kept[rising], values[rising], gone, float(along[-1]) if gone else None)


def _ended_in_nan(value: np.ndarray, known: np.ndarray) -> bool:
    """Whether a run diverged: NaN, or an infinite value, is the last that its log says. Where NaN comes again and again
    between values, it stands for "not evaluated", and as much of it at the end does, too."""
    last = value[known[-1] + 1 :]
    between = np.diff(known) - 1
    rows = between[between > 0]
    usual = len(rows) > 1 and len(last) <= rows.max() and not np.isinf(last).any()
    return len(last) > 0 and not usual
