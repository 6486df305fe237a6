"""How far the product model's weights are from the hidden signs (paper A, theorem 2)."""

from __future__ import annotations

from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array

from lopsided.core.errors import InputError
from lopsided.core.model import Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import Task

LEARNED = 0.5
"""Distance to its sign below which a skill counts as learned."""


class SkillError(Probe):
    """With the sign of all weights chosen so that they fit w* best (k is even: w and -w are the same function):

    `skills/error`    max_i |w_i - w*_i|, the error of theorem 2
    `skills/learned`  share of skills with |w_i - w*_i| below one half
    `skills/overlap`  w·w* / d
    """

    name: Literal["skill-error"] = "skill-error"

    def check(self, task: Task, model: Model) -> None:
        if (task.name, model.name) != ("k-composition", "product"):
            raise InputError("probe 'skill-error': takes task 'k-composition' and model 'product'")

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        u = context.params.w * context.latent
        u = u * jnp.where(jnp.abs(u - 1).max() <= jnp.abs(u + 1).max(), 1.0, -1.0)
        return {
            "skills/error": jnp.abs(u - 1).max(),
            "skills/learned": (jnp.abs(u - 1) < LEARNED).mean(dtype=u.dtype),
            "skills/overlap": u.mean(),
        }
