"""What a model is: a description of a network that can draw one member's parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from jaxtyping import Array

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


class ContinuesText(ABC):
    """A network that predicts the next token at every position, and so can go on with a text. Its parameters have the
    method of `Continues`."""

    @property
    @abstractmethod
    def continues(self) -> bool:
        """Whether this one can: positions do not see later ones."""


class Continues(Protocol):
    """Parameters of a network that can go on with a text."""

    def greedy(self, prompts: Batch, count: int) -> Array:
        """(B, count) tokens, each the likeliest after a prompt and the tokens before it.

        `prompts`: inputs (B, L) that all end at the last column, segments (0 for what stands before a prompt; None:
        prompts fill their rows) and positions.
        """
        ...


class RidgeModel:
    """The network is a sum of ridge functions. Its parameters have a method `ridges` that gives strengths (m,), unit
    directions (m, d) and the link, from which exact losses and overlaps are computed."""
