"""single-index: one hidden direction, seen through a Hermite polynomial (paper C, section 2; paper B: even links)."""

from __future__ import annotations

from math import factorial
from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.batch import Sample
from lopsided.core.keys import Key, normal, words
from lopsided.core.shapes import Scalar, Vector
from lopsided.core.task import HasLatent, RandomLabels, RealInputs, SampleContext, Task
from lopsided.numerics.hermite import Link, evaluate


class SingleIndex(Task, HasLatent, RealInputs, RandomLabels):
    """y = sigma(<w*, x>), x ~ N(0, I_d), w* a direction of the member's own, uniform on the sphere.

    `link` is sigma, by degree as in `lopsided.numerics.hermite`: "h3", or {"2": 0.6, "3": 0.8}. Unless `normalised`,
    the polynomials are the probabilists' He_j = sqrt(j!) h_j, so that "h3" stands for He_3(z) = z^3 - 3 z, E[y²] = 6.
    """

    name: Literal["single-index"] = "single-index"
    d: Annotated[int, Field(ge=1, le=65536)] = 40
    link: Link = ((3, 1.0),)
    normalised: bool = False

    @property
    def inputs(self) -> Vector:
        return Vector(self.d)

    @property
    def outputs(self) -> Scalar:
        return Scalar(signs=False)

    @property
    def power(self) -> float:
        """E[y²]: twice the square loss of answering 0."""
        return sum(c * c * (1 if self.normalised else factorial(j)) for j, c in self.link)

    def latent(self, key: Key) -> Float[Array, " d"]:
        """w*."""
        w = normal(words(key, 0, self.d))
        return w / jnp.sqrt(jnp.square(w).sum())

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        return self.of_coordinates(self.coordinates(key, index, context.latent), context.latent)

    def coordinates(self, key: Key, index: Any, latent: Any) -> Float[Array, " d"]:
        return normal(words(key, index, self.d))

    def of_coordinates(self, x: Array, latent: Any) -> Sample:
        return Sample(x, self._sigma(x @ latent))

    def random_target(self, key: Key, index: Any, x: Array) -> Array:
        """The true link of another direction, the same for all indices."""
        return self._sigma(x @ self.latent(jax.random.fold_in(key, 0)))

    def _sigma(self, z: Array) -> Array:
        if self.normalised:
            return evaluate(self.link, z)
        return evaluate(tuple((j, c * factorial(j) ** 0.5) for j, c in self.link), z)

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        z = float(np.asarray(inputs, np.float64) @ np.asarray(latent, np.float64))
        total = 0.0
        for degree, c in self.link:
            raw = np.polynomial.hermite_e.hermeval(z, [0] * degree + [1])
            total += c * raw / (factorial(degree) ** 0.5 if self.normalised else 1)
        return np.array(total)

    def example(self) -> str:
        letter = "h" if self.normalised else "He"
        sigma = " + ".join(f"{c:.3g} {letter}{j}" if c != 1 else f"{letter}{j}" for j, c in self.link)
        return f"x in R^{self.d} from N(0, I) -> s(<w*, x>) with s = {sigma} and a hidden direction w*"
