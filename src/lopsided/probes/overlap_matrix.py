"""Overlaps of students and teachers in the order of greedy maximum selection (paper B, figure 3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array
from pydantic import Field

from lopsided.core.errors import InputError
from lopsided.core.model import Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import Task
from lopsided.numerics.hermite import exponent_of
from lopsided.probes._shares import check


class OverlapMatrix(Probe):
    """Metric `matrix` (size, size): squared overlap of the neuron that greedy selection takes i-th, judged
    by the initial weights, with the direction that it takes j-th. Learning as predicted makes the diagonal 1."""

    name: Literal["overlap-matrix"] = "overlap-matrix"
    size: Annotated[int, Field(ge=1, le=256)] = 16

    def check(self, task: Task, model: Model) -> None:
        check(self.name, task, model)
        if exponent_of(getattr(task, "link")) < 3:  # noqa: B009
            raise InputError("probe 'overlap-matrix': greedy selection is for links of information exponent >= 3")

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        weights = context.latent.weights
        _, initial, link = context.initial.ridges()
        _, now, _ = context.params.ridges()
        n = weights.shape[0]
        size = min(self.size, n, initial.shape[0])
        degree = exponent_of(link)
        # With an odd degree a negative overlap is driven to zero, never learned.
        c = jnp.abs(initial[:, :n]) if degree % 2 == 0 else jnp.maximum(initial[:, :n], 0)
        neurons, directions = _first(weights * c ** (degree - 2), size)
        square = now[neurons][:, directions] ** 2
        return {"matrix": square}


def _first(matrix: Any, count: int) -> tuple[Array, Array]:
    """Rows and columns (count,) of the first entries that greedy maximum selection takes."""

    def take(left: Array, _: None) -> tuple[Array, tuple[Array, Array]]:
        k, p = jnp.divmod(left.argmax(), left.shape[1])
        return left.at[k].set(-1.0).at[:, p].set(-1.0), (k, p)

    return jax.lax.scan(take, matrix, None, length=count)[1]
