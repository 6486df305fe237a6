"""additive-teacher: a sum of ridge functions along orthonormal directions with power-law weights (paper B)."""

from __future__ import annotations

from math import factorial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field, model_validator

from lopsided.core.config import DialFloat
from lopsided.core.errors import InputError
from lopsided.core.hermite import Link, evaluate, exponent_of
from lopsided.core.keys import Key
from lopsided.core.protocols import LossName, Model, Sample, Scalar, SkillLaw, Task, Vector
from lopsided.tasks._tensor import correlation_loss, square_loss

_WANTS_RIDGES = "an exact expectation exists for models that are sums of ridge functions: 'student', 'scalar-chain'"


class Teacher(NamedTuple):
    """What all samples of a member have in common."""

    weights: Float[Array, " P"]
    """a_p, falling, squares adding up to 1."""


class AdditiveTeacher(Task):
    """f*(x) = sum_p a_p sigma(x_p), x ~ N(0, I_d), a_p ∝ p^-beta with sum a_p² = 1, over `directions` = P of d
    coordinates (without loss of generality: inputs and the student's initialisation look alike in every rotation).

    `link` is sigma: `h4`, or a mixture of Hermite polynomials by degree. One direction makes it a single-index model.
    """

    name: Literal["additive-teacher"] = "additive-teacher"
    d: Annotated[int, Field(ge=1, le=65536)] = 64
    directions: Annotated[int, Field(ge=1, le=65536)] = 16
    beta: Annotated[DialFloat, Field(ge=0, le=10)] = 1.0
    link: Link = ((4, 1.0),)

    has_population_loss: ClassVar[bool] = True

    @model_validator(mode="after")
    def _fits(self) -> AdditiveTeacher:
        if self.directions > self.d:
            raise InputError(f"directions = {self.directions}: at most d = {self.d}, they are orthonormal")
        return self

    @property
    def n_skills(self) -> int:
        return 0

    @property
    def inputs(self) -> Vector:
        return Vector(self.d)

    @property
    def outputs(self) -> Scalar:
        return Scalar(signs=False)

    @property
    def chance(self) -> float:
        return 0.0

    @property
    def entropy_bits(self) -> float:
        return float("inf")

    def world(self, key: Key) -> Teacher:
        weights = jnp.arange(1.0, self.directions + 1.0) ** -jnp.asarray(self.beta)
        return Teacher(weights / jnp.sqrt((weights**2).sum()))

    def sample(self, key: Key, index: Any, law: SkillLaw | None, world: Any, level: Any = None) -> Sample:
        x = jax.random.normal(jax.random.fold_in(key, index), (self.d,))
        target = (world.weights * evaluate(self.link, x[: self.directions])).sum()
        return Sample(x, target, jnp.float32(1), jnp.zeros(0, jnp.int32))

    def check_population(self, model: Model, loss: LossName) -> None:
        if not model.ridges:
            raise InputError(f"{_WANTS_RIDGES}; this one is {model.name!r}")  # type: ignore[attr-defined]
        if loss not in ("square", "correlation"):
            raise InputError(f"loss = {loss!r}: its expectation has no formula; valid: square, correlation")

    def check_idealised(self, model: Model, loss: LossName) -> None:
        """Greedy selection is about the 2-homogeneous student with the teacher's link and the square loss."""
        if model.name != "student" or model.norm != "free" or model.link != self.link:  # type: ignore[attr-defined]
            raise InputError(
                "plan 'idealised': theory is about model 'student' with norm 'free' and the task's own link"
            )
        if loss != "square":
            raise InputError(f"loss = {loss!r}: plan 'idealised' predicts training on the square loss")
        if exponent_of(self.link) < 3:
            raise InputError("plan 'idealised': single transition times exist for links of information exponent >= 3")

    def population_loss(self, params: Any, world: Any, loss: LossName, frequency: Array | None) -> Array:
        """Equation in `tasks._tensor`; for models that are sums of ridge functions."""
        strengths, directions, link = params.ridges()
        formula = square_loss if loss == "square" else correlation_loss
        return formula(strengths, directions, world.weights, (link, self.link))

    def oracle(self, inputs: np.ndarray, world: Any) -> np.ndarray:
        x = np.asarray(inputs, np.float64)
        total = 0.0
        for p, a in enumerate(np.asarray(world.weights, np.float64)):
            for degree, c in self.link:
                raw = np.polynomial.hermite_e.hermeval(x[p], [0] * degree + [1])
                total += a * c * raw / factorial(degree) ** 0.5
        return np.array(total)

    def example(self) -> str:
        sigma = " + ".join(f"{c:.3g} h{j}" if c != 1 else f"h{j}" for j, c in self.link)
        terms = f"sum over p = 1..{self.directions} of a_p s(x_p), s = {sigma}, a_p ∝ p^-{self.beta:g}"
        return f"x in R^{self.d} from N(0, I) -> {terms}"
