"""Norm of each layer's weights; for a two-layer perceptron ‖a‖₂/‖W‖_F is last/first (paper C, figures 4, 12, 13)."""

from __future__ import annotations

from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from lopsided.core.errors import InputError
from lopsided.core.groups import unstacked
from lopsided.core.model import Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import Task


class WeightNorms(Probe):
    """Metrics `norm/layer1` ... in the order of the parameters' matrices, and `norm/ratio` = last / first."""

    name: Literal["weight-norms"] = "weight-norms"

    def check(self, task: Task, model: Model) -> None:
        if "width" not in type(model).model_fields:
            raise InputError(f"probe 'weight-norms': model {model.name!r} has no weight matrix")

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        matrices = [leaf for leaf in jax.tree.leaves(unstacked(context.params)) if leaf.ndim >= 2]
        norms = [jnp.sqrt(jnp.square(m).sum()) for m in matrices]
        found = {f"norm/layer{i}": n for i, n in enumerate(norms, start=1)}
        if len(norms) > 1:
            found["norm/ratio"] = norms[-1] / norms[0]
        return found
