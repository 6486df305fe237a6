"""The product model f_w(X) = prod_j w_{x_j} with w(0) ~ N(0, r^2 I) (paper A, section 3)."""

from __future__ import annotations

from typing import Annotated, Literal

import equinox as eqx
import jax
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.batch import Batch
from lopsided.core.config import TracedFloat
from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.model import Model
from lopsided.core.shapes import Classes, Inputs, Scalar, Tokens


class ProductWeights(eqx.Module):
    """One number per skill."""

    w: Float[Array, " d"]

    def __call__(self, batch: Batch) -> Float[Array, " B"]:
        return self.w[batch.inputs].prod(-1)


class Product(Model):
    """One weight per skill; the output is the product over the input's skills."""

    name: Literal["product"] = "product"
    r: Annotated[TracedFloat, Field(gt=0, le=10)] = 0.1

    def init(self, key: Key, inputs: Inputs, outputs: Classes | Scalar) -> ProductWeights:
        if not isinstance(inputs, Tokens) or not isinstance(outputs, Scalar):
            raise InputError("model 'product': only for tasks with token inputs and one number as output")
        return ProductWeights(self.r * jax.random.normal(key, (inputs.vocabulary,)))
