"""icl-regression: linear regression inside the context of a sequence model (paper C, section 2; figures 1c, 9c, 9d)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from lopsided.core.batch import Sample
from lopsided.core.keys import Key, normal, words
from lopsided.core.shapes import Scalar, Vectors
from lopsided.core.task import SampleContext, Task


class ICLRegression(Task):
    """x_1, y_1, ..., x_k, y_k, x_q with y_i = <w, x_i>; the target is <w, x_q>. Every sequence has a w ~ N(0, I_n) of
    its own, and x_i ~ N(0, I_n).

    A token has n + 1 numbers: n coordinates of x and a zero, or n zeros and y. The answer is read at the last token.
    """

    name: Literal["icl-regression"] = "icl-regression"
    dimension: Annotated[int, Field(ge=1, le=1024)] = 4
    examples: Annotated[int, Field(ge=1, le=1024)] = 15

    @property
    def inputs(self) -> Vectors:
        return Vectors(2 * self.examples + 1, self.dimension + 1)

    @property
    def outputs(self) -> Scalar:
        return Scalar(signs=False)

    @property
    def power(self) -> float:
        """E[y²]: twice the square loss of answering 0."""
        return float(self.dimension)

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        n, k = self.dimension, self.examples
        drawn = normal(words(key, index, n * (k + 2))).reshape(k + 2, n)
        w, x = drawn[0], drawn[1:]
        y = (x * w).sum(-1)
        tokens = jnp.zeros((k + 1, 2, n + 1)).at[:, 0, :n].set(x).at[:, 1, n].set(y)
        inputs = tokens.reshape(2 * k + 2, n + 1)[:-1]
        return Sample(inputs, y[-1])

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        """The least-squares answer, exact from `dimension` examples on; of several solutions the shortest."""
        rows = np.asarray(inputs, np.float64)
        x, y = rows[0:-1:2, :-1], rows[1::2, -1]
        w = np.linalg.lstsq(x, y, rcond=None)[0]
        return np.array(w @ rows[-1, :-1])

    def example(self) -> str:
        return f"{self.examples} pairs (x, <w, x>) with x in R^{self.dimension}, then another x -> <w, x>; w is hidden"
