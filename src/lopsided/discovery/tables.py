"""Texts and embeddings of tables, and tables with a column of skills more."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.core.errors import InputError, unknown
from lopsided.discovery.discover import Discovered, by_columns, discover
from lopsided.store.paths import plain_path


def _json(duckdb: Any, path: str) -> Any:
    """Rows of JSON lines. DuckDB (1.5, 2.0) takes whole numbers above 2^64 for floats, which made one of 400 numbers of
    21 digits: such a column is read as the whole numbers that it has."""
    rows = duckdb.read_json(path, sample_size=-1)
    floats = [name for name, kind in zip(rows.columns, rows.types, strict=True) if str(kind) == "DOUBLE"]
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in floats}
    asked = ", ".join(f"max(abs({q})) BETWEEN 2.0^64 AND 1e38 AND bool_and({q} = trunc({q}))" for q in quoted.values())
    large = rows.aggregate(asked).fetchall()[0] if floats else ()
    perhaps = [name for name, is_whole in zip(floats, large, strict=True) if is_whole]
    if not perhaps:
        return rows
    texts = duckdb.read_json(path, columns=dict.fromkeys(perhaps, "VARCHAR"))
    digits = ", ".join(f"bool_and(regexp_full_match({quoted[name]}, '-?[0-9]+'))" for name in perhaps)
    whole = {name for name, is_whole in zip(perhaps, texts.aggregate(digits).fetchall()[0], strict=True) if is_whole}
    kinds = {n: "HUGEINT" if n in whole else str(kind) for n, kind in zip(rows.columns, rows.types, strict=True)}
    return duckdb.read_json(path, columns=kinds)


READERS: Mapping[str, Any] = {
    ".parquet": lambda duckdb, path: duckdb.read_parquet(path),
    ".csv": lambda duckdb, path: duckdb.read_csv(path, sample_size=-1),
    ".jsonl": _json,
}
"""Tables that can be read, by the end of their names. All of a text is looked at: columns that begin late were lost."""
AT_ONCE = 20_000
"""Rows of a column that are in memory at once: as many as texts become points at a time. Not varied."""
KINDS = {".parquet": "Parquet file", ".csv": "CSV", ".jsonl": "file of JSON lines"}
WRITTEN = {".parquet": "PARQUET", ".csv": "CSV, HEADER", ".jsonl": "JSON"}
"""Tables that can be written, by the end of their names."""


def number_of_rows(table: Path) -> int:
    """Raises `InputError` for a table that is not there, or has none."""
    with _opened(table) as rows:
        return len(rows)


def column(table: Path, name: str) -> list[Any]:
    """The values of a column. Raises `InputError` for a table or a column that is not there."""
    return [value for part in _in_parts(table, name) for value in part]


def _in_parts(table: Path, name: str) -> Iterator[list[Any]]:
    """The values of a column, `AT_ONCE` rows at a time, so that a table need not fit into memory."""
    import duckdb

    with _opened(table) as rows:
        if name not in rows.columns:
            # So DuckDB names the columns of a CSV whose first line it takes for a row of another length.
            unnamed = all(each == f"column{i}" for i, each in enumerate(rows.columns))
            if unnamed or (len(rows.columns) == 1 and set(rows.columns[0]) & set(",;\t")):
                raise InputError(
                    f"table {str(table)!r}: has no line of names, or its rows are of several lengths; is it a CSV with "
                    f"names first, and as many values in each row? (Columns now: {', '.join(rows.columns)})"
                )
            raise unknown("column", name, rows.columns)
        sql = rows.select(duckdb.ColumnExpression(name)).sql_query()
        with duckdb.connect() as con:
            con.execute(sql)  # a relation has no result to fetch parts of (DuckDB 2), a connection reads as it is asked
            while part := con.fetchmany(AT_ONCE):
                yield [value for (value,) in part]


class ColumnOfTexts:
    """The texts of a column, read from the file anew with each `iter`, a part at a time; a missing one is empty."""

    def __init__(self, table: Path, name: str):
        self._table, self._name = table, name

    def __iter__(self) -> Iterator[str]:
        name, number = self._name, 0
        for values in _in_parts(self._table, name):
            for value in values:
                number += 1
                if value is not None and not isinstance(value, str):
                    what = f"row {number:,} is a {type(value).__name__}, not a text"
                    raise InputError(f"--text {name!r}: {what}; a column that holds texts?")
                yield value or ""


def rows_of(table: Path, name: str, rows: Collection[int]) -> dict[int, Any]:
    """The values of a column in some rows, by row."""
    found, wanted, at = {}, set(rows), 0
    for values in _in_parts(table, name):
        found |= {at + i: value for i, value in enumerate(values) if at + i in wanted}
        at += len(values)
        if len(found) == len(wanted):
            break
    return found


def of_table(table: Path, text: str | None, embeddings: str | None, k: int | None, seed: int) -> Discovered:
    """Skills of the rows of a table, by a column of texts, or of embeddings (or a .npy file of them)."""
    texts = None
    if text is not None:
        texts = ColumnOfTexts(table, text)
    vectors = None
    if embeddings is not None:
        vectors = _vectors(table, embeddings)
        if len(vectors) != (n := number_of_rows(table)):
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


def write(found: Discovered, table: Path, path: Path) -> str:
    """Write a copy of the table that has one more column, the name of each row's skill. Returns what it is called:
    `skill`, or `skill_2` where the table has one of that name."""
    require_output(table, path)

    import duckdb

    with _opened(table) as rows, plain_path(path) as plain:
        taken = [name.lower() for name in rows.columns]
        name = next(n for n in ("skill", *(f"skill_{i}" for i in range(2, 99))) if n not in taken)
        labels = {name: np.array(found.names, object)}
        kinds = zip(rows.columns, rows.types, strict=True)
        # Parquet has no whole numbers of 128 bits, and DuckDB makes floats of them.
        wide = [n.replace('"', '""') for n, kind in kinds if path.suffix == ".parquet" and str(kind) == "HUGEINT"]
        sizes = rows.aggregate(", ".join(f'max(abs("{n}"::DOUBLE))' for n in wide)).fetchall()[0] if wide else ()
        wide = [n for n, most in zip(wide, sizes, strict=True) if most is not None and most < 1e38]
        exact = ", ".join(f'CAST("{n}" AS DECIMAL(38, 0)) AS "{n}"' for n in wide)
        kept = f"* REPLACE ({exact})" if wide else "*"
        joined = duckdb.sql(f"SELECT {kept} FROM rows POSITIONAL JOIN labels")
        del labels
        quoted = str(plain).replace("'", "''")
        duckdb.sql(f"COPY joined TO '{quoted}' (FORMAT {WRITTEN[path.suffix]})")
        del joined
    return name


@contextmanager
def _opened(table: Path) -> Iterator[Any]:
    """The table as DuckDB's rows. Raises `InputError` for one that is not there, cannot be read or has no rows."""
    import duckdb

    if table.suffix not in READERS:
        raise InputError(f"table {str(table)!r}: valid is {', '.join(READERS)}")
    if not table.is_file():
        raise InputError(f"table {str(table)!r}: not found")
    try:
        with plain_path(table) as plain:
            rows = READERS[table.suffix](duckdb, plain)
            if not len(rows.limit(1)):  # fetching takes pytz where a time has a zone
                raise InputError(f"table {str(table)!r}: has no rows")
            yield rows
    except duckdb.Error as error:
        said = str(error).splitlines()[0]
        if table.suffix != ".parquet" and (line := _not_unicode(table)):
            raise InputError(f"table {str(table)!r}: line {line:,} is not UTF-8; save it in that encoding") from None
        raise InputError(f"table {str(table)!r}: is no {KINDS[table.suffix]} that can be read ({said})") from None


def _not_unicode(table: Path) -> int:
    """The first line that is not UTF-8, counted from 1; 0 if all are. DuckDB does not name the encoding of a CSV."""
    with table.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def _vectors(table: Path, embeddings: str) -> np.ndarray:
    if not embeddings.endswith(".npy"):
        rows = column(table, embeddings)
        try:
            return np.array(rows, np.float32)
        except (TypeError, ValueError):
            length = next((len(row) for row in rows if isinstance(row, Sequence)), None)
            bad = next((i for i, row in enumerate(rows) if not isinstance(row, Sequence) or len(row) != length), 0)
            said = f"row {bad + 1:,} is no list of numbers, as long as those before"
            raise InputError(f"--embeddings {embeddings!r}: {said}") from None
    try:
        return np.load(embeddings, allow_pickle=False, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise InputError(f"--embeddings {embeddings!r}: cannot be read as NumPy's ({error})") from None
