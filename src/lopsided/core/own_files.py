"""Files of parts that live outside this package, as they were when they were imported.

A file may be edited while a process runs that has imported it. What the process computes then is what the file said
before, and that is what its rows are to be named after.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

_AT_IMPORT: dict[Path, str] = {}


def remember(module_name: str) -> None:
    """Keep the text of this module and of its neighbours that are imported by now: all files of one folder."""
    file = getattr(sys.modules.get(module_name), "__file__", None)
    if not file:
        return
    folder = os.path.dirname(file)
    _keep(Path(file).resolve(), anew=True)
    # Helpers beside it were imported before it was executed to its end, and may be edited from now on.
    for module in list(sys.modules.values()):
        beside = getattr(module, "__file__", None)
        if isinstance(beside, str) and beside.endswith(".py") and os.path.dirname(beside) == folder:
            _keep(Path(beside).resolve())


def text_of(file: Path) -> str | None:
    """What a file said when it was imported; of a file that nobody remembered, what it says now."""
    if file not in _AT_IMPORT:
        _keep(file)
    return _AT_IMPORT.get(file)


def file_of(thing: Any) -> str | None:
    """The file in which a class or function was written; None for a notebook's, or one typed at a prompt."""
    try:
        file = inspect.getfile(thing)
    except (OSError, TypeError):
        return None
    if not Path(file).is_file():
        return None
    # Of a class `inspect` knows its module only, which at a prompt, or after `exec`, may be a program that has no such
    # class: `__main__` is the file that Python was started with.
    return None if inspect.isclass(thing) and not _defines(text_of(Path(file).resolve()), thing.__name__) else file


@lru_cache(maxsize=1024)
def _defines(text: str | None, name: str) -> bool:
    """Whether a file that says `text` has a class of that name, at whatever depth."""
    if text is None:
        return False
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    return any(isinstance(node, ast.ClassDef) and node.name == name for node in ast.walk(tree))


def _keep(file: Path, anew: bool = False) -> None:
    """The text now; a module that is executed again says so by `anew`."""
    if anew or file not in _AT_IMPORT:
        try:
            _AT_IMPORT[file] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            _AT_IMPORT.pop(file, None)
