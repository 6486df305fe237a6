"""Names of folders and files that DuckDB takes literally. It expands `~`, `*`, `?` and `[`, and its file functions take
text in quotes: what has any such character in its name is reached through a link with a plain name."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLAIN = re.compile(r"[A-Za-z0-9/_.+=@,: -]*")


@contextmanager
def plain_path(asked: Path) -> Iterator[str]:
    """A path without special characters to an existing folder or file, as text, valid inside the block. A file keeps
    the end of its name."""
    real = str(asked.absolute())
    if PLAIN.fullmatch(real):
        yield real
        return
    with tempfile.TemporaryDirectory(prefix="lopsided-") as place:
        link = Path(place) / ("store" if asked.is_dir() else f"file{asked.suffix}")
        link.symlink_to(asked.absolute(), target_is_directory=asked.is_dir())
        yield str(link)
