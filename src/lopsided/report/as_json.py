"""Answers for programs: JSON without NaN or infinity, which are no JSON."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

_waiting: list[str] = []
"""Documents that `only_json` writes once its block is over."""
_blocks = 0
"""How many blocks of `only_json` are open."""


@contextmanager
def only_json() -> Iterator[None]:
    """Keep standard output for `print_json`: what somebody's recipe or program prints, or a process that it starts,
    goes to stderr. Documents are written as the outermost block ends."""
    global _blocks
    sys.stdout.flush()
    kept, _blocks = os.dup(1), _blocks + 1
    try:
        os.dup2(2, 1)  # for processes, which know no sys.stdout
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        _blocks -= 1
        while _waiting and not _blocks:
            print(_waiting.pop(0))


def print_json(document: Any) -> None:
    """One JSON document on standard output, nothing else; of its lists and objects, one entry a line."""
    text = as_text(_finite(document))
    if _blocks:
        _waiting.append(text)
    else:
        print(text)


def as_text(document: Any) -> str:
    """JSON that a difference of files shows line by line, and that is no longer than it has to be."""
    if not isinstance(document, dict):
        return json.dumps(document, indent=1, allow_nan=False, default=str)
    return _object({key: _entries(value) for key, value in document.items()})


def _entries(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return "[\n" + ",\n".join(map(_line, value)) + "\n]"
    if isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
        return _object({key: _line(each) for key, each in value.items()})
    return _line(value)


def _object(items: dict[str, str]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {text}" for key, text in items.items()) + "\n}"


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    """A document with null for what is not a finite number."""
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
