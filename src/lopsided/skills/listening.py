"""Schedules of laws that listen to training: what they are told after a step, and what they answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class Told(NamedTuple):
    """What one step tells."""

    right: Float[Array, ""]
    """Accuracy above chance: 0 at chance, 1 where every answer is right."""
    loss: Any = None
    """(R,) sum of the losses of the samples that need each skill (each rank's, for a law over ranks); None for laws
    that hear no skill apart."""
    count: Any = None
    """(R,) how many samples need it."""


class Listening(ABC):
    """A distribution that moves with what a member has heard, which rides in the member's state."""

    __slots__ = ()
    hears_skills: ClassVar[bool] = False
    """Whether it is told the loss of each skill."""
    by_skill: ClassVar[bool] = False
    """Whether it gives frequencies of skills in place of ranks."""

    @abstractmethod
    def begin(self) -> Any:
        """What a member has heard before its first step: a pytree of arrays."""

    @abstractmethod
    def after(self, heard: Any, told: Told) -> Any:
        """What it has heard after one more step."""

    @abstractmethod
    def frequency(self, progress: Any, heard: Any = ()) -> Float[Array, " R"]:
        """The probability of each rank, or of each skill."""

    @abstractmethod
    def metrics(self, heard: Any) -> dict[str, Array]:
        """What is written of it at an evaluation, by name."""

    @property
    def constant(self) -> bool:
        """False: the law changes during training."""
        return False

    def cumulative(self, progress: Any, heard: Any = ()) -> Float[Array, " R"]:
        """The cumulative distribution of `frequency`."""
        total = jnp.cumsum(self.frequency(progress, heard))
        return total / total[-1]
