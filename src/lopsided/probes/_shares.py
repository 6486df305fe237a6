"""The learned share of every teacher direction."""

from __future__ import annotations

from jaxtyping import Array, Float

from lopsided.core.errors import InputError
from lopsided.core.model import Model, RidgeModel
from lopsided.core.task import Task

LEARNED = 0.5
"""Share of a direction's weight from which it counts as learned."""


def check(probe: str, task: Task, model: Model) -> None:
    """Raise `InputError` unless the task has teacher directions and the model is a sum of ridge functions."""
    if "directions" not in type(task).model_fields or not isinstance(model, RidgeModel):
        raise InputError(
            f"probe {probe!r}: takes task 'additive-teacher' and models that are sums of ridge functions: 'student', "
            "'scalar-chain'"
        )


def shares(
    strengths: Float[Array, " m"], overlaps: Float[Array, "m P"], weights: Float[Array, " P"], degree: int
) -> Float[Array, " P"]:
    """sum_k s_k c_kp^J / a_p: the student's tensor at (e_p, ..., e_p) over the teacher's."""
    return (strengths[:, None] * overlaps**degree).sum(0) / weights
