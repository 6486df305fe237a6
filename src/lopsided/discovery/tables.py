"""Texts and embeddings of tables, and tables with a column of skills more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.core.errors import InputError, unknown
from lopsided.discovery.discover import Discovered, by_columns, discover
from lopsided.store.paths import plain_path

READERS: Mapping[str, Any] = {
    ".parquet": lambda duckdb, path: duckdb.read_parquet(path),
    ".csv": lambda duckdb, path: duckdb.read_csv(path, sample_size=-1),
    ".jsonl": lambda duckdb, path: duckdb.read_json(path, sample_size=-1),
}
"""Tables that can be read, by the end of their names. All of a text is looked at: columns that begin late were lost."""
KINDS = {".parquet": "Parquet file", ".csv": "CSV", ".jsonl": "file of JSON lines"}
WRITTEN = {".parquet": "PARQUET", ".csv": "CSV, HEADER", ".jsonl": "JSON"}
"""Tables that can be written, by the end of their names."""


def values_of(table: Path, name: str | None) -> list[Any] | int:
    """The values of a column, or without its name the number of rows. Raises `InputError` for a table or a column that
    is not there."""

    def values(rows: Any) -> list[Any] | int:
        import duckdb

        if not len(rows.limit(1)):  # fetching takes pytz where a time has a zone
            raise InputError(f"table {str(table)!r}: has no rows")
        if name is None:
            return len(rows)
        if name not in rows.columns:
            if len(rows.columns) == 1 and set(rows.columns[0]) & set(",;\t"):
                raise InputError(
                    f"table {str(table)!r}: its rows are of several lengths; is it a CSV with a line of names, and as "
                    "many values in each row?"
                )
            raise unknown("column", name, rows.columns)
        return [row[0] for row in rows.select(duckdb.ColumnExpression(name)).fetchall()]

    return _asked(table, values)


def column(table: Path, name: str) -> list[Any]:
    """The values of a column."""
    found = values_of(table, name)
    assert isinstance(found, list)
    return found


def of_table(table: Path, text: str | None, embeddings: str | None, k: int | None, seed: int) -> Discovered:
    """Skills of the rows of a table, by a column of texts, or of embeddings (or a .npy file of them)."""
    texts = None
    if text is not None:
        texts = ["" if value is None else value for value in column(table, text)]
        bad = next((i for i, value in enumerate(texts) if not isinstance(value, str)), None)
        if bad is not None:
            kind = type(texts[bad]).__name__
            raise InputError(f"--text {text!r}: row {bad + 1:,} is a {kind}, not a text; a column that holds texts?")
    vectors = None
    if embeddings is not None:
        vectors = _vectors(table, embeddings)
        if len(vectors) != (n := values_of(table, None)):
            raise InputError(f"--embeddings {embeddings!r}: {len(vectors):,} rows; the table has {n:,}")
    return discover(texts, embeddings=vectors, k=k or "auto", seed=seed)


def of_columns(table: Path, names: Sequence[str]) -> Discovered:
    """Skills of the rows of a table, from columns that are there, crossed."""
    return by_columns({name: column(table, name) for name in names})


def require_output(table: Path, path: Path) -> None:
    """Raise `InputError` for a name that says no kind of table, a folder that is not there, or the table itself."""
    if path.suffix not in WRITTEN:
        raise InputError(f"--output {str(path)!r}: valid is a table, {', '.join(WRITTEN)}")
    if not path.parent.is_dir():
        raise InputError(f"--output {str(path)!r}: no folder {str(path.parent)!r}")
    if path.exists() and path.samefile(table):
        raise InputError(f"--output {str(path)!r}: is the table itself; name another file")


def write(found: Discovered, table: Path, path: Path) -> None:
    """Write a copy of the table that has one more column, `skill`: the name of each row's skill."""
    require_output(table, path)

    def copy(rows: Any) -> None:
        import duckdb

        taken = [name.lower() for name in rows.columns]
        name = next(n for n in ("skill", *(f"skill_{i}" for i in range(2, 99))) if n not in taken)
        labels = {name: np.array(found.names, object)}
        joined = duckdb.sql("SELECT * FROM rows POSITIONAL JOIN labels")
        del labels
        with plain_path(path) as plain:
            quoted = str(plain).replace("'", "''")
            duckdb.sql(f"COPY joined TO '{quoted}' (FORMAT {WRITTEN[path.suffix]})")
        del joined

    _asked(table, copy)


def _asked(table: Path, of: Any) -> Any:
    import duckdb

    if table.suffix not in READERS:
        raise InputError(f"table {str(table)!r}: valid is {', '.join(READERS)}")
    if not table.is_file():
        raise InputError(f"table {str(table)!r}: not found")
    try:
        with plain_path(table) as plain:
            return of(READERS[table.suffix](duckdb, plain))
    except duckdb.Error as error:
        said = str(error).splitlines()[0]
        raise InputError(f"table {str(table)!r}: is no {KINDS[table.suffix]} that can be read ({said})") from None


def _vectors(table: Path, embeddings: str) -> np.ndarray:
    if not embeddings.endswith(".npy"):
        rows = column(table, embeddings)
        try:
            return np.array(rows, np.float32)
        except (TypeError, ValueError):
            raise InputError(f"--embeddings {embeddings!r}: rows are no lists of numbers of one length") from None
    try:
        return np.load(embeddings, allow_pickle=False, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise InputError(f"--embeddings {embeddings!r}: cannot be read as NumPy's ({error})") from None
