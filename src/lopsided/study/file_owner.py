"""Which recipe file a run in a folder is of: two files of one name would replace each other's reports."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lopsided.core.errors import InputError
from lopsided.store.parts import Store
from lopsided.study import manifest

MOST = 1000
"""Files of the recipe's own folder that are looked at, so that a folder of many does not make each run slow."""


class OwnFile(NamedTuple):
    """A recipe's own file, without its path, which would say who somebody is. Recipes of this package have none:
    `OF_THIS_PACKAGE`."""

    path: str = ""
    """Digest of its path."""
    text: str = ""
    """Digest of what is in it."""
    beside: Mapping[str, str] = {}
    """Names of the other Python files in the same folder, by the digest of each file's path."""

    @classmethod
    def of(cls, target: str) -> OwnFile:
        """What identifies `FILE.py`; nothing for the name of a recipe or a spec."""
        if not target.endswith(".py"):
            return OF_THIS_PACKAGE
        file = Path(target).resolve()
        others = [each for each, _ in zip(file.parent.glob("*.py"), range(MOST), strict=False) if each != file]
        beside = {_digest(str(each).encode()): each.name for each in others}
        return cls(_digest(str(file).encode()), _digest(file.read_bytes()), beside)

    def owner(self, store: Store, recipe: str) -> str:
        """Digest of the path of the recipe file that owns the run: this file, also when it was edited or moved. Where
        this file is an unchanged copy of an owner in the same folder, the owner stays the owner."""
        for each in manifest.of_name(store, recipe):
            if each.file != self.path and each.file in self.beside and each.text == self.text:
                return each.file
        return self.path

    def require_own(self, store: Store, recipe: str, label: str) -> None:
        """Raise `InputError` where the folder has a run, of any scale and changes, of another recipe file of this name:
        their reports would replace one another, and nobody could tell them apart."""
        if not self.path:
            return
        for each in manifest.of_name(store, recipe):
            moved_or_edited = each.recipe == recipe and (each.file == self.path or each.text == self.text)
            if each.file and not moved_or_edited:
                which = f", {self.beside[each.file]}" if each.file in self.beside else ""
                raise InputError(
                    f"{label}: this folder has a run of another recipe file of that name{which}, {each.title!r}; give "
                    "the recipe another name, or take another folder (--out)"
                )


OF_THIS_PACKAGE = OwnFile()


def _digest(of: bytes) -> str:
    return hashlib.sha256(of).hexdigest()[:16]
