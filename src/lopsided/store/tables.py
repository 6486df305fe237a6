"""What SQL sees of a store: the tables `rows`, `members` and `arms`."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.store.parts import Store
from lopsided.store.paths import plain_path
from lopsided.store.rows import COLUMNS


class ArmRow(NamedTuple):
    """One arm of one recipe run."""

    arm: str
    recipe: str
    scale: str
    run: str
    """Name of the run, as `status` gives it: one recipe at one scale may have several, with changes by hand."""
    changes: tuple[str, ...]
    """What was changed by hand."""
    seeds: int
    """Seeds of each arm of the run, from 0 on; the folder may have more."""
    spec: str
    coordinates: Mapping[str, Any]
    """The settings in which the arms of the run differ."""
    judged_from: int = 0
    judged_to: int = 0
    """Seeds that looks of `--until-decided` judge this arm by: from the first to before the second of these two."""

    def has(self, seed: int) -> bool:
        """Whether the run asked for this arm with this seed: among its own seeds, or for a look."""
        return seed < self.seeds or self.judged_from <= seed < self.judged_to


@contextmanager
def connect(store: Store, arms: Iterable[ArmRow] = (), locked: bool = False) -> Iterator[Any]:
    """A DuckDB connection with three tables; `locked`: that can read nothing but them and write nothing.

    `rows`: every member that is complete, each once; `members` (spec, seed, job, code, runs, changes, settings);
    `arms` (arm, recipe, scale, run, changes, seeds, spec, coordinates, judged_from, judged_to). docs/tables.md has
    every column.
    """
    import duckdb

    survey = store.survey()
    members = list(survey.complete.items())
    jobs = {job for _, job in members}
    parts = [part for part in survey.good if part.job in jobs]
    last, found = {part.job: part for part in parts}, list(arms)  # a job's parts are in order
    runs: dict[str, list[ArmRow]] = {}
    for arm in found:
        runs.setdefault(arm.spec, []).append(arm)
    asking = [  # by run, what was changed by hand
        {arm.run: " ".join(arm.changes) for arm in runs.get(spec, ()) if arm.has(seed)} for (spec, seed), _ in members
    ]
    with duckdb.connect() as con, plain_path(store.root if store.root.is_dir() else store.root.parent) as root:
        _table(con, "members", {
            "spec": [spec for (spec, _), _ in members],
            "seed": np.array([seed for (_, seed), _ in members], np.uint64),
            "job": [job for _, job in members],
            "code": [last[job].code_of(spec) for (spec, _), job in members],
            "runs": [json.dumps(list(asked)) for asked in asking],
            "changes": [json.dumps(list(asked.values())) for asked in asking],
            "settings": [store.index.specs.get(spec, "{}") for (spec, _), _ in members],
        }, {"runs": "JSON::VARCHAR[]", "changes": "JSON::VARCHAR[]", "settings": "JSON"})  # fmt: skip
        _table(con, "arms", {
            **{name: [getattr(arm, name) for arm in found] for name in ("arm", "recipe", "scale", "run")},
            "changes": [" ".join(arm.changes) for arm in found],
            "seeds": np.array([arm.seeds for arm in found], np.uint64),
            "spec": [arm.spec for arm in found],
            "coordinates": [json.dumps(arm.coordinates) for arm in found],
            **{
                name: np.array([getattr(arm, name) for arm in found], np.uint64)
                for name in ("judged_from", "judged_to")
            },
        }, {"coordinates": "JSON"})  # fmt: skip
        _rows(con, [(f"{root}/parts/{part.folder}/rows.parquet", part.job) for part in parts], locked)
        yield con


def _table(con: Any, name: str, columns: Mapping[str, Any], special: Mapping[str, str]) -> None:
    """A table of texts and whole numbers; `special`: columns of texts that are something else, as what."""
    typed = {k: v if isinstance(v, np.ndarray) else np.array(v, dtype=object) for k, v in columns.items()}
    con.register(f"_{name}", typed)
    kinds = {k: "UBIGINT" if isinstance(v, np.ndarray) else "VARCHAR" for k, v in columns.items()}
    kinds |= {k: f"VARCHAR::{kind}" for k, kind in special.items()}
    chosen = ", ".join(f"{k}::{kind} AS {k}" for k, kind in kinds.items())
    con.execute(f"CREATE TABLE {name} AS SELECT {chosen} FROM _{name}")
    con.unregister(f"_{name}")


def _rows(con: Any, files: list[tuple[str, str]], locked: bool) -> None:
    """The view `rows` over the parts' files."""
    if not files:
        con.execute(f"CREATE TABLE rows ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})")
    else:
        names = ", ".join(f"'{file}'" for file, _ in files)  # plain: see `plain_path`
        con.register("_files", {
            "file": np.array([file for file, _ in files], dtype=object),
            "job": np.array([job for _, job in files], dtype=object),
        })  # fmt: skip
        con.execute("CREATE SCHEMA internal")  # SHOW TABLES does not name what is in it
        con.execute("CREATE TABLE internal.parts AS SELECT file::VARCHAR AS file, job::VARCHAR AS job FROM _files")
        con.unregister("_files")
        con.execute(
            f"CREATE VIEW rows AS SELECT {', '.join(f'r.{name}' for name in COLUMNS)} FROM "
            f"read_parquet([{names}], filename = true) r "
            "JOIN internal.parts p ON r.filename = p.file "
            "JOIN members m ON r.spec = m.spec AND r.seed = m.seed AND p.job = m.job"
        )
    if locked:
        allowed = ", ".join(f"'{file}'" for file, _ in files)
        con.execute(f"SET allowed_paths = [{allowed}]")
        con.execute("SET enable_external_access = false")
        con.execute(f"SET memory_limit = '{MOST_MEMORY}'")
        con.execute("SET lock_configuration = true")


MOST_MEMORY, MOST_SECONDS = "2GB", 120.0
"""Memory and time of one query: somebody else's rows, or a slip, must not fill the machine."""
MOST_SPACE = 4 * 2**30
"""Memory that a process which only asks may take more (`store.limits`)."""
MOST_ROWS = 100_000
"""Rows of an answer that are shown at most."""
MOST_NESTED = 5 * 10**7
"""Letters of all lists of an answer: `range(1000000000)` is one row, and as Python's numbers takes 36 GB."""


class Answer(NamedTuple):
    """What a query gave."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool
    """Whether rows were left out."""


def query(store: Store, arms: Iterable[ArmRow], sql: str, most: int = MOST_ROWS) -> Answer:
    """The answer to one SELECT. Raises `InputError` for anything else, and for what DuckDB refuses."""
    import duckdb

    with connect(store, arms, locked=True) as con:
        clock = threading.Timer(MOST_SECONDS, con.interrupt)
        clock.daemon = True
        clock.start()
        try:
            statements = con.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise InputError("query: takes exactly one SELECT; the tables are rows, members and arms")
            con.execute(statements[0])
            columns = [column[0] for column in con.description]
            _require_short_lists(con, sql, most + 1)
            rows = con.fetchmany(most + 1)
        except duckdb.InterruptException:
            raise InputError(f"query: stopped after {MOST_SECONDS:.0f} s") from None
        except duckdb.Error as error:
            raise InputError(f"query: {str(error).splitlines()[0] if str(error) else type(error).__name__}") from None
        finally:
            clock.cancel()
    return Answer(columns, rows[:most], len(rows) > most)


def _without_end(sql: str) -> str:
    """One statement without the semicolons and remarks that end it."""
    import duckdb

    text = sql.encode()
    ends = (at for at, kind in duckdb.tokenize(sql) if kind == duckdb.token_type.operator and text[at : at + 1] == b";")
    return text[: next(ends, len(text))].decode()


def _require_short_lists(con: Any, sql: str, most: int) -> None:
    """Raise `InputError` if the lists of an answer are longer than anybody reads: limits count rows."""
    kinds = [str(column[1]) for column in con.description]
    nested = [i for i, kind in enumerate(kinds) if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))]
    if not nested:
        return
    names = ", ".join(f"c{i}" for i in range(len(kinds)))
    letters = " + ".join(f"coalesce(sum(length(c{i}::VARCHAR)), 0)" for i in nested)
    asked = f"SELECT {letters} FROM (SELECT * FROM ({_without_end(sql)}\n) LIMIT {most}) t({names})"
    (count,) = con.cursor().execute(asked).fetchone()
    if count > MOST_NESTED:
        raise InputError(f"query: lists of {int(count):,} letters; an answer has at most {MOST_NESTED:,}")
