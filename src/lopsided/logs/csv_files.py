"""CSV files: a metric in each column (Lightning's CSVLogger, Keras's, one's own), or a row for each value; and the
tables that W&B exports, with a column `RUN - METRIC` for each run."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.logs.asked import STEPS, Log, ReadArguments
from lopsided.logs.opened import opened
from lopsided.logs.tables import logs_of

EXPORTED = re.compile(r"(?P<run>.+) - (?P<metric>.+?)(?P<bound>__MIN|__MAX)?")


def read(path: Path, asked: ReadArguments, notes: list[str]) -> list[Log]:
    """The runs of a CSV file. Raises `InputError`, with the line, for a row that does not fit the first one."""
    with opened(path, newline="") as file:
        first = file.readline()
        if not first.strip():
            raise InputError(f"{path}: is empty")
        # Spreadsheets separate by what a country does.
        separator = "," if "," in first else next((s for s in (";", "\t") if s in first), ",")
        head = [name.strip() for name in next(csv.reader([first], delimiter=separator))]
        lines = csv.reader(file, delimiter=separator)
        if len(set(head)) < len(head):
            raise InputError(f"{path}: two columns are called {next(n for n in head if head.count(n) > 1)!r}")
        rows = []
        for number, row in enumerate(lines, 2):
            if len(row) == len(head):
                rows.append(row)
            elif row:
                raise InputError(f"{path}, line {number}: {len(row)} values, where the first line names {len(head)}")
    if not rows:
        raise InputError(f"{path}: has a line of names, and no values")
    if not _ends_a_line(path):
        notes.append(f"{path.name}: its last line has no end, so that its last number may have been cut")
    columns: dict[str, Any] = dict(zip(head, zip(*rows, strict=True), strict=True))
    exported = _exported(columns, asked.step)
    if exported is not None:
        return [log for run, own in exported.items() for log in _one(path, run, own, asked, notes)]
    return logs_of(path, columns, asked, notes, _settings(path.with_name("hparams.yaml")))


def _ends_a_line(path: Path) -> bool:
    """Whether the last line of a file is whole, as far as its end tells; a packed file has an end of its own."""
    if path.suffix == ".gz":
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) in b"\r\n"


def _settings(file: Path) -> dict[str, Any]:
    """What Lightning's CSVLogger writes beside its metrics: the hyper-parameters that are one word or number each."""
    if not file.is_file():
        return {}
    lines = (line.partition(":") for line in file.read_text(errors="replace").splitlines())
    return {
        key: value.strip() for key, colon, value in lines if colon and value.strip() and not key.startswith((" ", "-"))
    }


def _one(path: Path, run: str, columns: dict[str, Any], asked: ReadArguments, notes: list[str]) -> list[Log]:
    found = logs_of(path, columns, asked._replace(run=None), notes, {"run": run})
    return [log._replace(run=run) for log in found]


def _exported(columns: dict[str, Any], step: str | None) -> dict[str, dict[str, Any]] | None:
    """W&B's export of a chart: the columns of each run, its bounds (`__MIN`, `__MAX`) left out; None for others."""
    head = list(columns)
    if head[0] not in (*STEPS, step) and not head[0].startswith("Relative Time"):
        return None
    matches = {name: EXPORTED.fullmatch(name) for name in head[1:]}
    if not matches or not all(matches.values()):
        return None
    found: dict[str, dict[str, Any]] = {}
    for name, match in matches.items():
        if match is not None and not match["bound"] and not match["metric"].startswith("_step"):
            found.setdefault(match["run"], {head[0]: columns[head[0]]})[match["metric"]] = columns[name]
    return found
