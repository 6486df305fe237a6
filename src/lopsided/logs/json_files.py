"""JSON lines, one object for each evaluation or value, and the `trainer_state.json` of Hugging Face's Trainer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed
from lopsided.logs.asked import Log, ReadArguments
from lopsided.logs.opened import opened
from lopsided.logs.tables import logs_of


def read_lines(path: Path, asked: ReadArguments, notes: list[str]) -> list[Log]:
    """The runs of a file of JSON lines; nested objects are named by dots. Raises `InputError` with the line."""
    rows = []
    with opened(path) as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parsed(line)
        except ValueError:
            if number == len(lines):
                notes.append(f"{path.name}: its last line was cut short, and is left out")
                continue
            raise InputError(f"{path}, line {number}: is no JSON") from None
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: is no JSON object")
        rows.append(_flat(row))
    if not rows:
        raise InputError(f"{path}: is empty")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return logs_of(path, {name: [row.get(name) for row in rows] for name in names}, asked, notes)


def read_trainer(path: Path, asked: ReadArguments, notes: list[str]) -> list[Log]:
    """Hugging Face's Trainer: `log_history`, where training and evaluation come in rows of their own."""
    try:
        data = parsed(path.read_text(encoding="utf-8"))
        rows = [dict(row) for row in data["log_history"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is no trainer_state.json ({type(error).__name__})") from None
    if not rows:
        raise InputError(f"{path}: log_history is empty")
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "epoch"]
    columns = {name: [row.get(name) for row in rows] for name in names}
    run = path.parent.parent.name if path.parent.name.startswith("checkpoint-") else path.parent.name
    return [log._replace(run=run) for log in logs_of(path, columns, asked, notes)]


def _flat(row: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": value}
    return found
