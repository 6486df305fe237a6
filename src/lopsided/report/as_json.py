"""Answers for programs: JSON without NaN or infinity, which are no JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

_kept: list[TextIO] = []
"""Standard output while `only_json` keeps it for the document."""


@contextmanager
def only_json() -> Iterator[None]:
    """Keep standard output for `print_json`: what somebody's recipe or program prints goes to stderr."""
    _kept.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop().flush()


def print_json(document: Any) -> None:
    """One JSON document on standard output, nothing else; of its lists and objects, one entry a line."""
    print(as_text(_finite(document)), file=_kept[-1] if _kept else None)


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
