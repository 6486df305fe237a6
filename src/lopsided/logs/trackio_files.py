"""trackio's SQLite files: a row for each call of `log`, its metrics as JSON."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed
from lopsided.logs.asked import Log, ReadArguments
from lopsided.logs.tables import logs_of


def read(path: Path, asked: ReadArguments, notes: list[str]) -> list[Log]:
    """The runs of a project's file. Raises `InputError` for a file that is none of trackio's."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as con:  # its own context closes nothing
            rows = con.execute(
                "SELECT run_name, step, timestamp, metrics FROM metrics ORDER BY run_name, id"
            ).fetchall()
            tables = {name for (name,) in con.execute("SELECT name FROM sqlite_master")}
            configs = (
                dict(con.execute("SELECT run_name, config FROM configs").fetchall()) if "configs" in tables else {}
            )
    except sqlite3.Error as error:
        raise InputError(f"{path}: is no file of trackio's ({error})") from None
    found = []
    for run in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == run]
        values = [parsed(row[3]) for row in own]
        names = list(dict.fromkeys(name for each in values for name in each))
        columns = {
            "step": [row[1] for row in own],
            "timestamp": [datetime.fromisoformat(row[2]).timestamp() for row in own],
            **{name: [each.get(name) for each in values] for name in names},
        }
        config = parsed(configs.get(run) or "{}")
        found += [log._replace(run=run) for log in logs_of(path, columns, asked, notes, {"run": run, **config})]
    return found
