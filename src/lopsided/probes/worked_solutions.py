"""Solutions that a network writes itself, token by token: final answers and steps, by operations and by rank bin."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int
from pydantic import Field

from lopsided.core.batch import Batch, target_weights
from lopsided.core.errors import InputError
from lopsided.core.model import Continues, ContinuesText, Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import Task, WorkedSolutions
from lopsided.skills.ranks import bin_probabilities


class WorkedSolutionsProbe(Probe):
    """Greedy decoding of whole solutions of test problems. Metrics:

    `worked/answer`     share of problems whose final answer is right
    `worked/step`       share of the true solution's steps whose result stands at the same place in the network's
    `worked/answer-2`   share of right answers of the problems of 2 operations, and so on; NaN where there are none
    `worked/bin1`       share of right answers where all skills come from one of `bins` rank bins, 1 the most frequent
    """

    name: Literal["worked-solutions"] = "worked-solutions"
    samples: Annotated[int, Field(ge=1, le=2**20)] = 256
    bins: Annotated[int, Field(ge=0, le=100)] = 0

    def check(self, task: Task, model: Model) -> None:
        if not isinstance(task, WorkedSolutions):
            raise InputError(f"probe {self.name!r}: task {task.name!r} has no solutions in steps")
        if not isinstance(model, ContinuesText) or not model.continues:
            raise InputError(f"probe {self.name!r}: takes a model that goes on with a text, a causal transformer")

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        assert context.samples is not None
        draw = context.samples
        found = self._of(context, draw(None, "worked", self.samples))
        if self.bins:
            rows = jnp.asarray(bin_probabilities(context.n_ranks, self.bins), jnp.float32)
            one = lambda row: self._of(context, draw(row, "worked-bins", self.samples))["worked/answer"]
            found |= {f"worked/bin{b + 1}": value for b, value in enumerate(jax.lax.map(one, rows))}
        return found

    def _of(self, context: ProbeContext, batch: Batch) -> dict[str, Array]:
        task = cast(WorkedSolutions, context.task)
        asked = prompts_of(batch, task.longest_solution)
        written = cast(Continues, context.params).greedy(asked.prompts, asked.solutions.shape[1])
        ours, true = (jax.vmap(task.read_solution)(tokens) for tokens in (written, asked.solutions))
        right = (ours.answer == true.answer).all(-1)
        steps = (true.results >= 0).any(-1)
        same = ((ours.results == true.results).all(-1) & steps).sum(-1)
        counts = asked.counts
        found = {
            "worked/answer": _mean(right, counts),
            "worked/step": _mean(same, counts, steps.sum(-1)),
        }
        low, high = task.operations
        return found | {
            f"worked/answer-{k}": _mean(right, counts * (true.operations == k), empty=jnp.nan)
            for k in range(low, high + 1)
        }


class Asked(NamedTuple):
    """Test problems: what a network is given, and what it should write."""

    prompts: Batch
    """Inputs (B, L) that all end at the last column."""
    solutions: Int[Array, "B T"]
    """Behind a solution, 0."""
    counts: Float[Array, " B"]
    """1 for problems that count."""


def prompts_of(batch: Batch, longest: int) -> Asked:
    """The problems of test rows in which all prompts end at one position and at most `longest` tokens follow."""
    end = batch.inputs.shape[1] - longest + 1
    cut = lambda x: None if x is None else x[:, :end]
    prompts = Batch(batch.inputs[:, :end], segments=cut(batch.segments), positions=cut(batch.positions))
    asked = target_weights(batch)[:, -longest:] > 0
    solutions = jnp.where(asked, batch.targets[:, -longest:], 0)
    return Asked(prompts, solutions, asked.any(-1).astype(jnp.float32))


def _mean(right: Array, counts: Array, of: Any = 1.0, empty: Any = 0.0) -> Array:
    total = (counts * of).sum()
    return jnp.where(total > 0, (right * counts).sum() / jnp.maximum(total, 1), empty)
