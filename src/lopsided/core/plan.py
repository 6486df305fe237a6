"""What a data plan is: which samples each step trains on, and how they are counted. What only some plans do is a
capability: a class of its own to inherit from beside `SampledPlan`. (Shapes: legend in `core.shapes`.)"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from jaxtyping import Array, Bool, Int, UInt32

from lopsided.core.config import Part
from lopsided.core.keys import Key
from lopsided.core.model import Model
from lopsided.core.optimizer import Optimizer
from lopsided.core.task import LossName, Task


class Draw(NamedTuple):
    """What one step trains on."""

    index: UInt32[Array, " B"]
    level: Int[Array, " B"] | None = None
    """Difficulty of each sample, from 0 (plans that mix levels); None: the task itself."""
    count: Int[Array, ""] | None = None
    """How many of the indices count, from the front; None: all of them."""
    random: Bool[Array, ""] | None = None
    """Whether this step's labels are random; None: never."""
    subset: Int[Array, ""] | None = None
    """Which of the plan's several fixed sets this step draws from, in the order of `FixedSets.sizes`; None: there is
    one."""


class Plan(Part):
    """Where a step's gradient comes from. The accounting is exact arithmetic on the host."""

    @abstractmethod
    def seen(self, steps: int) -> int:
        """Samples that the first `steps` steps train on, repeats counted; 0 for plans that draw none."""

    @abstractmethod
    def distinct(self, steps: int) -> float:
        """Distinct samples that the first `steps` steps touch (their expectation where draws are random); NaN where
        members differ."""

    def check_steps(self, steps: int) -> None:
        """Raise `InputError` if the plan cannot run for `steps` steps."""
        return

    def check(self, task: Task, model: Model, optimizer: Optimizer, loss: LossName) -> None:
        """Raise `InputError` if the plan does not fit the other parts."""
        return


class SampledPlan(Plan):
    """Every step draws samples by their indices: a pure, jittable function of the step."""

    positions: ClassVar[bool] = True
    """Whether draws are numbered through the whole run, which needs fewer than 2^32 of them."""

    @property
    @abstractmethod
    def batch_size(self) -> int:
        """Samples per step (a static number)."""

    @property
    @abstractmethod
    def fresh(self) -> bool:
        """True if no index ever comes twice."""

    @abstractmethod
    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        """The samples of `step`; `memory` matters only to plans that remember."""


class FixedSets(ABC):
    """Draws come from fixed sets of samples: those with indices below a size."""

    confined: ClassVar[bool] = True
    """Whether no draw lies outside the sets."""

    @abstractmethod
    def sizes(self) -> tuple[Any, ...]:
        """Sizes of the sets, in the order of their use; integers, or tracers where sizes are traced."""


class SameDraws:
    """Every step draws the same indices at the same levels; at most, how many of them count differs from step to step.
    A subclass that overrides `draw` has to list `SameDraws` again."""


class Remembers(ABC):
    """Draws depend on how training goes. The plan's memory rides in the member's state."""

    @abstractmethod
    def init_state(self) -> Any:
        """Memory before the first step, a pytree of arrays."""

    @abstractmethod
    def update(self, memory: Any, accuracy: Array) -> Any:
        """Memory after a step on whose batch the model had this accuracy."""

    @abstractmethod
    def metrics(self, memory: Any) -> dict[str, Array]:
        """Metrics by name; `plan/distinct`, the number of distinct samples so far, is one of them."""


class MixesLevels(ABC):
    """Draws have levels of difficulty."""

    @property
    @abstractmethod
    def levels(self) -> int:
        """Levels that the plan speaks of."""


class MayRelabel(ABC):
    """Some steps may train on random labels."""

    @property
    @abstractmethod
    def relabels(self) -> bool:
        """Whether any step does."""


class Stream(NamedTuple):
    """Parameters that learn from a stream of samples of their own."""

    match: str
    """Pattern of parameters' names."""
    plan: SampledPlan


class SeveralStreams(ABC):
    """Some parameters learn from streams of their own: a gradient a stream, each parameter updated from its own."""

    @property
    @abstractmethod
    def streams(self) -> tuple[Stream, ...]:
        """The streams beside the plan's own draws."""


def streams_of(plan: Plan) -> tuple[Stream, ...]:
    """The plan's further streams; none for most plans."""
    return plan.streams if isinstance(plan, SeveralStreams) else ()


def sizes_of(plan: Plan) -> tuple[Any, ...]:
    """Sizes of the plan's fixed sets; none for fresh samples."""
    return plan.sizes() if isinstance(plan, FixedSets) else ()


def same_draws(plan: Plan) -> bool:
    """Whether all steps train on the same samples with the same labels, so that drawing them once is enough."""
    drawing = next(kind for kind in type(plan).__mro__ if "draw" in vars(kind))
    return SameDraws in drawing.__bases__ and not isinstance(plan, Remembers) and not relabels(plan)


def relabels(plan: Plan) -> bool:
    """Whether some steps train on random labels."""
    return isinstance(plan, MayRelabel) and plan.relabels
