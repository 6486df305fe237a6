"""What a claim's test is, as text: a plan that was made before rows were seen tells by it whether the test has changed.

Settings count, with those that a function was made with. The code of a function does not: a better helper is no other
claim. A field that can only leave a verdict open (`ONLY_OPENS` in its metadata) does not either.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from types import FunctionType
from typing import Any

ONLY_OPENS = "only opens"
"""Key in a field's metadata. Such a field was added to a kind that published plans already name: as a part of the text
it would have made all of them plans of other tests."""


def as_text(value: Any) -> str:
    """One line that says all settings of a test, the nested ones included."""
    if is_dataclass(value) and not isinstance(value, type):
        settings = {
            field.name: getattr(value, field.name) for field in fields(value) if ONLY_OPENS not in field.metadata
        }
        return f"{type(value).__name__}({_pairs(settings)})"
    if isinstance(value, FunctionType):
        return f"{value.__qualname__}({_pairs(inspect.getclosurevars(value).nonlocals)})"
    if isinstance(value, partial):
        return f"{as_text(value.func)}({as_text(value.args)}, {_pairs(value.keywords)})"
    if isinstance(value, Mapping):
        return f"{{{_pairs(value)}}}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"[{', '.join(map(as_text, value))}]"
    if value is None or isinstance(value, str | bytes | bool | int | float):
        return repr(value)
    return type(value).__name__


def _pairs(settings: Mapping[Any, Any]) -> str:
    return ", ".join(f"{key}={as_text(inner)}" for key, inner in settings.items())
