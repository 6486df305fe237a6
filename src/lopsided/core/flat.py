"""Nested JSON as one level: settings by dotted path."""

from __future__ import annotations

import hashlib
import json
from typing import Any

LARGEST = 16
"""Numbers of a table up to which each has a path of its own; chosen, so that a group's table is one setting."""


def flat(value: Any) -> dict[str, Any]:
    """Leaves by path: `{"optimizer": {"lr": 0.1}, "groups": [1]}` is `{"optimizer.lr": 0.1, "groups.0": 1}`. A larger
    table of numbers is one leaf, told from others by its digest: `60 x 60 table 3f2a91`."""
    return dict(_leaves(value, ""))


def _leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    if _is_table(value):
        return [(path, _said(value))]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return [(path, value)]
    return [leaf for key, inner in items for leaf in _leaves(inner, f"{path}.{key}" if path else str(key))]


def _is_table(value: Any) -> bool:
    """Whether a value is a list of rows of numbers, with more than `LARGEST` numbers in all."""
    if not (isinstance(value, list) and value and all(isinstance(row, list) for row in value)):
        return False
    return sum(map(len, value)) > LARGEST and all(isinstance(each, int | float) for row in value for each in row)


def _said(table: list[list[float]]) -> str:
    digest = hashlib.sha256(json.dumps(table).encode()).hexdigest()[:6]
    return f"{len(table)} x {max(map(len, table))} table {digest}"
