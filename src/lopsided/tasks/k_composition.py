"""k-composition: hidden signs w* in {-1, +1}^d, input k skills, label their product (paper A, section 3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float
from pydantic import Field, field_validator

from lopsided.core.batch import Sample
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, words
from lopsided.core.model import Model
from lopsided.core.shapes import Scalar, Tokens
from lopsided.core.task import (
    ExactAgreement,
    ExactLoss,
    FiniteInputs,
    HasChance,
    HasLatent,
    HasSkills,
    LossName,
    SampleContext,
    Task,
)


class KComposition(Task, HasSkills, HasLatent, HasChance, FiniteInputs, ExactLoss, ExactAgreement):
    """Label = w*_{i_1} w*_{i_2} ... w*_{i_k}; d skills, k even."""

    name: Literal["k-composition"] = "k-composition"
    d: Annotated[int, Field(ge=2, le=65536)] = 64
    k: Annotated[int, Field(ge=2, le=64)] = 4

    @field_validator("k")
    @classmethod
    def _even(cls, k: int) -> int:
        if k % 2:
            raise InputError(f"k = {k}: an even number (an odd product could be learned from its sign alone)")
        return k

    @property
    def n_skills(self) -> int:
        return self.d

    @property
    def inputs(self) -> Tokens:
        return Tokens(self.d, self.k)

    @property
    def outputs(self) -> Scalar:
        return Scalar(signs=True)

    @property
    def chance(self) -> float:
        """(1 + E[(sum w* / d)^k]) / 2 over the hidden signs: k is even, so an even label is always the likelier one."""
        plus = np.arange(self.d + 1)
        return float(0.5 * (1 + (scipy.stats.binom.pmf(plus, self.d, 0.5) * (2 * plus / self.d - 1) ** self.k).sum()))

    @property
    def entropy_bits(self) -> float:
        return self.k * float(np.log2(self.d))

    def latent(self, key: Key) -> Float[Array, " d"]:
        """The hidden signs w*, from raw bits: the same ones where floats have 64 bits."""
        return 1 - 2 * (jax.random.bits(key, (self.d,), jnp.uint32) >> 31).astype(jnp.float32)

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        assert context.law is not None
        skills = context.law.draw(words(key, index, self.k))
        return Sample(skills, context.latent[skills].prod(), skills=skills)

    def check_exact_loss(self, model: Model, loss: LossName) -> None:
        if model.name != "product":
            raise InputError(
                f"task 'k-composition': an exact expectation exists for model 'product'; this one is {model.name!r}"
            )
        if loss not in ("square", "correlation"):
            raise InputError(f"loss = {loss!r}: its expectation has no formula; valid: square, correlation")

    def exact_loss(self, params: Any, latent: Any, loss: LossName, frequency: Array | None) -> Array:
        """Equation in the function `population_loss`; for the product model."""
        assert frequency is not None
        target, p = latent.astype(params.w.dtype), frequency.astype(params.w.dtype)
        if loss == "correlation":
            return -((p * params.w * target).sum() ** self.k)
        return population_loss(params.w, target, p, self.k)

    def exact_agreement(self, params: Any, latent: Any, frequency: Array) -> Array:
        """A^k of `lopsided.theory.k_composition`, for the product model."""
        return (frequency * params.w * latent.astype(params.w.dtype)).sum() ** self.k

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        signs = np.asarray(latent)
        minus = sum(1 for skill in np.asarray(inputs).tolist() if signs[skill] < 0)
        return np.array(-1.0 if minus % 2 else 1.0)

    def example(self) -> str:
        return f"{self.k} skills out of {self.d}; w* = (+, -, -, ...): skills (1, 2, 3, 2) -> (+)(-)(-)(-) = -"


def population_loss(w: Float[Array, " d"], target: Float[Array, " d"], p: Float[Array, " d"], k: int) -> Array:
    """E over k skills i.i.d. from p of (prod w - prod w*)^2 / 2, exactly: each of its three terms is a k-th power.

    Exact for any w and any target in {-1, +1}^d; differentiable; use float64 (`jax.enable_x64`) for exact dynamics.
    """
    square, cross, own = (p * w**2).sum(), (p * w * target).sum(), (p * target**2).sum()
    return 0.5 * (square**k - 2 * cross**k + own**k)
