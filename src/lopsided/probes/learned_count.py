"""How many teacher directions are learned and found: `directions` without its curves by direction."""

from __future__ import annotations

from typing import Literal

from jaxtyping import Array

from lopsided.core.model import Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import Task
from lopsided.numerics.hermite import exponent_of
from lopsided.probes._shares import LEARNED, check, shares


class LearnedCount(Probe):
    """Metrics `directions/learned`, `directions/found` (shares, as in probe `directions`) and `directions/count`, the
    number of learned directions."""

    name: Literal["learned-count"] = "learned-count"

    def check(self, task: Task, model: Model) -> None:
        check(self.name, task, model)

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        strengths, directions, link = context.params.ridges()
        weights = context.latent.weights
        c = directions[:, : weights.shape[0]]
        learned = shares(strengths, c, weights, exponent_of(link)) >= LEARNED
        found = (c**2).max(0) >= LEARNED
        return {
            "directions/learned": learned.mean(dtype=c.dtype),
            "directions/found": found.mean(dtype=c.dtype),
            "directions/count": learned.sum(dtype=c.dtype),
        }
