"""The exact expected loss, whatever the member trains on."""

from __future__ import annotations

from typing import Literal

from jaxtyping import Array

from lopsided.core.errors import InputError
from lopsided.core.model import Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import ExactLoss, Task


class PopulationLoss(Probe):
    """Metric `population/loss`: the task's exact loss, free of the noise of a finite test set."""

    name: Literal["population-loss"] = "population-loss"

    def check(self, task: Task, model: Model) -> None:
        if not isinstance(task, ExactLoss):
            raise InputError("probe 'population-loss': there is no formula for the expected loss of this task")
        try:
            task.check_exact_loss(model, "square")
        except InputError as error:
            raise InputError(f"probe 'population-loss': {error}") from None

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        assert context.population is not None
        return {"population/loss": context.population()}
