"""additive-teacher: a sum of ridge functions along orthonormal directions with power-law weights (paper B)."""

from __future__ import annotations

from math import factorial
from typing import Annotated, Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field, model_validator

from lopsided.core.batch import Sample
from lopsided.core.config import TracedFloat
from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.model import Model, RidgeModel
from lopsided.core.shapes import Scalar, Vector
from lopsided.core.task import ExactLoss, HasLatent, LossName, SampleContext, Task
from lopsided.numerics.hermite import Link, evaluate
from lopsided.tasks._tensor import correlation_loss, square_loss

_WANTS_RIDGES = "an exact expectation exists for models that are sums of ridge functions: 'student', 'scalar-chain'"


class Teacher(NamedTuple):
    """What all samples of a member have in common."""

    weights: Float[Array, " P"]
    """a_p, falling, squares adding up to 1."""


class AdditiveTeacher(Task, HasLatent, ExactLoss):
    """f*(x) = sum_p a_p sigma(x_p), x ~ N(0, I_d), a_p ∝ p^-beta with sum a_p² = 1, over `directions` = P of d
    coordinates (without loss of generality: inputs and the student's initialisation look alike in every rotation).

    `link` is sigma: `h4`, or a mixture of Hermite polynomials by degree. One direction makes it a single-index model.
    """

    name: Literal["additive-teacher"] = "additive-teacher"
    d: Annotated[int, Field(ge=1, le=65536)] = 64
    directions: Annotated[int, Field(ge=1, le=65536)] = 16
    beta: Annotated[TracedFloat, Field(ge=0, le=10)] = 1.0
    link: Link = ((4, 1.0),)

    @model_validator(mode="after")
    def _fits(self) -> AdditiveTeacher:
        if self.directions > self.d:
            raise InputError(f"directions = {self.directions}: at most d = {self.d}, they are orthonormal")
        return self

    @property
    def inputs(self) -> Vector:
        return Vector(self.d)

    @property
    def outputs(self) -> Scalar:
        return Scalar(signs=False)

    def latent(self, key: Key) -> Teacher:
        weights = jnp.arange(1.0, self.directions + 1.0) ** -jnp.asarray(self.beta)
        return Teacher(weights / jnp.sqrt((weights**2).sum()))

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        x = jax.random.normal(jax.random.fold_in(key, index), (self.d,))
        target = (context.latent.weights * evaluate(self.link, x[: self.directions])).sum()
        return Sample(x, target)

    def check_exact_loss(self, model: Model, loss: LossName) -> None:
        if not isinstance(model, RidgeModel):
            raise InputError(f"{_WANTS_RIDGES}; this one is {model.name!r}")
        if loss not in ("square", "correlation"):
            raise InputError(f"loss = {loss!r}: its expectation has no formula; valid: square, correlation")
        self._check_ambient(model)

    def _check_ambient(self, model: Model) -> None:
        """A student that keeps only inner products has to keep all P coordinates of the teacher."""
        described = model.model_dump()
        if described.get("ambient") is not None and described["width"] + self.directions > self.d:
            needed = described["width"] + self.directions
            raise InputError(f"ambient: d = {self.d} holds the width + directions = {needed} coordinates that it needs")

    def exact_loss(self, params: Any, latent: Any, loss: LossName, frequency: Array | None) -> Array:
        """Equation in `tasks._tensor`; for models that are sums of ridge functions."""
        strengths, directions, link = params.ridges()
        formula = square_loss if loss == "square" else correlation_loss
        return formula(strengths, directions, latent.weights, (link, self.link))

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        x = np.asarray(inputs, np.float64)
        total = 0.0
        for p, a in enumerate(np.asarray(latent.weights, np.float64)):
            for degree, c in self.link:
                raw = np.polynomial.hermite_e.hermeval(x[p], [0] * degree + [1])
                total += a * c * raw / factorial(degree) ** 0.5
        return np.array(total)

    def example(self) -> str:
        sigma = " + ".join(f"{c:.3g} h{j}" if c != 1 else f"h{j}" for j, c in self.link)
        terms = f"sum over p = 1..{self.directions} of a_p s(x_p), s = {sigma}, a_p ∝ p^-{self.beta:g}"
        return f"x in R^{self.d} from N(0, I) -> {terms}"
