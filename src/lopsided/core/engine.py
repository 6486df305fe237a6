"""What an engine is: it says which specs it can run, and trains members of one compiled program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import numpy as np

from lopsided.core.execution import Execution

if TYPE_CHECKING:
    from lopsided.core.spec import Spec


class Member(NamedTuple):
    """One seed of one spec."""

    spec: Spec
    seed: int


class Evaluated(NamedTuple):
    """What is known after an evaluation."""

    step: Any
    """A number, or (E,) where members are at different steps."""
    metrics: dict[str, np.ndarray]
    """By name: (E,) numbers, or (E, ...) arrays."""
    diverged: np.ndarray
    """(E,) step of divergence, or -1."""
    seconds: float
    """Computing time of the whole ensemble so far, compilation excluded."""
    who: np.ndarray | None = None
    """(E,) positions in the list of members; None: all of them, in order."""


def _copied(leaf: Any) -> Any:
    """On the host, made there by JAX's threads where it is an array of a CPU (NumPy takes four times as long)."""
    on_cpu = isinstance(leaf, jax.Array) and all(device.platform == "cpu" for device in leaf.devices())
    narrow = getattr(leaf, "dtype", np.dtype(np.float64)).itemsize < 8  # outside its context JAX would round float64
    return leaf.copy() if on_cpu and narrow else np.array(leaf)


class Engine(ABC):
    """Trains members whose specs share a static key. A new kind of engine is one file in `lopsided.engines` (or
    somewhere else, registered): the first engine whose `accepts` says yes runs a spec."""

    name: ClassVar[str]
    trains: ClassVar[bool] = True
    """Whether members cost training time; a prediction costs none."""

    spec: Spec
    members: list[Member]
    step: int
    seconds: float
    evaluating: float = 0.0
    """The part of `seconds` that evaluations took; 0 where they cannot be told from steps."""
    state: Any
    """What has to be saved to go on: a pytree of arrays."""

    @classmethod
    @abstractmethod
    def accepts(cls, spec: Spec) -> bool:
        """Whether this engine is the one for the spec's plan."""

    @classmethod
    @abstractmethod
    def check(cls, spec: Spec) -> None:
        """Raise `InputError` if the spec, whose plan this engine accepts, asks for something that it cannot do."""

    @classmethod
    @abstractmethod
    def members_per_job(cls, spec: Spec) -> int:
        """How many members one job takes: a function of the spec alone, whatever the machine."""

    @abstractmethod
    def __init__(self, members: Sequence[Member], execution: Execution): ...

    @property
    @abstractmethod
    def device_kind(self) -> str:
        """For example `2 x cpu`."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether every member has taken its last step."""

    @property
    @abstractmethod
    def position(self) -> int:
        """Steps of the average member."""

    @abstractmethod
    def compile(self) -> None:
        """Compile, so that `seconds` counts computing only."""

    def saved(self) -> Any:
        """A copy of `state`, which the next step may write over."""
        return jax.tree.map(_copied, self.state)

    @abstractmethod
    def restore(self, step: int, seconds: float, state: Any) -> None:
        """Go on from a saved state, whatever the number of devices that it was saved with."""

    @abstractmethod
    def run(self, slice_seconds: float = float("inf")) -> Iterator[Evaluated | None]:
        """Train to the end of the spec; yields after every evaluation. Long stretches without one are cut into slices
        of about `slice_seconds`, each followed by a None: a caller may save the state there."""
