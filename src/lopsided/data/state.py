"""What a checkpoint holds of a stream: a position, and a name that tells streams apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lopsided.core.errors import InputError

VERSION = 2
"""Of the order of samples: streams of another version put other examples at the same positions."""


def fingerprint(*what: Any) -> str:
    """16 hexadecimal digits of settings and arrays; equal numbers are the same in whatever they are held."""
    text = json.dumps([VERSION, _plain(what)], separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, np.bool_)):
        return value if value is None else bool(value)
    if isinstance(value, (int, float, np.number)):
        number = value.item() if isinstance(value, np.number) else value
        return int(number) if float(number).is_integer() else number
    if isinstance(value, bytes):
        return hashlib.blake2b(value).hexdigest()
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return sorted([repr(_plain(key)), _plain(inner)] for key, inner in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(inner) for inner in value]
    return [type(value).__name__, _plain(vars(value))]


def position_of(state: Any, name: str, total: int, allow_other: bool) -> int:
    """The position of a `state`. Raises `InputError` if it is of another stream than `name`, unless that is allowed."""
    try:
        position, its = int(state["position"]), state["stream"]
    except (KeyError, TypeError, ValueError):
        raise InputError("state: valid is what `state_dict()` gave: position and stream") from None
    if its != name and not allow_other:
        raise InputError(
            f"state: it is of another stream ({its}, this is {name}): other data, shape, total, seed or version of "
            "lopsided; allow_other=True takes its position all the same, though examples may then be missed or repeated"
        )
    if not 0 <= position <= total:
        raise InputError(f"state: position {position}: 0 to {total:,}")
    return position
