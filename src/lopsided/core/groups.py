"""Parameter groups: which parameters start larger or learn faster than the rest, by name.

A parameter's name is its path in the model, for example `layers.0.weight`. `lopsided.models` says nothing about groups:
any model has them. Layers of one shape may be kept in a `Stack`, where each has the name that it would have alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array
from pydantic import Field

from lopsided.core.config import Config, TracedFloat
from lopsided.core.errors import InputError
from lopsided.numerics.stack import Stack

Factor = Annotated[TracedFloat, Field(ge=0, le=1e9)]


class ParamGroup(Config):
    """Parameters whose names match the pattern (`*` for any characters) start `init` times as large and learn `lr`
    times as fast; lr = 0 freezes them. A parameter in several groups takes the product of their factors."""

    match: Annotated[str, Field(min_length=1, max_length=200)]
    init: Factor = 1.0
    lr: Factor = 1.0


def is_stacked(path: Any) -> bool:
    """Whether the leaf at this path has a leading axis of layers."""
    return any(getattr(key, "name", None) == "stacked" for key in path)


def unstacked(params: Any) -> Any:
    """Parameters with a tuple of layers in the place of every stack."""
    return jax.tree.map(
        lambda x: tuple(x[i] for i in range(len(x))) if isinstance(x, Stack) else x,
        params,
        is_leaf=lambda x: isinstance(x, Stack),
    )


def names(params: Any) -> list[str]:
    """Names of the parameters, in the order of their leaves, the layers of a stack one after the other."""
    return [name for path, leaf in jax.tree_util.tree_leaves_with_path(params) for name in _names_at(path, leaf)]


def _names_at(path: Any, leaf: Any) -> list[str]:
    """One name, or one for every layer."""
    name = jax.tree_util.keystr(path, simple=True, separator=".")
    if not is_stacked(path):
        return [name]
    return [name.replace("stacked", str(i), 1) for i in range(leaf.shape[0])]


def check(patterns: Sequence[str], valid: Sequence[str], where: str = "groups") -> None:
    """Raise `InputError` if a pattern matches none of these names."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in valid):
            raise InputError(f"{where}: {pattern!r} matches no parameter; there are {', '.join(valid)}")


def chosen(tree: Any, other: Any, match: str) -> Any:
    """`tree` with the leaves of `other` wherever names match the pattern."""

    def leaf(path: Any, mine: Array, its: Array) -> Array:
        which = [fnmatchcase(name, match) for name in _names_at(path, mine)]
        if len(set(which)) == 1:
            return its if which[0] else mine
        return jnp.where(jnp.array(which).reshape(-1, *[1] * (mine.ndim - 1)), its, mine)

    return jax.tree_util.tree_map_with_path(leaf, tree, other)


def scaled(tree: Any, groups: Sequence[ParamGroup], by: str) -> Any:
    """`tree` (parameters, or their updates) with every leaf times its groups' factors; `by` is `init` or `lr`."""
    if not groups:
        return tree

    def leaf(path: Any, value: Array) -> Array:
        at = _names_at(path, value)
        for group in groups:
            which = [fnmatchcase(name, group.match) for name in at]
            factor = getattr(group, by)
            if all(which):
                value = value * factor
            elif any(which):
                by_layer = jnp.where(jnp.array(which), factor, 1.0).astype(value.dtype)
                value = value * by_layer.reshape(-1, *[1] * (value.ndim - 1))
        return value

    return jax.tree_util.tree_map_with_path(leaf, tree)
