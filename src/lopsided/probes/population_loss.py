"""The exact expected loss, whatever the member trains on."""

from __future__ import annotations

from typing import Literal

from jaxtyping import Array

from lopsided.core.errors import InputError
from lopsided.core.protocols import Probe, ProbeContext


class PopulationLoss(Probe):
    """Metric `population/loss`: the task's exact loss, free of the noise of a finite test set."""

    name: Literal["population-loss"] = "population-loss"

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        if context.population is None:
            raise InputError("probe 'population-loss': the task has no formula for its expected loss")
        return {"population/loss": context.population()}
