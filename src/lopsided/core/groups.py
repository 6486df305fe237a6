"""Parameter groups: which parameters start larger or learn faster than the rest, by name.

A parameter's name is its path in the model, for example `layers.0.weight`. `lopsided.models` says nothing about groups:
any model has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any

import jax
from pydantic import Field

from lopsided.core.config import Config, DialFloat
from lopsided.core.errors import InputError

Factor = Annotated[DialFloat, Field(ge=0, le=1e9)]


class Group(Config):
    """Parameters whose names match the pattern (`*` for any characters) start `init` times as large and learn `lr`
    times as fast; lr = 0 freezes them. A parameter in several groups takes the product of their factors."""

    match: Annotated[str, Field(min_length=1, max_length=200)]
    init: Factor = 1.0
    lr: Factor = 1.0


def names(params: Any) -> list[str]:
    """Names of the parameters, in the order of their leaves."""
    return [
        jax.tree_util.keystr(path, simple=True, separator=".")
        for path, _ in jax.tree_util.tree_leaves_with_path(params)
    ]


def check(patterns: Sequence[str], valid: Sequence[str], where: str = "groups") -> None:
    """Raise `InputError` if a pattern matches none of these names."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in valid):
            raise InputError(f"{where}: {pattern!r} matches no parameter; there are {', '.join(valid)}")


def chosen(tree: Any, other: Any, match: str) -> Any:
    """`tree` with the leaves of `other` wherever names match the pattern."""

    def leaf(path: Any, mine: Any, its: Any) -> Any:
        return its if fnmatchcase(jax.tree_util.keystr(path, simple=True, separator="."), match) else mine

    return jax.tree_util.tree_map_with_path(leaf, tree, other)


def scaled(tree: Any, groups: Sequence[Group], by: str) -> Any:
    """`tree` (parameters, or their updates) with every leaf times its groups' factors; `by` is `init` or `lr`."""
    if not groups:
        return tree

    def leaf(path: Any, value: Any) -> Any:
        name = jax.tree_util.keystr(path, simple=True, separator=".")
        for group in groups:
            if fnmatchcase(name, group.match):
                value = value * getattr(group, by)
        return value

    return jax.tree_util.tree_map_with_path(leaf, tree)
