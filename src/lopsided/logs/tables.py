"""Tables as runs: a column for each metric, or a row for each value."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.core.telling import counted
from lopsided.logs.asked import ARMS, LONG, RUNS, SEEDS, STEPS, TIMES, Log, ReadArguments
from lopsided.logs.cells import first_filled, is_empty, number, numbers
from lopsided.logs.clocks import TimeColumn, clock_of, since
from lopsided.logs.opened import plain_name
from lopsided.logs.points import points_of


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
        steps = f"{name}: steps from {self.step!r}" if self.step else f"{name}: one row for each run, without steps"
        steps += f", seconds from {self.clock!r}" if self.clock else ""
        return f"{steps}, runs by {self.run!r}" if self.run else steps


class _Part(NamedTuple):
    """The rows of one run."""

    key: tuple[Any, ...]
    """What tells it from others: its cells of `Roles.keys`."""
    rows: np.ndarray
    number: str = ""
    """Tells it from others of the same key."""


def logs_of(
    path: Path,
    columns: Mapping[str, Sequence[Any]],
    asked: ReadArguments,
    notes: list[str],
    config: Mapping[str, Any] = {},
) -> list[Log]:
    """The runs of a table, given by columns; an empty cell is not evaluated, NaN is a value. What was
    taken for what is added to `notes`. Raises `InputError` where steps or metrics are not to be found."""
    clock = clock_of(columns, asked.seconds, path)
    roles = _roles(path, list(columns), asked, clock)
    notes.append(roles.said(path.name))
    steps = _steps(columns, roles, path, notes)
    columns = _with_settings(columns, steps)
    metrics = _metrics(columns, roles)
    parts = _parts(columns, roles, steps, path.name, notes)
    settings = [n for n in columns if n not in roles.all and _stands(columns[n], metrics.get(n), roles, parts)]
    long = _long(columns, roles.long, path) if roles.long else None
    found = []
    for part in parts:
        own = {n: value for n in settings if (value := first_filled([columns[n][i] for i in part.rows])) is not None}
        at = part.rows[np.isfinite(steps[part.rows])]
        when = None if clock is None else since(clock.seconds[at])
        values = _wide(columns, metrics, at) if long is None else long.of(at)
        curves = {
            name: points_of(steps[at][there], value, None if when is None else when[there], name, path, notes)
            for name, (there, value) in values.items()
        }
        label = str(part.key[0]) if roles.run else "-".join([plain_name(path), *map(str, part.key)])
        said = {**config, **own, **dict(zip(roles.keys, part.key, strict=True))}
        found.append(Log(path, f"{label}{part.number}", curves, said, roles.step))
    if not any(log.metrics for log in found):
        beside = f" beside {roles.step!r}" if roles.step else ""
        raise InputError(f"{path}: has no column of numbers{beside}{_nearly(columns, roles.all)}")
    return found


def _roles(path: Path, names: Sequence[str], asked: ReadArguments, clock: TimeColumn | None) -> Roles:
    """Finds the columns that count and that tell runs apart: those that the user `asked` for, or by their usual
    names."""
    step = asked.step or next((name for name in STEPS if name in names), "")
    if asked.step and step not in names:
        raise InputError(f"{path}: has no column {step!r}; step= one of {', '.join(names)}")
    long = next((pair for pair in LONG if set(pair) <= set(names)), None)
    run = next((n for n in (asked.run, *RUNS) if n and n in names and not (long and n in long)), None)
    wanted: list[str] = [
        name for name in (asked.arm, asked.seed, asked.task) if isinstance(name, str) and name in names
    ]
    usual: list[str] = [name for name in names if name.rpartition(".")[2] in (*ARMS, *SEEDS)]
    first = [] if run is None else [run]
    keys: dict[str, None] = dict.fromkeys([*first, *wanted, *usual])
    return Roles(step, clock and clock.name, long, run, tuple(keys))


def _metrics(columns: Mapping[str, Sequence[Any]], roles: Roles) -> dict[str, np.ndarray]:
    """Columns of numbers. Another one that counts (`steps` beside `step`, an epoch) is none that anybody compares."""
    others = [n for n in columns if n not in roles.all and n not in STEPS and n not in TIMES]
    return {n: found for n in others if (found := numbers(columns[n])) is not None}


def _steps(columns: Mapping[str, Sequence[Any]], roles: Roles, path: Path, notes: list[str]) -> np.ndarray:
    """The steps of each row, NaN where it has none: a summary at the end, a line of settings. Such a row is no
    evaluation. A table of results, with one row for each run, needs no steps. Raises `InputError` for other tables
    without them."""
    if not roles.step:
        groups = _groups(columns, roles.keys)
        if roles.long or not roles.keys or max(map(len, groups.values())) > 1:
            raise InputError(f"{path}: has no column of steps; step= one of {', '.join(columns)}")
        return np.ones(len(groups))
    steps = _required(columns[roles.step], roles.step, path)
    without = int((~np.isfinite(steps)).sum())
    if without == len(steps):
        raise InputError(f"{path}: no row has a {roles.step}")
    if without:
        notes.append(f"{path.name}: {counted(without, 'row')} without a {roles.step!r} left out")
    return steps


def _with_settings(columns: Mapping[str, Sequence[Any]], steps: np.ndarray) -> Mapping[str, Sequence[Any]]:
    """The table with what rows before the first step say, and no row with a step: settings of the run, which a logger
    wrote first."""
    first = int(np.argmax(np.isfinite(steps)))
    if not first:
        return columns
    later = [i for i in range(first, len(steps)) if np.isfinite(steps[i])]
    found = dict(columns)
    for name, column in columns.items():
        said = {str(cell): cell for cell in column[:first] if not is_empty(cell)}
        if len(said) == 1 and all(is_empty(column[i]) for i in later):
            found[name] = list(said.values()) * len(column)
    return found


def _groups(columns: Mapping[str, Sequence[Any]], keys: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """Rows by what tells runs apart."""
    told = [[str(cell) if isinstance(cell, list | dict) else cell for cell in columns[key]] for key in keys]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*told, strict=True) if told else ((),) * len(next(iter(columns.values())))):
        groups.setdefault(key, []).append(i)
    return groups


def _parts(
    columns: Mapping[str, Sequence[Any]], roles: Roles, steps: np.ndarray, name: str, notes: list[str]
) -> list[_Part]:
    """The rows of the table, divided by run. A run of which no row has a step is left out."""
    groups = [(key, np.array(rows)) for key, rows in _groups(columns, roles.keys).items()]
    groups = [(key, rows) for key, rows in groups if np.isfinite(steps[rows]).any()]
    if roles.long:
        return [_Part(key, rows) for key, rows in groups]
    return [part for key, rows in groups for part in _apart(key, rows, steps, name, notes)]


def _stands(column: Sequence[Any], values: np.ndarray | None, roles: Roles, parts: Sequence[_Part]) -> bool:
    """Whether a column stands still within each run: then it is a setting, a learning rate perhaps, whatever else it
    may be. A text that changes within a run (a date, a message) is none, nor is a number where each value has a row."""
    if values is not None:
        return not roles.long and all(len(set(values[part.rows].tolist())) == 1 for part in parts)
    return all(len({str(column[i]) for i in part.rows if not is_empty(column[i])}) <= 1 for part in parts)


class _Long(NamedTuple):
    """A table where each value has a row."""

    kinds: np.ndarray
    """(rows,) the metric of each row."""
    values: np.ndarray
    filled: np.ndarray
    """(rows,) whether there is a value, or the word NaN."""

    def of(self, at: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Metrics of the rows `at`: which of these rows a metric has, and its values."""
        kinds, found = self.kinds[at], {}
        for kind in dict.fromkeys(kinds):
            there = (kinds == kind) & self.filled[at]
            if there.any():
                found[str(kind)] = there, self.values[at][there]
        return found


def _long(columns: Mapping[str, Sequence[Any]], long: tuple[str, str], path: Path) -> _Long:
    values = _required(columns[long[1]], long[1], path)
    filled = _filled(columns[long[1]], values, np.arange(len(values)))
    return _Long(np.array(columns[long[0]], object), values, filled)


def _wide(
    columns: Mapping[str, Sequence[Any]], metrics: Mapping[str, np.ndarray], at: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Metrics of the rows `at`, each in a column: which of these rows are not empty, and the values there."""
    filled = {name: _filled(columns[name], metrics[name], at) for name in metrics}
    return {name: (there, metrics[name][at][there]) for name, there in filled.items() if there.any()}


def _filled(column: Sequence[Any], values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Which cells of the rows `at` hold something: a number, or the word NaN."""
    there = ~np.isnan(values[at])
    there[~there] = [not is_empty(column[i]) for i in at[~there]]
    return there


def _apart(key: tuple[Any, ...], rows: np.ndarray, steps: np.ndarray, name: str, notes: list[str]) -> list[_Part]:
    """Rows of one name by runs, with a number that tells these apart. What begins again at its first step, and ended at
    the same step each time, is several runs under one name, as a cut name or a missing column makes them."""
    stepped = rows[np.isfinite(steps[rows])]
    of = steps[stepped]
    starts = [0, *(np.flatnonzero((of[1:] == of[0]) & (np.diff(of) < 0)) + 1)]
    ends = [*(i - 1 for i in starts[1:]), len(of) - 1]
    if len(starts) == 1 or len({float(of[i]) for i in ends}) > 1:
        return [_Part(key, rows)]
    times = f"begins {len(starts)} times at step {of[0]:g} and ends each time at {of[-1]:g}"
    notes.append(f"{name}: what has one run's name {times}; it is taken for {len(starts)} runs")
    pairs = enumerate(zip(starts, ends, strict=True), 1)
    return [_Part(key, stepped[start : end + 1], f"#{number}") for number, (start, end) in pairs]


def _required(column: Sequence[Any], name: str, path: Path) -> np.ndarray:
    found = numbers(column)
    if found is None:
        bad = next((i for i, cell in enumerate(column) if number(cell) is None and not is_empty(cell)), 0)
        raise InputError(f"{path}, row {bad + 1}: {name} = {column[bad]!r} is no number")
    return found


def _nearly(columns: Mapping[str, Sequence[Any]], known: Container[str | None]) -> str:
    """The first cell that is no number of a column that has a digit in its first one, in words."""
    for name, column in columns.items():
        first = str(first_filled(column))
        if name not in known and any(map(str.isdigit, first)):
            bads = ((i, cell) for i, cell in enumerate(column) if not is_empty(cell) and number(cell) is None)
            i, bad = next(bads, (-1, ""))
            if i < 0:  # a counter, for example, which is no metric
                continue
            comma = "; write it without a comma" if "," in str(bad) else ""
            return f": {name!r} has {str(bad)[:40]!r} in row {i + 1}{comma}"
    return ""
