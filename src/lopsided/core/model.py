"""What a model is: a description of a network that can draw one member's parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from lopsided.core.batch import Batch
from lopsided.core.config import Part
from lopsided.core.groups import ParamGroup
from lopsided.core.keys import Key
from lopsided.core.shapes import Inputs, Outputs


class Model(Part):
    """Describes a network."""

    @abstractmethod
    def init(self, key: Key, inputs: Inputs, outputs: Outputs) -> Callable[[Batch], Any]:
        """Parameters: a pytree (an Equinox module) that maps a `Batch` to logits (B, O, C), or to numbers (B,)."""

    def rates(self, inputs: Inputs, outputs: Outputs, adaptive: bool) -> tuple[ParamGroup, ...]:
        """Learning-rate factors that the model's parameterization asks for, for SGD or an `adaptive` optimizer."""
        return ()


class RidgeModel:
    """The network is a sum of ridge functions. Its parameters have a method `ridges` that gives strengths (m,), unit
    directions (m, d) and the link, from which exact losses and overlaps are computed."""
