"""Nested JSON as one level: settings by dotted path."""

from __future__ import annotations

from typing import Any


def flat(value: Any) -> dict[str, Any]:
    """Leaves by path: `{"optimizer": {"lr": 0.1}, "groups": [1]}` is `{"optimizer.lr": 0.1, "groups.0": 1}`."""
    return dict(_leaves(value, ""))


def _leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return [(path, value)]
    return [leaf for key, inner in items for leaf in _leaves(inner, f"{path}.{key}" if path else str(key))]
