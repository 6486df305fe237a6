"""Logs in text, by a regular expression with named groups."""

from __future__ import annotations

import re
from pathlib import Path

from lopsided.core.errors import InputError
from lopsided.logs.asked import Log, ReadArguments
from lopsided.logs.tables import logs_of


def read(path: Path, asked: ReadArguments, notes: list[str]) -> list[Log]:
    """Lines that hold the pattern are evaluations: r"step:(?P<step>\\d+)/\\d+ val_loss:(?P<val_loss>\\S+)". Raises
    `InputError` for a pattern that is none, or that no line holds."""
    if asked.pattern is None:
        raise InputError(f"{path}: is text; pattern= a regular expression with named groups, one of them step")
    try:
        pattern = re.compile(asked.pattern)
    except re.error as error:
        raise InputError(f"pattern = {asked.pattern!r}: {error}") from None
    if not pattern.groupindex:
        raise InputError(f"pattern = {asked.pattern!r}: has no named group, (?P<step>…)")
    rows: list[dict[str, str]] = []
    with path.open(encoding="utf-8", errors="replace") as file:
        rows += [found.groupdict() for line in file if (found := pattern.search(line))]
    if not rows:
        raise InputError(f"{path}: no line holds the pattern")
    columns = {name: [row[name] for row in rows] for name in pattern.groupindex}
    return logs_of(path, columns, asked, notes)
