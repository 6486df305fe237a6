"""Arms with a setting that was swept: each arm at its best, chosen by runs that are not judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lopsided.api.curves import direction_of
from lopsided.api.runs import Runs, pooled
from lopsided.core.errors import InputError
from lopsided.logs.run import Run
from lopsided.stats.crossing import crossings
from lopsided.stats.selection import FOLDS, Score, score


def best(runs: Runs, over: str | Sequence[str], metric: str, at: float | None, axis: str) -> Runs:
    """See `Runs.best`."""
    names = [over] if isinstance(over, str) else list(over)
    found, before = _best(runs, names, metric, at, axis), pooled(runs.all, names)
    return replace(found, notes=tuple(note for note in found.notes if note not in before))


def _best(runs: Runs, names: list[str], metric: str, at: float | None, axis: str) -> Runs:
    if runs.tasks:  # a best setting for each task
        of = [_best(runs.of(task), names, metric, at, axis) for task in runs.tasks]
        read = len(runs.notes)
        said = [f"{task}: {note}" for task, own in zip(runs.tasks, of, strict=True) for note in own.notes[read:]]
        return replace(runs, all=tuple(run for own in of for run in own.all), notes=(*runs.notes, *said))
    found: list[Run] = []
    notes: list[str] = []
    arms = list(runs.arms)
    for arm, own in runs.arms.items():
        grid = _grid(arm, own, names)
        if len(grid) == 1:
            found += own
            continue
        seeds = sorted({run.seed for each in grid.values() for run in each}, key=_order)
        if len(seeds) < FOLDS:
            raise InputError(f"best: {arm!r} has {len(seeds)} named seeds; a setting is chosen and judged with {FOLDS}")
        fold = {seed: i % FOLDS for i, seed in enumerate(seeds)}
        chosen = [_choice(runs, grid, {s for s in seeds if fold[s] != f}, metric, at, axis) for f in range(FOLDS)]
        for f, setting in enumerate(chosen):
            found += [run for run in grid[setting] if fold[run.seed] == f]
        found.sort(key=lambda run: (arms.index(run.arm), _order(run.seed)))
        notes.append(_said(arm, names, grid, chosen))
    return replace(runs, all=tuple(found), notes=(*runs.notes, *notes))


def _grid(arm: str, runs: Sequence[Run], names: Sequence[str]) -> dict[tuple[Any, ...], list[Run]]:
    """Runs by setting. Raises `InputError` where a run does not say one, or has no seed."""
    grid: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        said = {name: _setting(run, name) for name in names}
        lacks = [name for name, value in said.items() if value is None]
        if lacks:
            known = ", ".join(map(str, run.config)) or "none"
            raise InputError(f"best: run {run.name!r} of {arm!r} says no {lacks[0]}; its settings are {known}")
        if run.seed is None:
            raise InputError(f"best: run {run.name!r} of {arm!r} has no seed; read(seed=...) says where it is named")
        grid.setdefault(tuple(said.values()), []).append(run)
    return grid


def _setting(run: Run, name: str) -> Any:
    """A setting of the configuration, or of a column that says one value all the time; None if there is none."""
    if name in run.config or name not in run.metrics:
        return run.config.get(name)
    values = run.metrics[name].value
    return float(values[0]) if len(values) and np.ptp(values) == 0 else None


def _choice(
    runs: Runs, grid: Mapping[tuple[Any, ...], list[Run]], seeds: set[Any], metric: str, at: float | None, axis: str
) -> tuple[Any, ...]:
    """The setting that is best for these seeds: by times to `at`, else by last values."""
    scores: dict[tuple[Any, ...], Score] = {}
    for setting, own in grid.items():
        mine = tuple(run for run in own if run.seed in seeds)
        if not mine:
            continue
        curves = replace(runs, all=mine).curves(mine[0].arm, metric, axis)
        falling = direction_of(metric, [curves], None).falling
        final = np.where(np.isnan(curves.final), np.inf if falling else -np.inf, curves.final)
        goal = float(np.inf if not falling else -np.inf) if at is None else at
        scores[setting] = score(crossings(curves.tracks, goal, falling), final, more_is_better=not falling)
    if not scores:
        raise InputError("best: no setting has runs of the seeds that choose")
    if at is None:  # nobody reaches an infinite goal: settings then differ by where runs end, not by how far they went
        return min(scores, key=lambda setting: scores[setting].final)
    return min(scores, key=lambda setting: scores[setting])


def _said(
    arm: str, names: Sequence[str], grid: Mapping[tuple[Any, ...], list[Run]], chosen: Sequence[tuple[Any, ...]]
) -> str:
    """What was chosen, and whether it lies at an end of what was tried."""
    counts = Counter(chosen)
    ways = ", ".join(f"{' '.join(map(str, setting))} ({n} of {FOLDS} folds)" for setting, n in counts.most_common())
    edges = []
    for i, name in enumerate(names):
        tried = sorted({_number(setting[i]) for setting in grid} - {None})  # type: ignore[type-var]
        if len(tried) > 1 and (at := [_number(s[i]) for s in chosen if _number(s[i]) in (tried[0], tried[-1])]):
            ends = [word for word, value in (("smallest", tried[0]), ("largest", tried[-1])) if value in at]
            edges.append(f"; the {' and the '.join(ends)} {name} that was tried: it may be better beyond")
    return f"{arm}: best {', '.join(names)} of {len(grid)}: {ways}{''.join(edges)}"


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _order(seed: Any) -> tuple[int, float, str]:
    number = _number(seed)
    return (0, number, "") if number is not None else (1, 0.0, str(seed))
