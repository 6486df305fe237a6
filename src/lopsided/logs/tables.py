"""Tables as runs: a column for each metric, or a row for each value."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.logs.asked import ARMS, LONG, RUNS, SEEDS, SINCE_1970, STEPS, TIMES, Asked, Log
from lopsided.logs.run import Points

NUMBERS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "infinity": np.inf, "-infinity": -np.inf}


def logs_of(
    path: Path, columns: Mapping[str, Sequence[Any]], asked: Asked, notes: list[str], config: Mapping[str, Any] = {}
) -> list[Log]:
    """The runs of a table, given by columns; an empty cell (None or "") is not evaluated, NaN is a value. What was
    taken for what is added to `notes`. Raises `InputError` where steps or metrics are not to be found."""
    names = list(columns)
    step = asked.step or next((name for name in STEPS if name in columns), None)
    if step is None or step not in columns:
        raise InputError(f"{path}: has no column of steps; step= one of {', '.join(names)}")
    clock = asked.seconds or next((name for name in TIMES if name in columns), None)
    if clock is not None and clock not in columns:
        raise InputError(f"{path}: has no column {clock!r}; seconds= one of {', '.join(names)}")
    long = next((pair for pair in LONG if set(pair) <= set(columns)), None)
    apart = [name for name in (asked.run, *RUNS) if name and name in columns and not (long and name in long)]
    wanted = [name for name in (asked.arm, asked.seed, asked.task) if isinstance(name, str) and name in columns]
    said = f"{path.name}: steps from {step!r}" + (f", seconds from {clock!r}" if clock else "")
    notes.append(f"{said}, runs by {apart[0]!r}" if apart else said)
    keys: list[str] = list(
        dict.fromkeys([*apart[:1], *wanted, *(name for name in names if name.rpartition(".")[2] in (*ARMS, *SEEDS))])
    )
    known: set[str | None] = {step, clock, *keys, *(long or ())}
    metrics = {n: found for n in names if n not in known and (found := _numbers(columns[n])) is not None}
    # Another column that counts (`steps` beside `step`, an epoch) is none that anybody compares.
    metrics = {n: values for n, values in metrics.items() if n not in STEPS and n not in TIMES}
    settings = [n for n in names if n not in known and n not in metrics]
    steps = _required(columns[step], step, path)
    seconds = None if clock is None else _required(columns[clock], clock, path)
    groups: dict[tuple[Any, ...], list[int]] = {}
    told = [[str(cell) if isinstance(cell, list | dict) else cell for cell in columns[name]] for name in keys]
    for i, key in enumerate(zip(*told, strict=True) if keys else ((),) * len(steps)):
        groups.setdefault(key, []).append(i)
    found = []
    runs = [(key, rows, "") for key, rows in groups.items()] if long else _apart(groups, steps, path.name, notes)
    # A number that stays within each run is a setting of it, a learning rate perhaps, whatever else it may be.
    stays = (
        [] if long else [n for n, v in metrics.items() if all(len(set(v[rows].tolist())) == 1 for _, rows, _ in runs)]
    )
    for key, rows, number in runs:
        at = np.array(rows)
        own = {n: columns[n][rows[0]] for n in (*settings, *stays)}
        own = {**config, **own, **dict(zip(keys, key, strict=True))}
        when = None if seconds is None else _since(seconds[at] * TIMES.get(str(clock), 1.0))
        if long:
            kinds, values = np.array(columns[long[0]], object)[at], _required(columns[long[1]], long[1], path)[at]
            each = {str(kind): (at[kinds == kind], values[kinds == kind]) for kind in dict.fromkeys(kinds)}
            curves = {k: _points(steps[i], v, None if when is None else when[np.isin(at, i)], k, path, notes)
                      for k, (i, v) in each.items()}  # fmt: skip
        else:
            curves = {}
            for name, values in metrics.items():
                there = np.array([columns[name][i] not in (None, "") for i in rows])
                if there.any():
                    its = None if when is None else when[there]
                    curves[name] = _points(steps[at][there], values[at][there], its, name, path, notes)
        label = str(key[0]) if apart else "-".join([path.stem, *map(str, key)])
        found.append(Log(path, f"{label}{number}", curves, own, step))
    if not any(log.metrics for log in found):
        raise InputError(f"{path}: has no column of numbers beside {step!r}{_nearly(columns, known)}")
    return found


def _apart(
    groups: Mapping[tuple[Any, ...], list[int]], steps: np.ndarray, name: str, notes: list[str]
) -> list[tuple[tuple[Any, ...], list[int], str]]:
    """Rows by runs, with a number that tells runs of one name apart. What begins again at its first step, and ended at
    the same step each time, is several runs under one name, as a cut name or a missing column makes them."""
    found = []
    for key, rows in groups.items():
        of = steps[rows]
        starts = [0, *(np.flatnonzero((of[1:] == of[0]) & (np.diff(of) < 0)) + 1)]
        ends = [*(i - 1 for i in starts[1:]), len(of) - 1]
        if len(starts) == 1 or len({float(of[i]) for i in ends}) > 1:
            found.append((key, rows, ""))
            continue
        times = f"begins {len(starts)} times at step {of[0]:g} and ends each time at {of[-1]:g}"
        notes.append(f"{name}: what has one run's name {times}; it is taken for {len(starts)} runs")
        found += [
            (key, rows[start : end + 1], f"#{i + 1}") for i, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]
    return found


EARLY = 0.1
"""Share of the largest step so far. A log that jumps back below this share was not resumed from a checkpoint: its step
counter began again."""


def _points(steps: Any, values: Any, seconds: Any, metric: str, path: Path, notes: list[str]) -> Points:
    """With rising steps. A log that was resumed goes back: what it had from there on was of the attempt before, and is
    dropped. Raises `InputError` where the first step comes again: then these are several runs."""
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


def _since(seconds: np.ndarray) -> np.ndarray:
    known = seconds[np.isfinite(seconds)]
    return seconds - known[0] if known.size and known[0] > SINCE_1970 else seconds


def _required(column: Sequence[Any], name: str, path: Path) -> np.ndarray:
    found = _numbers(column)
    if found is None:
        bad = next((i for i, cell in enumerate(column) if _number(cell) is None and cell not in (None, "")), 0)
        raise InputError(f"{path}, row {bad + 1}: {name} = {column[bad]!r} is no number")
    return found


def _nearly(columns: Mapping[str, Sequence[Any]], known: Container[str | None]) -> str:
    """The first cell that is no number of a column whose first one is, in words."""
    for name, column in columns.items():
        cells = [(i, cell) for i, cell in enumerate(column) if cell not in (None, "")]
        if name not in known and cells and _number(cells[0][1]) is not None:
            i, bad = next((i, cell) for i, cell in cells if _number(cell) is None)
            return f": {name!r} has {str(bad)[:40]!r} in row {i + 1}"
    return ""


def _numbers(column: Sequence[Any]) -> np.ndarray | None:
    """A column as numbers, NaN where it is empty; None if it holds anything else, or nothing."""
    try:
        found = np.array([np.nan if cell is None or cell == "" else cell for cell in column], np.float64)
    except (TypeError, ValueError, OverflowError):
        each = [_number(cell) if cell not in (None, "") else np.nan for cell in column]
        if any(value is None for value in each):
            return None
        found = np.array(each, np.float64)
    return found if any(cell not in (None, "") for cell in column) else None


def _number(cell: Any) -> float | None:
    if isinstance(cell, str) and cell.strip().lower() in NUMBERS:
        return NUMBERS[cell.strip().lower()]
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None
    except OverflowError:  # a whole number of hundreds of digits; as a text it would be infinite
        return -np.inf if isinstance(cell, int) and cell < 0 else np.inf
