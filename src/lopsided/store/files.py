"""Files that readers see whole or not at all, and their checksums."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from pathlib import Path
from typing import Any, BinaryIO


def canonical(body: Any) -> str:
    """One text for one content."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


def replace_text(file: Path, text: str, mode: int = 0o666) -> None:
    """Write a small file so that readers see the old text or the new one, never half of it. What it is written to first
    has a name that nobody can guess, and is made anew: no link of somebody else's is followed. `mode`: the permissions
    that the umask may narrow."""
    aside = file.with_name(f".{uuid.uuid4().hex}")
    try:
        with new_file(aside, mode) as opened:
            opened.write(text.encode())
        aside.replace(file)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def new_file(file: Path, mode: int = 0o666) -> BinaryIO:
    """A file to write that did not exist, with what the user's umask permits. Raises `FileExistsError`."""
    return os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, mode), "wb")


def digest(path: Path) -> str:
    """SHA-256 of a file, or of a folder's names and contents; links and what is no regular file do not count."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    total = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink()):
        total.update(f"{file.relative_to(path)} {digest(file)}\n".encode())
    return total.hexdigest()


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        sync(path)
    sync(folder)
