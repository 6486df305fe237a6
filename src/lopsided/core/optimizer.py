"""What an optimizer is: a description of an Optax transformation."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import optax

from lopsided.core.config import Part, Rate


class Optimizer(Part):
    """Builds an Optax transformation; its traced fields may be tracers."""

    lr: Rate

    adaptive: ClassVar[bool] = False
    """Whether a step's size does not depend on the gradient's (Adam)."""
    grouped: ClassVar[bool] = True
    """Whether parameter groups may learn at different rates: whether a step times a number is a valid step."""

    @abstractmethod
    def build(self, steps: int) -> optax.GradientTransformation:
        """The transformation for a run of `steps` steps."""


def falls(optimizer: Optimizer) -> bool:
    """Whether the learning rate falls towards the end of training."""
    return optimizer.model_dump()["schedule"] != "constant"


def is_constant(optimizer: Optimizer) -> bool:
    """Whether the optimizer is plain gradient descent with one learning rate from the first step to the last."""
    o = optimizer.model_dump()
    plain = o["name"] == "sgd" and o["schedule"] == "constant"
    return plain and not o["warmup"] and o["clip"] is None
