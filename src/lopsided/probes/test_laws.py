"""Test loss and accuracy where skills come by power laws: users' questions follow a law, too."""

from __future__ import annotations

from typing import Annotated, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from pydantic import Field

from lopsided.core.errors import InputError
from lopsided.core.model import Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import Task, n_skills
from lopsided.shape.path import power


class TestLaws(Probe):
    """Metrics `law0.5/accuracy`, `law0.5/loss`, ... on samples whose skills come by r^-0.5, ..., r the rank that a
    skill has in training. (Weighing the accuracies of rank bins does not do: recipe `test-law`.)"""

    __test__ = False  # no test, whatever its name says to pytest
    name: Literal["test-laws"] = "test-laws"
    exponents: Annotated[tuple[Annotated[float, Field(ge=0, le=20)], ...], Field(min_length=1)] = (0.5, 1.0, 1.5, 2.0)
    samples: Annotated[int, Field(ge=1, le=2**24)] = 512

    def check(self, task: Task, model: Model) -> None:
        if not n_skills(task):
            raise InputError(f"probe 'test-laws': task {task.name!r} has no skills")

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        laws = [power(context.n_ranks, alpha).probabilities() for alpha in self.exponents]
        rows = jnp.asarray(np.stack(laws), jnp.float32)
        # One law after the other: the evaluation is compiled once, not once a law.
        by_metric = jax.lax.map(lambda row: context.evaluate(row, "test-laws", self.samples), rows)
        return {
            f"law{alpha:g}/{metric}": values[i]
            for metric, values in by_metric.items()
            for i, alpha in enumerate(self.exponents)
        }
