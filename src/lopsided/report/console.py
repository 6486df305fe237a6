"""The terminal that tables are printed on."""

from __future__ import annotations

import os

from rich.console import Console


def console() -> Console:
    """A console as wide as the terminal; 150 columns, or what COLUMNS says, where output goes into a file."""
    columns = os.environ.get("COLUMNS", "")
    piped = int(columns) if columns.isdecimal() and 20 <= int(columns) <= 10_000 else 150
    return Console(highlight=False, emoji=False, width=None if _is_terminal() else piped)


def _is_terminal() -> bool:
    try:
        return os.isatty(1)
    except OSError:
        return False
