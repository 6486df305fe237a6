"""A fixed set until the outer weight is large enough, the whole population from then on (paper C, theorem 1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jax.numpy as jnp
from pydantic import Field

from lopsided.core.config import DialFloat
from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.plan import Draw, Plan
from lopsided.core.protocols import LossName, Model, Optimizer, Task
from lopsided.plans.phases import Labels
from lopsided.plans.simple import DialSize, plain


class TwoPhase(Plan):
    """Gradient descent of the quadratic neuron: on `size` samples until |a| >= `a_star`, on the exact expectation then.

    `size` = 0 is not a set: a_star = 0 skips the first phase. A member counts as having found the direction at
    |w - w*|² <= `epsilon`.
    """

    name: Literal["two-phase"] = "two-phase"
    size: DialSize
    a_star: Annotated[DialFloat, Field(ge=0, le=1)]
    labels: Labels = "true"
    epsilon: Annotated[DialFloat, Field(gt=0, lt=0.5)] = 0.1

    @property
    def batch_size(self) -> int:
        return 0

    @property
    def engine(self) -> Literal["two-phase"]:
        return "two-phase"

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        return plain(jnp.zeros(0, jnp.uint32))

    def distinct(self, steps: int) -> float:
        return float(self.size if steps else 0)

    def declared(self, steps: int) -> None:
        return

    def check(self, task: Task, model: Model, optimizer: Optimizer, loss: LossName) -> None:
        """Raise `InputError` unless it is the setting of the theorem."""
        names = [part.name for part in (task, model, optimizer)]  # type: ignore[attr-defined]
        if names != ["sparse-parity", "quadratic-neuron", "sgd"] or task.k != 2 or loss != "correlation":  # type: ignore[attr-defined]
            raise InputError(
                "plan 'two-phase': takes task 'sparse-parity' with k = 2, model 'quadratic-neuron', optimizer 'sgd' "
                "and loss 'correlation'"
            )
        if optimizer.schedule != "constant" or optimizer.warmup:  # type: ignore[attr-defined]
            raise InputError("plan 'two-phase': takes a constant learning rate without warm-up")
