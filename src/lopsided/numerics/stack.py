"""Layers of one shape kept as one pytree, so that a program does not grow with depth."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax


class Stack(eqx.Module):
    """Layers of one shape as one: every array of `stacked` has a leading axis of layers."""

    stacked: Any

    def __len__(self) -> int:
        return jax.tree.leaves(self.stacked)[0].shape[0]

    def __getitem__(self, i: int | slice) -> Any:
        """Layer i, or a stack of some layers' arrays."""
        return jax.tree.map(lambda x: x[i], self.stacked)
