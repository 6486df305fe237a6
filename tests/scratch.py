"""A task from outside the package, as a user would write it: what every engine that suits it is tried with."""

from typing import Annotated, Any, Literal

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from lopsided.core.batch import Sample
from lopsided.core.config import TracedFloat
from lopsided.core.errors import InputError
from lopsided.core.keys import normal, words
from lopsided.core.registry import register
from lopsided.core.shapes import Scalar, Vector
from lopsided.core.task import ExactLoss, HasLatent, SampleContext, Task


@register
class GainedLine(Task, HasLatent, ExactLoss):
    """y = gain * s * x for one number x ~ N(0, 1) and a hidden sign s: the target's size is a traced field."""

    name: Literal["gained-line"] = "gained-line"
    gain: Annotated[TracedFloat, Field(gt=0, le=1e6)] = 1.0
    inputs = property(lambda self: Vector(1))
    outputs = property(lambda self: Scalar(signs=False))

    def latent(self, key) -> Any:
        return 1.0 - 2.0 * (words(key, 0, 1)[0] & 1).astype(jnp.float32)

    def sample(self, key, index, context: SampleContext) -> Sample:
        x = normal(words(key, index, 1))
        return Sample(x, self.gain * context.latent * x[0])

    def check_exact_loss(self, model, loss) -> None:
        if model.name != "scalar-chain" or loss != "square":
            raise InputError("task 'gained-line': has an exact loss for model 'scalar-chain' and loss 'square'")

    def exact_loss(self, params, latent, loss, frequency):
        return 0.5 * (params.slope() - self.gain * latent) ** 2

    def oracle(self, inputs, latent):
        return np.asarray(self.gain * float(latent) * float(inputs[0]))

    def example(self) -> str:
        return "x = 0.5, gain 2, hidden sign -1 -> y = -1"
