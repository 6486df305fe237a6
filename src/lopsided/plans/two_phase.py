"""A fixed set until the outer weight is large enough, the whole population from then on (paper C, theorem 1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from lopsided.core.config import TracedFloat
from lopsided.core.errors import InputError
from lopsided.core.model import Model
from lopsided.core.optimizer import Optimizer, is_constant
from lopsided.core.plan import Plan
from lopsided.core.task import LossName, Task
from lopsided.plans.phases import Labels
from lopsided.plans.simple import TracedSize


class TwoPhase(Plan):
    """Gradient descent of the quadratic neuron: on `size` samples until |a| >= `a_star`, on the exact expectation then.

    `size` = 0 is not a set: a_star = 0 skips the first phase. A member counts as having found the direction at
    |w - w*|² <= `epsilon`.
    """

    name: Literal["two-phase"] = "two-phase"
    size: TracedSize
    a_star: Annotated[TracedFloat, Field(ge=0, le=1)]
    labels: Labels = "true"
    epsilon: Annotated[TracedFloat, Field(gt=0, lt=0.5)] = 0.1

    def seen(self, steps: int) -> int:
        return 0

    def distinct(self, steps: int) -> float:
        return float(self.size if steps else 0)

    def check(self, task: Task, model: Model, optimizer: Optimizer, loss: LossName) -> None:
        """Raise `InputError` unless it is the setting of the theorem."""
        setting: Any = (task.name, getattr(task, "k", 2), model.name, optimizer.name, loss)
        if setting != ("sparse-parity", 2, "quadratic-neuron", "sgd", "correlation"):
            raise InputError(
                "plan 'two-phase': takes task 'sparse-parity' with k = 2, model 'quadratic-neuron', optimizer 'sgd' "
                "and loss 'correlation'"
            )
        if not is_constant(optimizer):
            raise InputError("plan 'two-phase': takes a constant learning rate without warm-up")
