"""No training: theory's prediction from each member's initial weights, behind the interface of `Ensemble`.

The prediction is a NumPy function that `run` hands over; this module only draws the initial weights (those of the other
engines, bit for bit) and puts the answer into the same rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from lopsided.core.keys import stream
from lopsided.engines.ensemble import Stretch
from lopsided.engines.members import Member

Prediction = Callable[..., dict[str, np.ndarray]]


class Idealised:
    """Members of one skeleton with their predicted curves; nothing has to be saved to go on."""

    device_kind = "theory"

    def __init__(self, members: Sequence[Member], prediction: Prediction):
        self.members = list(members)
        self.spec = members[0].spec
        self.step, self.seconds = 0, 0.0
        self.state = {"none": np.zeros(len(members))}
        self._prediction = prediction

    @property
    def finished(self) -> bool:
        return self.step == self.spec.steps

    @property
    def position(self) -> int:
        return self.step

    def compile(self) -> None:
        """Nothing to compile."""

    def restore(self, step: int, seconds: float, state: Any) -> None:
        self.step, self.seconds = step, seconds

    def run(self, slice_seconds: float = math.inf) -> Iterator[Stretch]:
        """One stretch per evaluation, as `Ensemble.run` gives them."""
        began = time.perf_counter()
        points = [0]
        while points[-1] < self.spec.steps:
            points.append(self.spec.evaluation.after(points[-1], self.spec.steps))
        curves = [self._curves(member, np.array(points[1:])) for member in self.members]
        alive = np.full(len(self.members), -1)
        seconds = self.seconds + time.perf_counter() - began
        for i, point in enumerate(points[1:]):
            if point > self.step:
                self.step, self.seconds = point, seconds
                yield Stretch(point, {k: np.stack([c[k][i] for c in curves]) for k in curves[0]}, alive, seconds)

    def _curves(self, member: Member, steps: np.ndarray) -> dict[str, np.ndarray]:
        spec, seed = member
        params = spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs)
        strengths, directions, link = params.ridges()  # type: ignore[attr-defined]
        with jax.enable_x64(True):
            weights = np.asarray(spec.task.world(stream(seed, "world")).weights, np.float64)
        overlaps = np.asarray(directions, np.float64)[:, : len(weights)]
        rate = spec.optimizer.lr  # type: ignore[attr-defined]
        return self._prediction(weights, np.asarray(strengths, np.float64), overlaps, link, rate, steps)
