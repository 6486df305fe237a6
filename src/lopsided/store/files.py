"""Files that readers see whole or not at all, and their checksums."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from pathlib import Path
from typing import Any


def canonical(body: Any) -> str:
    """One text for one content."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


def replace_text(file: Path, text: str) -> None:
    """Write a small file so that readers see the old text or the new one, never half of it."""
    aside = file.with_name(f".{uuid.uuid4().hex}")
    try:
        aside.write_text(text)
        aside.replace(file)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def digest(path: Path) -> str:
    """SHA-256 of a file, or of a folder's names and contents."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    total = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
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
