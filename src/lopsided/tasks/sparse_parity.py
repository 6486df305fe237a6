"""(d, k)-sparse parity: x uniform on {-1, +1}^d, y the product of k fixed coordinates (paper C, section 2).

The support is the first k coordinates: every initialisation used here treats coordinates alike, so this loses nothing.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator

from lopsided.core.batch import Sample
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, words
from lopsided.core.shapes import Scalar, Tokens, Vector
from lopsided.core.task import HasChance, RandomLabels, SampleContext, SignInputs, Task


class SparseParity(Task, HasChance, SignInputs, RandomLabels):
    """y = x_1 x_2 ... x_k for x in {-1, +1}^d, written as d numbers, or as d tokens (0 for -1, 1 for +1)."""

    later: ClassVar[frozenset[str]] = frozenset({"encoding"})

    name: Literal["sparse-parity"] = "sparse-parity"
    d: Annotated[int, Field(ge=1, le=4096)] = 20
    k: Annotated[int, Field(ge=1)] = 6
    encoding: Literal["vector", "tokens"] = "vector"

    @model_validator(mode="after")
    def _support_fits(self) -> SparseParity:
        if self.k > self.d:
            raise InputError(f"k = {self.k}: at most d = {self.d}")
        return self

    @property
    def inputs(self) -> Vector | Tokens:
        return Vector(self.d) if self.encoding == "vector" else Tokens(2, self.d)

    @property
    def outputs(self) -> Scalar:
        return Scalar(signs=True)

    @property
    def chance(self) -> float:
        return 0.5

    @property
    def entropy_bits(self) -> float:
        return float(self.d)

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        bits = self._bits(key, index)
        x = bits.astype(jnp.float32) * 2 - 1 if self.encoding == "vector" else bits.astype(jnp.int32)
        # An odd number of -1 among the first k flips the sign: integer arithmetic, cheaper than a product of floats.
        minus = jnp.sum(1 - bits[: self.k], dtype=jnp.uint32) & 1
        return Sample(x, 1 - 2 * minus.astype(jnp.float32))

    def coordinates(self, key: Key, index: Any, latent: Any) -> jax.Array:
        return self._bits(key, index).astype(jnp.float32) * 2 - 1

    def of_coordinates(self, x: jax.Array, latent: Any) -> Sample:
        minus = jnp.sum(x[: self.k] < 0, dtype=jnp.uint32) & 1
        x = x if self.encoding == "vector" else (x > 0).astype(jnp.int32)
        return Sample(x, 1 - 2 * minus.astype(jnp.float32))

    def enumerated(self, number: jax.Array) -> jax.Array:
        """The bits of the number, lowest first."""
        return ((number >> np.arange(self.d, dtype=np.uint32)) & 1).astype(jnp.float32) * 2 - 1

    def label_flipped(self, x: jax.Array) -> jax.Array:
        return x.at[0].multiply(-1)

    def random_target(self, key: Key, index: Any, x: jax.Array) -> jax.Array:
        """A fair sign for every index."""
        return 1 - 2 * (words(key, index, 1)[0] & 1).astype(jnp.float32)

    def _bits(self, key: Key, index: Any) -> jax.Array:
        """(d,) zeros and ones."""
        block = words(key, index, -(-self.d // 32))
        at = np.arange(self.d, dtype=np.uint32)
        return (block[at // 32] >> (at % 32)) & 1

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        sign = 1.0
        for value in np.asarray(inputs)[: self.k].tolist():
            sign *= value if self.encoding == "vector" else (-1, 1)[value]
        return np.array(sign)

    def example(self) -> str:
        return f"x in {{-1,+1}}^{self.d}, y = x_1 * ... * x_{self.k}: (-1, 1, -1, ...) -> product of the first {self.k}"
