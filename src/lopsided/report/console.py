"""The terminal that tables are printed on."""

from __future__ import annotations

import os
from typing import Any

from rich.console import Console
from rich.markup import escape

from lopsided.core.telling import printable


def console() -> Console:
    """A console as wide as the terminal; 150 columns, or what COLUMNS says, where output goes into a file."""
    columns = os.environ.get("COLUMNS", "")
    piped = int(columns) if columns.isdecimal() and 20 <= int(columns) <= 10_000 else 150
    return Console(highlight=False, emoji=False, width=None if _is_terminal() else piped)


def plain(text: Any) -> str:
    """Text of a folder's as a table takes it: `printable`, and without markup."""
    return escape(printable(text))


def _is_terminal() -> bool:
    try:
        return os.isatty(1)
    except OSError:
        return False
