"""SGD on the sphere: after every step each row of each parameter gets its norm back (Ben Arous et al. 2021)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import optax

from lopsided.optim.optimizers import Schedule


class SphericalSGD(Schedule):
    """v <- |v| (v - lr g) / |v - lr g| along the last axis."""

    grouped: ClassVar[bool] = False
    name: Literal["spherical-sgd"] = "spherical-sgd"

    def build(self, steps: int) -> optax.GradientTransformation:
        plain = self.clipped(optax.sgd(self.rate(steps)))

        def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
            updates, state = plain.update(updates, state, params)

            def back(v: Any, change: Any) -> Any:
                moved = v + change
                return moved * (_norm(v) / _norm(moved)) - v

            return jax.tree.map(back, params, updates), state

        return optax.GradientTransformation(plain.init, update)


def _norm(v: Any) -> Any:
    return jnp.sqrt(jnp.square(v).sum(-1, keepdims=True))
