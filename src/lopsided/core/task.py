"""What a task is. Every task has inputs, outputs, a pure `sample` and a slow oracle. Whatever only some tasks can do is
a capability: a class of its own to inherit from beside `Task`. (Shapes: legend in `core.shapes`.)"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from lopsided.core.batch import Sample
from lopsided.core.config import Part
from lopsided.core.keys import Key, unit
from lopsided.core.model import Model
from lopsided.core.shapes import Inputs, Outputs

LossName = Literal["cross-entropy", "square", "logistic", "correlation"]
Split = Literal["train", "test"]
RankOrder = Literal["lexicographic", "reversed", "random"]


class SkillLaw(NamedTuple):
    """Which skill comes how often: the cumulative distribution over ranks, and who holds which rank."""

    cumulative: Float[Array, " R"]
    skill_at_rank: Int[Array, " R"]
    one: Float[Array, " R"] | None = None
    """If set, one skill of each sample, at a random place, is drawn from this cumulative distribution instead."""

    def draw(self, bits: UInt32[Array, "*n"]) -> Int[Array, "*n"]:
        """Skill ids from random words by inversion (24 bits of each word are used)."""
        skill = self._at(self.cumulative, unit(bits))
        if self.one is None:
            return skill
        place = ((bits[0] & 0xFF) * bits.shape[0]) >> 8  # the low byte, which no skill is drawn from
        return jnp.where(jnp.arange(bits.shape[0]) == place, self._at(self.one, unit(bits)), skill)

    def _at(self, cumulative: Float[Array, " R"], u: Float[Array, "*n"]) -> Int[Array, "*n"]:
        n = cumulative.shape[0]
        # One comparison per rank vectorises; beyond a few ranks a binary search wins (on a CPU, ns a draw: 18 and 17
        # at 20 ranks, 36 and 18 at 60, 95 and 20 at 211).
        method = "compare_all" if n <= 16 else "scan_unrolled"
        rank = jnp.searchsorted(cumulative, u, side="right", method=method)
        return self.skill_at_rank[jnp.clip(rank, 0, n - 1)]


class SampleContext(NamedTuple):
    """What a sample may depend on besides its stream and its index."""

    latent: Any = None
    """What the samples of one member have in common (`HasLatent`); None for tasks without."""
    law: SkillLaw | None = None
    """How often each skill occurs; None for tasks without skills."""
    level: Any = None
    """Difficulty, from 0, for tasks with levels; None: the task itself."""
    split: Split = "train"
    """`train` never draws what a task holds out; `test` asks for what the member is judged on."""


class Task(Part):
    """A pure generator of samples."""

    @property
    @abstractmethod
    def inputs(self) -> Inputs: ...

    @property
    @abstractmethod
    def outputs(self) -> Outputs: ...

    @abstractmethod
    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        """The sample of stream `key` at `index`: jittable, and a function of its arguments alone."""

    @abstractmethod
    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        """Targets of one input, computed slowly, in another way than `sample` does, without JAX."""

    @abstractmethod
    def example(self) -> str:
        """One worked example in a line."""


class HasLatent(ABC):
    """The samples of one member have something in common: a hidden direction, a knowledge base."""

    @abstractmethod
    def latent(self, key: Key) -> Any:
        """Draw the latent (hidden direction, knowledge base) of one member from `key`: a pytree of arrays."""


class HasSkills(ABC):
    """Samples need skills whose frequency can be shaped."""

    @property
    @abstractmethod
    def n_skills(self) -> int:
        """Number of skills, at least 1."""


class HasLevels(ABC):
    """Samples come in levels of difficulty (for example hops), which a curriculum may mix."""

    @property
    @abstractmethod
    def levels(self) -> int:
        """Number of levels; the highest is the task itself."""


class HasChance(ABC):
    """Answers are right or wrong, and some can be guessed."""

    @property
    @abstractmethod
    def chance(self) -> float:
        """Accuracy of the best constant guess under uniform skills, averaged over the members' latents."""

    def chance_given(self, latent: Any) -> float:
        """Chance level for a member with this latent; by default that of the average member."""
        return self.chance


class HoldsOut(ABC):
    """Some of what tests ask never comes in training."""

    @abstractmethod
    def held_out(self, inputs: np.ndarray) -> bool:
        """Whether the inputs of a sample hold something that training must never draw."""


class WritesText(ABC):
    """Tokens are text."""

    @abstractmethod
    def decode(self, tokens: np.ndarray) -> str:
        """The text of some tokens (n,), as a person reads it."""


class WorkedSolutions(WritesText):
    """Answers are solutions in several steps, of which the last states the result."""

    @property
    @abstractmethod
    def operations(self) -> tuple[int, int]:
        """Fewest and most operations of a problem."""

    @property
    @abstractmethod
    def longest_solution(self) -> int:
        """Most tokens of a solution. In test rows all prompts end where so many are left for the rest."""

    @abstractmethod
    def read_solution(self, tokens: Int[Array, " T"]) -> Solution:
        """What a written solution says (jittable)."""


class Solution(NamedTuple):
    """Numbers of a written solution, as tokens; -1 where there is none."""

    results: Int[Array, "S W"]
    """Result of each step."""
    answer: Int[Array, " W"]
    operations: Int[Array, ""]
    """Number of operations."""


class FiniteInputs(ABC):
    """There are finitely many inputs."""

    @property
    @abstractmethod
    def entropy_bits(self) -> float:
        """Base-2 logarithm of the number of distinct inputs under uniform skills."""


class EditableInputs(ABC):
    """Inputs are coordinates that can be changed and labelled again: means removed, signs flipped."""

    @abstractmethod
    def coordinates(self, key: Key, index: Any, latent: Any) -> Float[Array, " D"]:
        """The coordinates of the sample of stream `key` at `index`."""

    @abstractmethod
    def of_coordinates(self, x: Float[Array, " D"], latent: Any) -> Sample:
        """The sample with these coordinates and its true target."""


class RealInputs(EditableInputs):
    """Coordinates are real numbers, which can be shifted and rotated."""


class SignInputs(EditableInputs, FiniteInputs):
    """Coordinates are -1 or +1: there are 2^D inputs, numbered."""

    @abstractmethod
    def enumerated(self, number: Array) -> Float[Array, " D"]:
        """Coordinates number `number` (() uint32)."""

    @abstractmethod
    def label_flipped(self, x: Float[Array, " D"]) -> Float[Array, " D"]:
        """Coordinates with the opposite label."""


class RandomLabels(ABC):
    """Samples can be labelled at random."""

    @abstractmethod
    def random_target(self, key: Key, index: Any, x: Array) -> Array:
        """A target for the inputs `x` of the sample at `index` that has nothing to do with the task."""


class ExactLoss(ABC):
    """The expectation of the loss over all samples has a formula, so that no sample is needed to train."""

    @abstractmethod
    def check_exact_loss(self, model: Model, loss: LossName) -> None:
        """Raise `InputError` if there is no formula for this model and loss."""

    @abstractmethod
    def exact_loss(self, params: Any, latent: Any, loss: LossName, frequency: Array | None) -> Array:
        """The expectation of `loss`, a differentiable scalar in the precision of `params`.

        `frequency` (n_skills,): how often each skill occurs; None for tasks without skills.
        """


class ExactAgreement(ABC):
    """The mean product of answer and label has a formula: 1 if all answers are right, 0 for guesses."""

    @abstractmethod
    def exact_agreement(self, params: Any, latent: Any, frequency: Array) -> Array:
        """() under skill frequencies (n_skills,)."""


def latent_of(task: Task, key: Key) -> Any:
    """What the samples of one member have in common; None for a task without."""
    return task.latent(key) if isinstance(task, HasLatent) else None


def n_skills(task: Task) -> int:
    """Number of skills; 0 for a task without."""
    return task.n_skills if isinstance(task, HasSkills) else 0


def n_levels(task: Task) -> int:
    """Number of levels; 1 for a task without."""
    return task.levels if isinstance(task, HasLevels) else 1
