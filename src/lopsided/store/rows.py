"""Rows in Parquet, written through DuckDB. A metric is a number (`value`) or an array (`elements`, row by row,
with its `shape`); one row per member, evaluation and metric."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.store.paths import plain_path

NUMBERS = {
    "spec": ("object", "VARCHAR"),
    "seed": ("uint64", "UBIGINT"),
    "step": ("int64", "BIGINT"),
    "samples": ("int64", "BIGINT"),
    "distinct_samples": ("float64", "DOUBLE"),
    "seconds": ("float64", "DOUBLE"),
    "diverged": ("bool", "BOOLEAN"),
    "metric": ("object", "VARCHAR"),
    "value": ("float64", "DOUBLE"),
}
"""Columns with one number or text a row: NumPy's type and SQL's."""
ARRAYS = {"shape": "INTEGER[]", "elements": "DOUBLE[]"}
"""Columns of arrays; NULL where the metric is a number."""
COLUMNS = {**{name: sql for name, (_, sql) in NUMBERS.items()}, **ARRAYS}


def no_rows() -> dict[str, np.ndarray]:
    """Zero rows with the right types."""
    return {name: np.zeros(0, NUMBERS[name][0] if name in NUMBERS else "object") for name in COLUMNS}


def write_rows(file: Path, rows: Mapping[str, np.ndarray]) -> None:
    """Columns of equal length to a Parquet file; NaN in `value` becomes NULL. `elements` holds arrays, or None."""
    wrong = set(COLUMNS) ^ set(rows)
    if wrong:
        raise ValueError(f"rows have exactly the columns {tuple(COLUMNS)}; these differ: {sorted(wrong)}")
    at = [i for i, a in enumerate(rows["elements"]) if a is not None]
    arrays = [np.asarray(rows["elements"][i]) for i in at]
    columns = ", ".join(f"{name}::{kind} AS {name}" for name, (_, kind) in NUMBERS.items())
    with cursor() as con, plain_path(file.parent) as folder:
        con.register("numbers", _with_place({name: np.ascontiguousarray(rows[name]) for name in NUMBERS}))
        if at:
            con.register("flat", _flat(at, [a.reshape(-1).astype(np.float64) for a in arrays], np.float64))
            con.register("shapes", _flat(at, [np.array(a.shape, np.int64) for a in arrays], np.int64))
            source = (
                f"SELECT {columns}, shape::INTEGER[] AS shape, elements::DOUBLE[] AS elements FROM numbers "
                "LEFT JOIN (SELECT place, list(item ORDER BY i) AS elements FROM flat GROUP BY place) USING (place) "
                "LEFT JOIN (SELECT place, list(item ORDER BY i) AS shape FROM shapes GROUP BY place) USING (place)"
            )
        else:
            source = f"SELECT {columns}, NULL::INTEGER[] AS shape, NULL::DOUBLE[] AS elements FROM numbers"
        to = f"'{folder}/{file.name}' (FORMAT parquet, COMPRESSION zstd)"
        con.execute(f"COPY ({source} ORDER BY place) TO {to}")


@cache
def _database(pid: int) -> Any:
    """The DuckDB of a process. (After a fork the other process needs one of its own.)"""
    import duckdb

    return duckdb.connect()


def cursor() -> Any:
    """A cursor of this process's one DuckDB: to open another takes five times as long as to write a small file.

    A cursor draws no progress bar. A new connection does, on stdout, in processes that decide claims, because DuckDB
    takes a process without a file of its own for a prompt.
    """
    return _database(os.getpid()).cursor()


def _with_place(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {**columns, "place": np.arange(len(columns["value"]))}


def _flat(at: list[int], items: list[np.ndarray], kind: type) -> dict[str, np.ndarray]:
    """Items of many arrays in one column, with the row and the place in the array that each belongs to."""
    lengths = [len(x) for x in items]
    return {
        "place": np.repeat(np.array(at, np.int64), lengths),
        "i": np.concatenate([np.arange(n) for n in lengths]) if items else np.zeros(0, np.int64),
        "item": np.concatenate(items) if items else np.zeros(0, kind),
    }
