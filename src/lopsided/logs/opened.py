"""Log files as text, packed with gzip or not."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TextIO, cast


def opened(path: Path, newline: str | None = None) -> TextIO:
    """The text of a file, open for reading. What is no text comes out as replacement marks, so that a reader can say
    which line it is. (Spreadsheets write a mark of their own before the first letter: "utf-8-sig".)"""
    if path.suffix == ".gz":
        return cast(TextIO, gzip.open(path, "rt", newline=newline, encoding="utf-8-sig", errors="replace"))
    return path.open(newline=newline, encoding="utf-8-sig", errors="replace")


def plain_name(path: Path) -> str:
    """The name of a file without what says its kind: `mine` of mine.csv and of mine.csv.gz."""
    return Path(path.name.removesuffix(".gz")).stem
