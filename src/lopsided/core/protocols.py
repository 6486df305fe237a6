"""What the parts promise one another. Shape legend of the project, used as suffixes of names:

E members of an ensemble · B samples of a batch · L input positions · O output positions · C classes · D width or input
dimension · K skills of one sample · R ranks (= number of skills) · T evaluations of a run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32
from pydantic import ConfigDict

from lopsided.core.config import Config
from lopsided.core.errors import InputError
from lopsided.core.groups import Group
from lopsided.core.keys import Key, unit

LossName = Literal["cross-entropy", "square", "logistic", "correlation"]


class Sample(NamedTuple):
    """One sample of a task (a batch adds a leading axis B to every field)."""

    inputs: Array  # (L,) int32 tokens, (D,) float32, or (L, D) float32
    targets: Array  # (O,) int32 classes, or () float32
    mask: Array  # (O,) or () float32: weight of each output position in the loss
    skills: Int[Array, " K"]  # ids of the skills it needs; K = 0 where a task has none


class Tokens(NamedTuple):
    """Inputs are `length` token ids below `vocabulary`."""

    vocabulary: int
    length: int


class Vector(NamedTuple):
    """Inputs are `dimension` real numbers."""

    dimension: int


class Vectors(NamedTuple):
    """Inputs are `length` vectors of `dimension` real numbers each."""

    length: int
    dimension: int


Inputs = Tokens | Vector | Vectors


class Classes(NamedTuple):
    """Outputs are logits over `count` classes at each of the input positions in `read`."""

    count: int
    read: tuple[int, ...]


class Scalar(NamedTuple):
    """Output is one number; `signs` if targets are +-1 and only the sign counts for accuracy."""

    signs: bool


def judged(outputs: Classes | Scalar) -> bool:
    """Whether an answer is right or wrong; a real-valued target only has a loss."""
    return not isinstance(outputs, Scalar) or outputs.signs


class SkillLaw(NamedTuple):
    """Which skill comes how often: the cumulative distribution over ranks, and who holds which rank."""

    cumulative: Float[Array, " R"]
    skill_at_rank: Int[Array, " R"]
    one: Float[Array, " R"] | None = None
    """The cumulative distribution that one skill of each sample, at a random place, comes from instead."""

    def draw(self, bits: UInt32[Array, "*n"]) -> Int[Array, "*n"]:
        """Skill ids from random words by inversion (24 bits of each word are used)."""
        skill = self._at(self.cumulative, unit(bits))
        if self.one is None:
            return skill
        place = ((bits[0] & 0xFF) * bits.shape[0]) >> 8  # the low byte, which no skill is drawn from
        return jnp.where(jnp.arange(bits.shape[0]) == place, self._at(self.one, unit(bits)), skill)

    def _at(self, cumulative: Float[Array, " R"], u: Float[Array, "*n"]) -> Int[Array, "*n"]:
        n = cumulative.shape[0]
        # One comparison per rank vectorises; beyond a few hundred ranks a binary search wins.
        method = "compare_all" if n <= 512 else "scan"
        rank = jnp.searchsorted(cumulative, u, side="right", method=method)
        return self.skill_at_rank[jnp.clip(rank, 0, n - 1)]


class Task(Config):
    """A pure generator. `sample` is jittable and depends on nothing but its arguments."""

    model_config = ConfigDict(ignored_types=(property,))

    @property
    @abstractmethod
    def n_skills(self) -> int:
        """Number of skills whose frequency can be shaped; 0 if the task has none."""

    @property
    def levels(self) -> int:
        """Number of difficulty levels a curriculum may mix (for example hops); the highest is the task itself."""
        return 1

    @property
    @abstractmethod
    def inputs(self) -> Inputs: ...

    @property
    @abstractmethod
    def outputs(self) -> Classes | Scalar: ...

    @property
    @abstractmethod
    def chance(self) -> float:
        """Accuracy of the best constant guess under the uniform skill distribution."""

    @property
    @abstractmethod
    def entropy_bits(self) -> float:
        """Base-2 logarithm of the number of distinct inputs under the uniform distribution (inf if continuous)."""

    def world(self, key: Key) -> Any:
        """What a member's samples have in common (a hidden direction, a knowledge base); None if nothing."""
        return None

    @abstractmethod
    def sample(self, key: Key, index: Any, law: SkillLaw | None, world: Any, level: Any = None) -> Sample:
        """The sample of stream `key` at `index`. `law` is None exactly if `n_skills` is 0."""

    supports: ClassVar[frozenset[str]] = frozenset()
    """Which changes of the training set the task can make, of `lopsided.core.training_set.CHANGES`."""

    def coordinates(self, key: Key, index: Any, world: Any) -> Float[Array, " D"]:
        """Inputs of the sample of stream `key` at `index` as the numbers that changes of the training set change;
        `inputs` of the sample itself unless the task writes them in another form."""
        return self.sample(key, index, None, world).inputs

    def of_inputs(self, x: Array, world: Any) -> Sample:
        """The sample with coordinates `x` (D,) and its true target; needed for every change but random labels."""
        raise NotImplementedError

    def enumerated(self, number: Array) -> Array:
        """Coordinates (D,) number `number` (() uint32) of the finite space of inputs (`repeats`)."""
        raise NotImplementedError

    def label_flipped(self, x: Array) -> Array:
        """Coordinates (D,) with the opposite label (`balanced-labels`)."""
        raise NotImplementedError

    def random_target(self, key: Key, index: Any, x: Array) -> Array:
        """A target for the sample's inputs `x` that has nothing to do with the task (`random-labels`)."""
        raise NotImplementedError

    has_population_loss: ClassVar[bool] = False
    """Whether `population_loss` exists, so that the plans `population` and `idealised` can run the task."""

    def check_population(self, model: Model, loss: LossName) -> None:
        """Raise `InputError` if `population_loss` has no formula for this model and loss."""
        raise InputError("task: has no exact loss")

    def check_idealised(self, model: Model, loss: LossName) -> None:
        """Raise `InputError` if theory makes no prediction for this model and loss."""
        raise InputError("task: theory makes no prediction for it")

    def population_loss(self, params: Any, world: Any, loss: LossName, frequency: Array | None) -> Array:
        """The exact expectation of `loss` over samples, a differentiable scalar in the precision of `params`.

        `frequency` (n_skills,): how often each skill occurs; None exactly if `n_skills` is 0.
        """
        raise NotImplementedError

    @abstractmethod
    def oracle(self, inputs: np.ndarray, world: Any) -> np.ndarray:
        """Targets of one input, computed slowly, in another way than `sample` does, without JAX."""

    @abstractmethod
    def example(self) -> str:
        """One worked example in a line."""


class Model(Config):
    """Describes a network; `init` makes one member's parameters, an Equinox module called on a batch."""

    ridges: ClassVar[bool] = False
    """Whether the network is a sum of ridge functions: its parameters have a method `ridges` (strengths (m,), unit
    directions (m, d), link), from which exact losses and overlaps are computed."""

    @abstractmethod
    def init(self, key: Key, inputs: Inputs, outputs: Classes | Scalar) -> Callable[[Array], Array]:
        """Parameters: a pytree that maps inputs (B, ...) to logits (B, O, C), or to numbers (B,)."""

    def rates(self, inputs: Inputs, outputs: Classes | Scalar, adaptive: bool) -> tuple[Group, ...]:
        """Learning-rate factors that the model's parameterization asks for, for SGD or an `adaptive` optimizer."""
        return ()


class Optimizer(Config):
    """Builds an Optax transformation; its dials may be traced."""

    adaptive: ClassVar[bool] = False
    """Whether a step's size does not depend on the gradient's (Adam)."""
    grouped: ClassVar[bool] = True
    """Whether parameter groups may learn at different rates: whether a step times a number is a valid step."""

    @abstractmethod
    def build(self, steps: int) -> Any: ...


RankOrder = Literal["lexicographic", "reversed", "random"]
