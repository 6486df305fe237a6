"""Which column of a log says when, in seconds since the run began."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.logs.asked import SINCE_1970, TIMES
from lopsided.logs.cells import is_empty, numbers


class TimeColumn(NamedTuple):
    """The column that says when."""

    name: str
    seconds: np.ndarray
    """(rows,) seconds, on whichever clock; NaN where the log does not say them."""


def clock_of(columns: Mapping[str, Sequence[Any]], asked: str | None, path: Path) -> TimeColumn | None:
    """The column that the user `asked` for, or the first of a usual name that holds times; None if there is none.
    Raises `InputError` where the one that was asked for holds none."""
    if asked is not None and asked not in columns:
        raise InputError(f"{path}: has no column {asked!r}; seconds= one of {', '.join(columns)}")
    for name in TIMES if asked is None else (asked,):
        if name in columns and (found := _seconds(columns[name])) is not None:
            return TimeColumn(name, found * TIMES.get(name, 1.0))
    if asked is not None:
        row, bad = next(((i, cell) for i, cell in enumerate(columns[asked]) if not is_empty(cell)), (0, ""))
        date = "2026-11-30T12:00:00"
        raise InputError(f"{path}, row {row + 1}: {asked} = {bad!r} is neither seconds nor a date ({date})")
    return None


def since(seconds: np.ndarray) -> np.ndarray:
    """Seconds of one run, counted from its earliest where these are dates."""
    known = seconds[np.isfinite(seconds)]
    return seconds - known.min() if known.size and known.min() > SINCE_1970 else seconds


def _seconds(column: Sequence[Any]) -> np.ndarray | None:
    found = numbers(column)
    if found is not None:
        return found
    try:
        dates = np.array([np.nan if is_empty(cell) else _of_date(cell) for cell in column])
    except (TypeError, ValueError):
        return None
    return dates if np.isfinite(dates).any() else None


def _of_date(text: str) -> float:
    """Seconds since 1970 of a date as ISO 8601 writes it; in UTC where it does not say where."""
    date = datetime.fromisoformat(text.strip() if isinstance(text, str) else text)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
