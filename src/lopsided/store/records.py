"""Small files in a folder that others may write, read without trusting them.

Nothing that a file says becomes a path. A record names itself, and is one only under that name (`read` compares); what
is no regular file of this size is not opened: a link, a pipe, a device.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MOST_BYTES = 2**27
"""Bytes of a record, at most. The largest recipes, with 16,000 specs, have records of 10 MB."""
LONGEST = 10**6
"""Seeds of a run, and other counts that a reader makes a list of."""

Hash = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Name = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f/\\.][^\x00-\x1f\x7f/\\]{0,199}$")]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


class StrictRecord(BaseModel):
    """What a file says: these fields and no others, of these types."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    @property
    def stem(self) -> str | None:
        """The name that its file has to have, without the ending; None: any."""
        return None


T = TypeVar("T", bound=StrictRecord)


def text_of(file: Path, most: int = MOST_BYTES, own: bool = False) -> str:
    """The text of a regular file that is no link. Raises `OSError` for others, and for more than `most` bytes; where it
    has to be `own`, also for one that another user owns or may write."""
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{file}: is no regular file")
        if own and not _own(found):
            raise PermissionError(f"{file}: other users may have written it")
        if found.st_size > most:
            raise OSError(f"{file}: {found.st_size:,} bytes, of at most {most:,}")
        with os.fdopen(os.dup(handle), "rb") as opened:
            return opened.read(most + 1).decode(errors="replace")
    finally:
        os.close(handle)


def read(file: Path, kind: type[T], own: bool = False) -> T | None:
    """The record in a file; None where there is none of this kind under this name, or where it has to be this user's
    `own` and is not."""
    try:
        found = kind.model_validate_json(text_of(file, own=own))
    except (OSError, ValidationError, ValueError, RecursionError):
        return None
    return found if found.stem in (None, file.name.removesuffix(file.suffix)) else None


def all_of(folder: Path, kind: type[T], ending: str = ".json", own: bool = False) -> Iterator[tuple[Path, T | None]]:
    """The files of a folder with this ending, in order, and what each says; hidden files are left out."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.endswith(ending) and not name.startswith("."):
            yield folder / name, read(folder / name, kind, own)


def owned(file: Path) -> bool:
    """Whether this user, or root, owns a file, and nobody else may write into it (where users are known at all)."""
    return _own(os.lstat(file))


def _own(found: os.stat_result) -> bool:
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid in (os.getuid(), 0) and not found.st_mode & 0o022
