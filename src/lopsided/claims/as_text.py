"""What a claim's test is, as text: a plan that was made before rows were seen tells by it whether the test has changed.

Settings count, with those that a function was made with. The code of a function does not: a better helper is no other
claim. A field that can only leave a verdict open (`ONLY_OPENS` in its metadata) does not either.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

ONLY_OPENS = "only opens"
"""Key in a field's metadata. Such a field was added to a kind that published plans already name: as a part of the text
it would have made all of them plans of other tests."""


def as_text(value: Any, inside: frozenset[int] = frozenset()) -> str:
    """One line that says all settings of a test, the nested ones included. `inside`: identities of the functions and
    objects whose settings are being said; one that reads itself is named there."""
    if is_dataclass(value) and not isinstance(value, type):
        settings = {
            field.name: getattr(value, field.name) for field in fields(value) if ONLY_OPENS not in field.metadata
        }
        return f"{type(value).__name__}({_pairs(settings, inside)})"
    if isinstance(value, FunctionType):
        return f"{value.__qualname__}({_settings(value, inspect.getclosurevars(value).nonlocals, inside)})"
    if isinstance(value, partial):
        return f"{as_text(value.func, inside)}({as_text(value.args, inside)}, {_pairs(value.keywords, inside)})"
    if isinstance(value, Mapping):
        return f"{{{_pairs(value, inside)}}}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"[{', '.join(as_text(each, inside) for each in value)}]"
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(as_text(each, inside) for each in value))}}}"
    if isinstance(value, np.ndarray):
        return f"array({as_text(value.tolist(), inside)})"
    if value is None or isinstance(value, str | bytes | bool | int | float):
        return repr(value)
    if callable(value) and not isinstance(value, type) and getattr(value, "__dict__", None):
        return f"{type(value).__name__}({_settings(value, vars(value), inside)})"
    return type(value).__name__


def _settings(value: Any, settings: Mapping[str, Any], inside: frozenset[int]) -> str:
    return "..." if id(value) in inside else _pairs(settings, inside | {id(value)})


def _pairs(settings: Mapping[Any, Any], inside: frozenset[int]) -> str:
    return ", ".join(f"{key}={as_text(inner, inside)}" for key, inner in settings.items())
