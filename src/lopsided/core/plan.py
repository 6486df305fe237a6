"""What a data plan is: which samples each step trains on, and how they are counted. (Shapes: legend in
`core.protocols`.)"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple

from jaxtyping import Array, Bool, Int, UInt32

from lopsided.core.config import Config
from lopsided.core.keys import Key
from lopsided.core.protocols import LossName, Model, Optimizer, Task


class Draw(NamedTuple):
    """What one step trains on."""

    index: UInt32[Array, " B"]
    level: Int[Array, " B"]
    count: Int[Array, ""] | None = None
    """How many of the indices count, from the front; None: all of them."""
    random: Bool[Array, ""] | None = None
    """Whether this step's labels are random; None: never."""


class Feed(NamedTuple):
    """Parameters that learn from a stream of their own."""

    match: str
    """Pattern of parameters' names."""
    plan: Any


class Plan(Config):
    """Step -> which indices. Pure and jittable; the accounting below is exact arithmetic on the host."""

    listens: ClassVar[bool] = False
    """Whether draws depend on how training goes. Such a plan has a memory, which rides in the member's state."""
    positions: ClassVar[bool] = True
    """Whether draws are numbered through the whole run, which needs fewer than 2^32 of them."""

    @property
    @abstractmethod
    def batch_size(self) -> int:
        """Samples per step (a static number)."""

    @abstractmethod
    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        """Indices (and levels) of the samples of `step`; `memory` matters only to plans that listen."""

    def begin(self) -> Any:
        """Memory before the first step, a pytree of arrays."""
        return ()

    def heard(self, memory: Any, accuracy: Array) -> Any:
        """Memory after a step on whose batch the model had this accuracy."""
        return memory

    def told(self, memory: Any) -> dict[str, Array]:
        """Metrics by name; `plan/distinct` is the number of distinct samples so far."""
        return {}

    @property
    def feeds(self) -> tuple[Feed, ...]:
        """Groups of parameters that do not learn from this plan's draws but from other streams."""
        return ()

    def seen(self, steps: int) -> int:
        """Samples that the first `steps` steps train on, repeats counted."""
        return steps * self.batch_size

    @property
    def relabels(self) -> bool:
        """True if some steps train on random labels."""
        return False

    def sizes(self) -> tuple[Any, ...]:
        """Sizes of the fixed sets that the plan uses one after the other; none for fresh samples. (Integers, or traced
        numbers where sizes are dials of an ensemble.)"""
        return ()

    @property
    def confined(self) -> bool:
        """True if no draw lies outside the fixed sets of `sizes`."""
        return bool(self.sizes())

    @abstractmethod
    def distinct(self, steps: int) -> float:
        """Distinct indices touched by the first `steps` steps (their expectation where draws are random); NaN for plans
        that listen, whose members differ."""

    @abstractmethod
    def declared(self, steps: int) -> None:
        """Raise `InputError` if the plan cannot run for `steps` steps."""

    @property
    def engine(self) -> Literal["sampled", "population", "idealised", "two-phase"]:
        """What runs it: training on samples, on exact expectations, both in turn, or no training but theory."""
        return "sampled"

    def check(self, task: Task, model: Model, optimizer: Optimizer, loss: LossName) -> None:
        """Raise `InputError` if the plan does not fit the other parts."""
        return

    @property
    def fresh(self) -> bool:
        """True if no index ever comes twice."""
        return False
