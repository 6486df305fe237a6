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

from lopsided.core.errors import InputError

_AT_IMPORT: dict[tuple[Path, str], tuple[str, Any]] = {}
"""By file and module: its text, and the module's `__spec__`. A module that is executed again (`importlib.reload`, or
taken out of `sys.modules` and imported) has another one."""
_LOADED_AGAIN: set[str] = set()
"""Modules that were executed more than once."""


def remember(module_name: str) -> None:
    """Keep the text of this module and of its neighbours that are imported by now: all files of one folder."""
    file = getattr(sys.modules.get(module_name), "__file__", None)
    if not file:
        return
    folder = os.path.dirname(file)
    _keep(Path(file).resolve(), module_name, anew=True)
    # Helpers beside it were imported before it was executed to its end, and may be edited from now on.
    for name, module in list(sys.modules.items()):
        beside = getattr(module, "__file__", None)
        if isinstance(beside, str) and beside.endswith(".py") and os.path.dirname(beside) == folder:
            _keep(Path(beside).resolve(), name)


def text_of(file: Path, module_name: str) -> str | None:
    """What a file said when its module was executed for the last time; of a file that nobody remembered, what it says
    now. Raises `InputError` where a module goes on with what it took from another before that was loaded again."""
    _keep(file, module_name)
    _require_fresh(module_name)
    return _AT_IMPORT.get((file, module_name), (None, None))[0]


def _require_fresh(module_name: str) -> None:
    """`from helper import f` binds what `helper` was then; after `reload(helper)` alone, the old `f` computes."""
    if not _LOADED_AGAIN:
        return
    for name, value in list(vars(sys.modules[module_name]).items()) if module_name in sys.modules else ():
        source = getattr(value, "__module__", None)
        if not inspect.isroutine(value) and not inspect.isclass(value):
            continue
        if source == module_name or source not in _LOADED_AGAIN:
            continue
        if getattr(sys.modules.get(source), value.__name__, value) is not value:
            raise InputError(
                f"module {source!r} was loaded again, and {module_name!r} still uses its old {name!r}; "
                f"reload {module_name!r}, too"
            )


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
    if inspect.isclass(thing) and not _defines(text_of(Path(file).resolve(), thing.__module__), thing.__name__):
        return None
    return file


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


def _keep(file: Path, module_name: str, anew: bool = False) -> None:
    """The text now, of a module that is new or was executed again; `anew`: of one that is being executed."""
    made = getattr(sys.modules.get(module_name), "__spec__", None)
    known = _AT_IMPORT.get((file, module_name))
    if known is not None and not anew and known[1] is made:
        return
    if known is not None and known[1] is not made:
        _LOADED_AGAIN.add(module_name)
    try:
        _AT_IMPORT[file, module_name] = file.read_text(encoding="utf-8"), made
    except (OSError, UnicodeDecodeError):
        _AT_IMPORT.pop((file, module_name), None)
