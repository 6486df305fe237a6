"""SGD whose learning rate falls as a power of the step, for runs whose length nobody knows before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import jax.numpy as jnp
import optax
from pydantic import Field

from lopsided.core.config import TracedFloat
from lopsided.core.optimizer import Optimizer


class AnytimeSGD(Optimizer):
    """lr(t) = lr (1 + t / hold)^-power: about `lr` for `hold` steps, then falling without an end. With `doubling` it is
    constant between the steps at which t + hold doubles, and falls by 2^power there."""

    name: Literal["anytime-sgd"] = "anytime-sgd"
    schedule: Literal["power"] = "power"  # `core.optimizer.falls` asks every optimizer whether its rate falls
    hold: Annotated[TracedFloat, Field(ge=1, le=1e9)] = 1000.0
    power: Annotated[TracedFloat, Field(ge=0, le=1)] = 0.5
    doubling: bool = False

    def rate(self) -> Callable[[Any], Any]:
        """Learning rate as a function of the step."""

        def at(t: Any) -> Any:
            doublings = jnp.log2(1 + t / self.hold)
            return self.lr * jnp.exp2(-self.power * (jnp.floor(doublings) if self.doubling else doublings))

        return at

    def build(self, steps: int) -> optax.GradientTransformation:
        return optax.sgd(self.rate())
