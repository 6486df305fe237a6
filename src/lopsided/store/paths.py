"""Folders of a store that are written into, and names that DuckDB takes literally.

It expands `~`, `*`, `?` and `[`, and its file functions take text in quotes: what has any such character in its name is
reached through a link with a plain name.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lopsided.core.errors import StoreError

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


def folder_in(root: Path, *names: str) -> Path:
    """A folder inside a store, made if it is not there. Raises `StoreError` for a link on the way that another user has
    put there: what is written through it would replace files of this user's anywhere."""
    folder = root
    for name in names:
        folder = folder / name
        if folder.is_symlink() and hasattr(os, "getuid") and os.lstat(folder).st_uid not in (os.getuid(), 0):
            raise StoreError(f"{folder}: is a link of another user; nothing is written through it")
        folder.mkdir(parents=True, exist_ok=True)
    return folder
