"""Reading rows of members out of a folder's parts, and copying them into one file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.store.index import Summary
from lopsided.store.parts import Store
from lopsided.store.paths import plain_path
from lopsided.store.rows import COLUMNS, cursor
from lopsided.store.survey import MemberId

ORDER = "ORDER BY r.spec, r.metric, r.seed, r.step"


def read_rows(store: Store, members: Mapping[MemberId, str]) -> dict[str, np.ndarray]:
    """Columns of the rows of `members`, each member's taken from its job, ordered by spec, metric, seed and step."""
    jobs = set(members.values())
    parts = [part for part in store.survey().good if part.job in jobs]
    if not parts:
        return {name: np.zeros(0) for name in COLUMNS}
    with cursor() as con, plain_path(store.root) as root:
        return con.execute(f"SELECT {_rows_of(con, root, parts, members)} {ORDER}").fetchnumpy()


def copy_rows(
    store: Store,
    parts: Sequence[Summary],
    members: Mapping[MemberId, str],
    file: Path,
    metrics: Collection[str] | None = None,
    options: str = "COMPRESSION zstd",
    thinned: Collection[str] = (),
) -> None:
    """Write one Parquet file with the rows of `members`, each member's taken from its job. `metrics`: of these alone
    (None: of all); `thinned`: metrics of which only each member's first and last evaluation are written."""
    import duckdb

    with duckdb.connect() as con, plain_path(store.root) as root:
        con.execute("SET preserve_insertion_order = false")
        con.execute(
            f"COPY (SELECT {_rows_of(con, root, parts, members)} {_only(metrics)} {_ends(thinned)} {ORDER}) "
            f"TO '{_inside(root, store, file)}' (FORMAT parquet, {options})"
        )


def _rows_of(con: Any, root: str, parts: Sequence[Summary], members: Mapping[MemberId, str]) -> str:
    """SQL that follows SELECT: the columns of rows, and a FROM clause that gives the rows of `members` alone, each
    member's from the files of its job. Registers the tables `asked` and `files`, which that clause joins, with the
    connection. `root`: the folder's plain path."""
    con.register("asked", {
        "spec": np.array([spec for spec, _ in members], object),
        "seed": np.array([seed for _, seed in members], np.uint64),
        "job": np.array(list(members.values()), object),
    })  # fmt: skip
    files = {f"{root}/parts/{part.folder}/rows.parquet": part.job for part in parts}
    con.register("files", {"file": np.array(list(files), object), "job": np.array(list(files.values()), object)})
    return (
        f"{', '.join(f'r.{name}' for name in COLUMNS)} "
        f"FROM read_parquet([{', '.join(map(repr, files))}], filename = true) r "
        "JOIN files f ON r.filename = f.file "
        "JOIN asked a ON r.spec = a.spec AND r.seed = a.seed AND f.job = a.job"
    )


def _only(metrics: Collection[str] | None) -> str:
    if metrics is None:
        return ""
    return f"WHERE r.metric IN ({', '.join(map(quoted, metrics))})"


def _ends(thinned: Collection[str]) -> str:
    if not thinned:
        return ""
    names = ", ".join(map(quoted, thinned))
    return (
        "WINDOW of_member AS (PARTITION BY r.spec, r.metric, r.seed) "
        f"QUALIFY r.metric NOT IN ({names}) OR r.step IN (min(r.step) OVER of_member, max(r.step) OVER of_member)"
    )


def quoted(text: object) -> str:
    """A text of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def _inside(root: str, store: Store, file: Path) -> str:
    """The file's path, by the folder's plain one if it lies there."""
    inside = file.is_relative_to(store.root)
    return (f"{root}/{file.relative_to(store.root)}" if inside else str(file)).replace("'", "''")
