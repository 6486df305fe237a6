"""The idealised run of `additive-teacher`: every direction learned at its predicted time by its predicted neuron."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.core.errors import InputError
from lopsided.core.prediction import Prediction
from lopsided.core.spec import Spec
from lopsided.core.task import ExactLoss
from lopsided.numerics.hermite import Link, exponent_of
from lopsided.theory.greedy_selection import gaps, greedy_selection, selection_matrix
from lopsided.theory.transitions import escape_time, idealised_loss, norm_growth_time


class AdditiveTeacherPrediction(Prediction):
    """Greedy selection is about the 2-homogeneous student with the teacher's link and the square loss (paper B)."""

    name: ClassVar[str] = "additive-teacher"

    def check(self, spec: Spec) -> None:
        task, model = spec.task.model_dump(), spec.model.model_dump()
        if model["name"] != "student" or model["norm"] != "free" or model["link"] != task["link"]:
            raise InputError(
                "plan 'idealised': theory is about model 'student' with norm 'free' and the task's own link"
            )
        if spec.loss != "square":
            raise InputError(f"loss = {spec.loss!r}: plan 'idealised' predicts training on the square loss")
        link: Any = task["link"]
        if exponent_of(link) < 3:
            raise InputError("plan 'idealised': single transition times exist for links of information exponent >= 3")
        if isinstance(spec.task, ExactLoss):
            spec.task.check_exact_loss(spec.model, spec.loss)

    def curves(
        self,
        weights: np.ndarray,
        strengths: np.ndarray,
        overlaps: np.ndarray,
        link: Link,
        rate: float,
        steps: np.ndarray,
    ) -> dict[str, np.ndarray]:
        """`population/loss` and `test/loss` (T,): idealised loss; by direction (T, P): `strength` (0 or 1), `neuron`,
        and, the same at every step, `predicted/time` in steps with the growth of the norm and `predicted/bare-time`
        without (NaN where no neuron is left); `gap/row`, `gap/column`, `gap/threshold` (T,): the member's smallest."""
        degree, coefficient = exponent_of(link), link[0][1]
        matrix = selection_matrix(weights, overlaps, degree)
        chosen = greedy_selection(matrix)
        bare = np.full(len(weights), np.inf)
        full = np.full(len(weights), np.inf)
        a, k = weights[chosen.direction], chosen.neuron
        bare[chosen.direction] = escape_time(a, overlaps[k, chosen.direction], degree, coefficient) / rate
        full[chosen.direction] = bare[chosen.direction] + norm_growth_time(a, np.sqrt(strengths[k])) / rate
        loss = idealised_loss(steps, weights, full)
        always = lambda values: np.broadcast_to(values, (len(steps), *np.shape(values)))
        learned = steps[:, None] >= full
        smallest = {name: v.min(initial=np.inf) for name, v in gaps(matrix, chosen)._asdict().items()}
        found = {
            "population/loss": loss,
            "test/loss": loss,
            "train/loss": loss,
            "strength": learned.astype(float),
            "neuron": always(np.asarray(chosen.neuron_of(len(weights)), float)),
            "predicted/time": always(full),
            "predicted/bare-time": always(bare),
            "directions/learned": learned.mean(1),
            **{f"gap/{name}": always(v) for name, v in smallest.items()},
        }
        return {name: np.where(np.isfinite(v), v, np.nan) for name, v in found.items()}
