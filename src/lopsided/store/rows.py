"""Rows in Parquet, written and read through DuckDB; there is no database file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lopsided.store.parts import Store

COLUMNS = ("spec", "seed", "step", "samples", "distinct_samples", "seconds", "diverged", "metric", "value")
_TYPES = ("object", "uint64", "int64", "int64", "float64", "float64", "bool", "object", "float64")

_SQL = ("VARCHAR", "UBIGINT", "BIGINT", "BIGINT", "DOUBLE", "DOUBLE", "BOOLEAN", "VARCHAR", "DOUBLE")


def no_rows() -> dict[str, np.ndarray]:
    """Zero rows with the right types."""
    return {name: np.zeros(0, dtype) for name, dtype in zip(COLUMNS, _TYPES, strict=True)}


def write_rows(file: Path, rows: Mapping[str, np.ndarray]) -> None:
    """Columns of equal length to a Parquet file; NaN becomes NULL."""
    import duckdb

    wrong = set(COLUMNS) ^ set(rows)
    if wrong:
        raise ValueError(f"rows have exactly the columns {COLUMNS}; these differ: {sorted(wrong)}")
    with duckdb.connect() as con:
        con.register("rows", {name: np.ascontiguousarray(rows[name]) for name in COLUMNS})
        columns = ", ".join(f"{name}::{kind} AS {name}" for name, kind in zip(COLUMNS, _SQL, strict=True))
        con.execute(f"COPY (SELECT {columns} FROM rows) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")


def connect(store: Store) -> Any:
    """A DuckDB connection with `rows` (complete members, each once) and `members` (spec, seed, job, settings)."""
    import duckdb

    con = duckdb.connect()
    complete = store.complete()
    parts = [p for p in store.parts() if p.job in set(complete.values())]
    specs = {h: s for p in parts for h, s in p.specs.items()}
    members = list(complete.items())
    con.register(
        "_members",
        {
            "spec": np.array([m[0] for m, _ in members], dtype=object),
            "seed": np.array([m[1] for m, _ in members], dtype=np.uint64),
            "job": np.array([job for _, job in members], dtype=object),
            "settings": np.array([json.dumps(specs[m[0]]) for m, _ in members], dtype=object),
        },
    )
    con.execute("CREATE TABLE members AS SELECT spec, seed, job, settings::JSON AS settings FROM _members")
    if not parts:
        con.execute(f"CREATE TABLE rows ({', '.join(f'{c} VARCHAR' for c in COLUMNS)})")
        return con
    files = [str(store.path(p) / "rows.parquet") for p in parts]
    con.execute(
        "CREATE VIEW rows AS SELECT r.* EXCLUDE (filename) FROM "
        f"read_parquet({files!r}, filename = true, union_by_name = true) r "
        "JOIN members m ON r.spec = m.spec AND r.seed = m.seed AND contains(r.filename, m.job)"
    )
    return con
