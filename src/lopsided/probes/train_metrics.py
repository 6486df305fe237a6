"""Loss and accuracy on samples of the training set itself: against the test metrics they show over-fitting."""

from __future__ import annotations

from typing import Annotated, Literal

import jax.numpy as jnp
from jaxtyping import Array
from pydantic import Field

from lopsided.core.probe import Probe, ProbeContext


class TrainMetrics(Probe):
    """Metrics `train-set/loss` and, where answers are right or wrong, `train-set/accuracy`, on the first `samples`
    samples of the training stream with their true labels. (`train/loss` is the mean over the batches trained on, while
    parameters moved.) NaN for plans that draw no samples."""

    name: Literal["train-metrics"] = "train-metrics"
    samples: Annotated[int, Field(ge=1, le=2**24)] = 1024

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        if context.on_training_set is None:
            return {"train-set/loss": jnp.float32(jnp.nan)}
        return {f"train-set/{name}": value for name, value in context.on_training_set(self.samples).items()}
