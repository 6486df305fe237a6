"""SGD and AdamW with a constant or a warm-up + cosine learning rate; learning rates are per member."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

import jax.numpy as jnp
import optax
from pydantic import Field

from lopsided.core.config import TRACED, TracedFloat, TracedInt
from lopsided.core.optimizer import Optimizer

Beta = Annotated[TracedFloat, Field(ge=0, lt=1)]


class Schedule(Optimizer):
    """lr(t) = lr * min(1, (t + 1) / warmup) * [floor + (1 - floor) (1 + cos(pi t / steps)) / 2], or without cosine."""

    schedule: Literal["constant", "cosine"] = "constant"
    warmup: Annotated[TracedInt, Field(ge=0)] = 0
    floor: Annotated[TracedFloat, Field(ge=0, le=1)] = 0.1
    clip: Annotated[Annotated[float, Field(gt=0, le=1e9)] | None, TRACED] = None
    """Gradients with a larger global norm are scaled down to it; None: never."""

    later: ClassVar[frozenset[str]] = frozenset({"clip"})

    def clipped(self, transformation: optax.GradientTransformation) -> optax.GradientTransformation:
        """The transformation after the gradients were clipped by their global norm, if asked for."""
        if self.clip is None:
            return transformation
        return optax.chain(optax.clip_by_global_norm(self.clip), transformation)

    def rate(self, steps: int) -> Callable[[Any], Any]:
        """Learning rate as a function of the step."""

        def at(t: Any) -> Any:
            value = self.lr * jnp.minimum(1.0, (t + 1) / jnp.maximum(self.warmup, 1))
            if self.schedule == "constant":
                return value
            return value * (self.floor + (1 - self.floor) * 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(1.0, t / steps))))

        return at


class SGD(Schedule):
    """Plain stochastic gradient descent."""

    name: Literal["sgd"] = "sgd"

    def build(self, steps: int) -> optax.GradientTransformation:
        return self.clipped(optax.sgd(self.rate(steps)))


class AdamW(Schedule):
    """Adam with decoupled weight decay."""

    adaptive: ClassVar[bool] = True
    name: Literal["adamw"] = "adamw"
    b1: Beta = 0.9
    b2: Beta = 0.999
    eps: Annotated[TracedFloat, Field(gt=0)] = 1e-8
    weight_decay: Annotated[TracedFloat, Field(ge=0)] = 0.0

    def build(self, steps: int) -> optax.GradientTransformation:
        adam = optax.adamw(self.rate(steps), b1=self.b1, b2=self.b2, eps=self.eps, weight_decay=self.weight_decay)
        return self.clipped(adam)
