"""Idealised engine: no training, but theory's prediction from each member's initial weights.

The prediction is registered (`lopsided.theory`), NumPy only; this module draws the initial weights (those of the other
engines, bit for bit) and puts the answer into the same rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, cast

import jax
import numpy as np

from lopsided.core import registry
from lopsided.core.engine import Engine, Evaluated, Member
from lopsided.core.errors import InputError
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.keys import stream
from lopsided.core.optimizer import is_constant
from lopsided.core.prediction import Prediction
from lopsided.core.spec import Spec
from lopsided.core.task import ExactLoss, latent_of
from lopsided.engines.population import refuse_samples, without_formula
from lopsided.plans.population import Idealised as IdealisedPlan

EVERYBODY = 2**30
"""Members of a job: all of them, since evaluating a formula takes no time."""


class Idealised(Engine):
    """The plan `idealised`. Nothing has to be saved to go on."""

    name: ClassVar[str] = "idealised"
    trains: ClassVar[bool] = False

    def __init__(self, members: Sequence[Member], execution: Execution = DEFAULT):
        self.members, self.spec = list(members), members[0].spec
        self.step, self.seconds = 0, 0.0
        self.state = {"none": np.zeros(len(members))}

    @classmethod
    def accepts(cls, spec: Spec) -> bool:
        return isinstance(spec.plan, IdealisedPlan)

    @classmethod
    def check(cls, spec: Spec) -> None:
        if not isinstance(spec.task, ExactLoss):
            raise InputError(without_formula(spec))
        refuse_samples(spec)
        _prediction(spec).check(spec)
        if not is_constant(spec.optimizer):
            raise InputError(
                f"plan = {spec.plan.name!r}: gradient flow measures time in steps x learning rate, which takes "
                "optimizer 'sgd' with a constant rate, no warm-up and no clipping"
            )

    @classmethod
    def members_per_job(cls, spec: Spec) -> int:
        return EVERYBODY

    @property
    def device_kind(self) -> str:
        return "theory"

    @property
    def finished(self) -> bool:
        return self.step == self.spec.steps

    @property
    def position(self) -> int:
        return self.step

    def compile(self) -> None:
        """Do nothing: there is no program to compile."""

    def restore(self, step: int, seconds: float, state: Any) -> None:
        self.step, self.seconds = step, seconds

    def run(self, slice_seconds: float = math.inf) -> Iterator[Evaluated | None]:
        """The curves, evaluation by evaluation."""
        began = time.perf_counter()
        points = self.spec.evaluation.points(self.spec.steps)
        curves = [_curves(member, np.array(points)) for member in self.members]
        alive = np.full(len(self.members), -1)
        seconds = self.seconds + time.perf_counter() - began
        for i, point in enumerate(points):
            if point > self.step:
                self.step, self.seconds = point, seconds
                yield Evaluated(point, {k: np.stack([c[k][i] for c in curves]) for k in curves[0]}, alive, seconds)


def _prediction(spec: Spec) -> Prediction:
    cls: Any = registry.registered("prediction").get(spec.task.name)
    if cls is None:
        raise InputError(f"plan = {spec.plan.name!r}: theory makes no prediction for task {spec.task.name!r}")
    return cls()


def _curves(member: Member, steps: np.ndarray) -> dict[str, np.ndarray]:
    spec, seed = member
    params = cast(Any, spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs))
    strengths, directions, link = params.ridges()
    with jax.enable_x64(True):
        weights = np.asarray(latent_of(spec.task, stream(seed, "world")).weights, np.float64)
    overlaps = np.asarray(directions, np.float64)[:, : len(weights)]
    rate = spec.optimizer.lr
    return _prediction(spec).curves(weights, np.asarray(strengths, np.float64), overlaps, link, rate, steps)
