"""sparse-features: every sample shows one of d features, whose strength is a power law too (strength and frequency)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.batch import Sample
from lopsided.core.config import TracedFloat
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, words
from lopsided.core.model import Model
from lopsided.core.shapes import Scalar, Tokens
from lopsided.core.task import ExactLoss, FiniteInputs, HasLatent, HasSkills, LossName, SampleContext, Task


class SparseFeatures(Task, HasSkills, HasLatent, FiniteInputs, ExactLoss):
    """A sample shows feature i of `d`, as `copies` equal tokens; its target is the strength a_i ∝ i^-beta. The
    squares of all strengths add up to 1.

    Skill = feature. With the model `product`, the output is w_i^copies: small weights grow as fast as their feature is
    frequent and strong (`lopsided.theory.sparse_features`).
    """

    name: Literal["sparse-features"] = "sparse-features"
    d: Annotated[int, Field(ge=2, le=65536)] = 64
    copies: Annotated[int, Field(ge=1, le=64)] = 2
    beta: Annotated[TracedFloat, Field(ge=0, le=10)] = 1.0

    @property
    def n_skills(self) -> int:
        return self.d

    @property
    def inputs(self) -> Tokens:
        return Tokens(self.d, self.copies)

    @property
    def outputs(self) -> Scalar:
        return Scalar(signs=False)

    @property
    def entropy_bits(self) -> float:
        return float(np.log2(self.d))

    def latent(self, key: Key) -> Float[Array, " d"]:
        """The strengths."""
        strength = jnp.arange(1.0, self.d + 1.0) ** -jnp.asarray(self.beta)
        return strength / jnp.sqrt((strength**2).sum())

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        assert context.law is not None
        feature = context.law.draw(words(key, index, 1))
        return Sample(jnp.broadcast_to(feature, (self.copies,)), context.latent[feature[0]], skills=feature)

    def check_exact_loss(self, model: Model, loss: LossName) -> None:
        if model.name != "product" or loss != "square":
            raise InputError(
                "task 'sparse-features': an exact expectation exists for model 'product' and loss 'square'; these are "
                f"{model.name!r} and {loss!r}"
            )

    def exact_loss(self, params: Any, latent: Any, loss: LossName, frequency: Array | None) -> Array:
        """sum_i p_i (w_i^copies - a_i)^2 / 2."""
        assert frequency is not None
        strength, p = latent.astype(params.w.dtype), frequency.astype(params.w.dtype)
        return 0.5 * (p * (params.w**self.copies - strength) ** 2).sum()

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        return np.array(np.asarray(latent, np.float64)[inputs[0]])

    def example(self) -> str:
        return f"one feature of {self.d}: feature 2 -> its strength, ∝ 2^-{self.beta:g}"
