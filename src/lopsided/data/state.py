"""What a checkpoint holds of a stream: a position, and a name that tells streams apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lopsided.core.errors import InputError, require_whole, whole
from lopsided.shape.shape import Shape

VERSION = 4
"""Version of the order of samples: streams of another version put other examples at the same positions."""


def fingerprint(*what: Any) -> str:
    """16 hexadecimal digits of settings and arrays; equal numbers are the same in whatever they are held."""
    text = json.dumps([VERSION, _plain(what)], separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, bytes):
        return hashlib.blake2b(value).hexdigest()
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Shape):
        return [type(value).__name__, _plain(vars(value))]
    if isinstance(value, Mapping):
        return sorted([json.dumps(_plain(key)), _plain(inner)] for key, inner in value.items())
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (int, float)):
        return int(value) if float(value).is_integer() else float(value)
    if isinstance(value, Sequence):
        return [_plain(inner) for inner in value]
    return _plain(_array(value).tolist())  # numbers of NumPy, tensors, columns, fractions


def _array(value: Any) -> np.ndarray:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"shape: {value!r} cannot be told from others; valid are numbers, texts and arrays") from None


def position_in(total: int, position: Any) -> int:
    """A position, from 0 to `total`. Raises `InputError` for anything else."""
    found = whole(position)
    if found is None or not 0 <= found <= total:
        raise InputError(f"position {position!r}: a whole number from 0 to {total:,}")
    return found


def require_part(step: Any, batch: Any, rank: Any, world: Any) -> None:
    """Raise `InputError` for what is no part of a step's batch: a rank from 0 to `world` - 1."""
    require_whole(step=step, batch=batch, rank=rank, world=world)
    if step < 0 or batch < 1 or not 0 <= rank < world:
        raise InputError(
            f"step = {step}, batch = {batch}, rank = {rank}, world = {world}: valid are a step from 0 on, a batch of "
            "at least 1, and 0 <= rank < world"
        )


def position_of(state: Any, name: str, total: int, allow_other: bool) -> int:
    """The position of a `state`. Raises `InputError` if it is of another stream than `name`, unless that is allowed."""
    try:
        position, its = state["position"], state["stream"]
    except (KeyError, TypeError):
        raise InputError("state: valid is what `state_dict()` gave: position and stream") from None
    if (order := state.get("order", VERSION - 1)) != VERSION and not allow_other:
        raise InputError(
            f"state: it is of order {order} of samples, and this version of lopsided has order {VERSION}; go on with "
            "the version that began"
        )
    if its != name and not allow_other:
        raise InputError(
            f"state: it is of another stream ({its}, this is {name}): other data, shape, total, seed or version of "
            "lopsided; allow_other=True takes its position all the same, though examples may then be missed or repeated"
        )
    try:
        return position_in(total, position)
    except InputError as error:
        raise InputError(f"state: {error}") from None
