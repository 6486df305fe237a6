"""Do the skills that are learned help those that are not? Gradients on samples with exactly one tail skill (paper A,
figure 3, right)."""

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


class TailGradient(Probe):
    """Norm of the expected gradient on samples with one skill, at a random place, from the last of `bins` rank bins:

    `tail-gradient/head`    the other skills are from bin 1
    `tail-gradient/middle`  the other skills are from the bins between the first and the last, evenly

    The norm of a mean over samples is too large by their noise; the root of the product of the mean gradients of two
    halves of `samples` is not (0 where the product is negative: no gradient was seen).
    """

    name: Literal["tail-gradient"] = "tail-gradient"
    bins: Annotated[int, Field(ge=3, le=100)] = 5
    samples: Annotated[int, Field(ge=2, le=2**24)] = 2048

    def check(self, task: Task, model: Model) -> None:
        if n_skills(task) < self.bins:
            raise InputError(f"probe 'tail-gradient': bins = {self.bins}, but the task has {n_skills(task)} skills")

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        rows = jnp.asarray(bin_probabilities(context.n_ranks, self.bins), jnp.float32)
        return {
            "tail-gradient/head": self._norm(context, rows[-1], rows[0], "head"),
            "tail-gradient/middle": self._norm(context, rows[-1], rows[1:-1].mean(0), "middle"),
        }

    def _norm(self, context: ProbeContext, tail: Array, others: Array, name: str) -> Array:
        assert context.gradient is not None
        halves = [context.gradient(tail, others, f"tail-gradient/{name}/{half}", self.samples // 2) for half in "ab"]
        products = jax.tree.map(lambda a, b: (a * b).sum(), *halves)
        return jnp.sqrt(jnp.maximum(jax.tree.reduce(jnp.add, products), 0.0))
