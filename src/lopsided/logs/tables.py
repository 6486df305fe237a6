"""Tables as runs: a column for each metric, or a row for each value."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.logs.asked import ARMS, LONG, RUNS, SEEDS, SINCE_1970, STEPS, TIMES, Log, ReadArguments
from lopsided.logs.points import points_of

NUMBERS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "infinity": np.inf, "-infinity": -np.inf}


class Roles(NamedTuple):
    """Which columns of a table count steps or seconds and tell runs apart; all others are metrics or settings."""

    step: str
    clock: str | None
    long: tuple[str, str] | None
    """The columns of a metric's name and of its value, where each value has a row."""
    run: str | None
    """The column of the run's name."""
    keys: tuple[str, ...]
    """Columns that tell runs apart, the run's name first."""

    @property
    def all(self) -> set[str | None]:
        return {self.step, self.clock, *self.keys, *(self.long or ())}

    def said(self, name: str) -> str:
        """What was taken for what, in words."""
        steps = f"{name}: steps from {self.step!r}" + (f", seconds from {self.clock!r}" if self.clock else "")
        return f"{steps}, runs by {self.run!r}" if self.run else steps


def logs_of(
    path: Path,
    columns: Mapping[str, Sequence[Any]],
    asked: ReadArguments,
    notes: list[str],
    config: Mapping[str, Any] = {},
) -> list[Log]:
    """The runs of a table, given by columns; an empty cell (None or "") is not evaluated, NaN is a value. What was
    taken for what is added to `notes`. Raises `InputError` where steps or metrics are not to be found."""
    roles = _roles(path, list(columns), asked)
    notes.append(roles.said(path.name))
    metrics = _metrics(columns, roles)
    steps = _required(columns[roles.step], roles.step, path)
    seconds = None if roles.clock is None else _required(columns[roles.clock], roles.clock, path)
    runs = _runs(columns, roles, steps, path.name, notes)
    settings = [n for n in columns if n not in roles.all and n not in metrics]
    if not roles.long:
        # A number that stays within each run is a setting of it, a learning rate perhaps, whatever else it may be.
        settings += [n for n, v in metrics.items() if all(len(set(v[rows].tolist())) == 1 for _, rows, _ in runs)]
    found = []
    for key, rows, number in runs:
        at = np.array(rows)
        own = {**config, **{n: columns[n][rows[0]] for n in settings}, **dict(zip(roles.keys, key, strict=True))}
        when = None if seconds is None else _since(seconds[at] * TIMES.get(str(roles.clock), 1.0))
        values = _long(columns, roles.long, at, path) if roles.long else _wide(columns, metrics, at)
        curves = {
            name: points_of(steps[at][there], value, None if when is None else when[there], name, path, notes)
            for name, (there, value) in values.items()
        }
        label = str(key[0]) if roles.run else "-".join([path.stem, *map(str, key)])
        found.append(Log(path, f"{label}{number}", curves, own, roles.step))
    if not any(log.metrics for log in found):
        raise InputError(f"{path}: has no column of numbers beside {roles.step!r}{_nearly(columns, roles.all)}")
    return found


def _roles(path: Path, names: Sequence[str], asked: ReadArguments) -> Roles:
    """Finds the columns that count and that tell runs apart: those that the user `asked` for, or by their usual
    names."""
    step = asked.step or next((name for name in STEPS if name in names), None)
    if step is None or step not in names:
        raise InputError(f"{path}: has no column of steps; step= one of {', '.join(names)}")
    clock = asked.seconds or next((name for name in TIMES if name in names), None)
    if clock is not None and clock not in names:
        raise InputError(f"{path}: has no column {clock!r}; seconds= one of {', '.join(names)}")
    long = next((pair for pair in LONG if set(pair) <= set(names)), None)
    run = next((n for n in (asked.run, *RUNS) if n and n in names and not (long and n in long)), None)
    wanted: list[str] = [
        name for name in (asked.arm, asked.seed, asked.task) if isinstance(name, str) and name in names
    ]
    usual: list[str] = [name for name in names if name.rpartition(".")[2] in (*ARMS, *SEEDS)]
    first = [] if run is None else [run]
    keys: dict[str, None] = dict.fromkeys([*first, *wanted, *usual])
    return Roles(step, clock, long, run, tuple(keys))


def _metrics(columns: Mapping[str, Sequence[Any]], roles: Roles) -> dict[str, np.ndarray]:
    """Columns of numbers. Another one that counts (`steps` beside `step`, an epoch) is none that anybody compares."""
    others = [n for n in columns if n not in roles.all and n not in STEPS and n not in TIMES]
    return {n: found for n in others if (found := _numbers(columns[n])) is not None}


def _runs(
    columns: Mapping[str, Sequence[Any]], roles: Roles, steps: np.ndarray, name: str, notes: list[str]
) -> list[tuple[tuple[Any, ...], list[int], str]]:
    """What tells each run apart, its rows, and a number for those that share a name."""
    told = [[str(cell) if isinstance(cell, list | dict) else cell for cell in columns[key]] for key in roles.keys]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*told, strict=True) if told else ((),) * len(steps)):
        groups.setdefault(key, []).append(i)
    return [(key, rows, "") for key, rows in groups.items()] if roles.long else _apart(groups, steps, name, notes)


def _long(
    columns: Mapping[str, Sequence[Any]], long: tuple[str, str], at: np.ndarray, path: Path
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Metrics of the rows `at`, each value in a row: which of these rows a metric has, and its values."""
    kinds, values = np.array(columns[long[0]], object)[at], _required(columns[long[1]], long[1], path)[at]
    return {str(kind): (kinds == kind, values[kinds == kind]) for kind in dict.fromkeys(kinds)}


def _wide(
    columns: Mapping[str, Sequence[Any]], metrics: Mapping[str, np.ndarray], at: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Metrics of the rows `at`, each in a column: which of these rows are not empty, and the values there."""
    filled = {name: np.array([columns[name][i] not in (None, "") for i in at]) for name in metrics}
    return {name: (there, metrics[name][at][there]) for name, there in filled.items() if there.any()}


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
