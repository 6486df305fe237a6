"""Test loss and accuracy per rank bin: all skills of a sample come from one bin (paper A, figures 3 and 5)."""

from __future__ import annotations

from typing import Annotated, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array
from pydantic import Field

from lopsided.core.errors import InputError
from lopsided.core.model import Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import Task, n_skills
from lopsided.skills.ranks import bin_probabilities


class RankBins(Probe):
    """Metrics `bin1/accuracy`, `bin1/loss`, ...; bin 1 holds the most frequent skills."""

    name: Literal["rank-bins"] = "rank-bins"
    bins: Annotated[int, Field(ge=1, le=100)] = 5
    samples: Annotated[int, Field(ge=1, le=2**24)] = 512

    def check(self, task: Task, model: Model) -> None:
        if n_skills(task) < self.bins:
            raise InputError(f"probe 'rank-bins': bins = {self.bins}, but the task has {n_skills(task)} skills")

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        rows = jnp.asarray(bin_probabilities(context.n_ranks, self.bins), jnp.float32)
        # One bin after the other: the evaluation is compiled once, not once a bin.
        by_metric = jax.lax.map(lambda row: context.evaluate(row, "rank-bins", self.samples), rows)
        return {f"bin{b + 1}/{metric}": values[b] for metric, values in by_metric.items() for b in range(self.bins)}
