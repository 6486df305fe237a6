"""Folder names that DuckDB takes literally. It expands `~`, `*`, `?` and `[`, and its file functions take text in
quotes: a folder whose name has any such character is reached through a link with a plain name."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLAIN = re.compile(r"[A-Za-z0-9/_.+=@,: -]*")


@contextmanager
def plain_path(folder: Path) -> Iterator[str]:
    """A path without special characters to an existing folder, as text, valid inside the block."""
    real = str(folder.absolute())
    if PLAIN.fullmatch(real):
        yield real
        return
    with tempfile.TemporaryDirectory(prefix="lopsided-") as place:
        link = Path(place) / "store"
        link.symlink_to(folder.absolute(), target_is_directory=True)
        yield str(link)
