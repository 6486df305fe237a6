"""A power law that anneals itself: its exponent falls while the member is right often enough, and rises again if not.

Two facts make one rule for all numbers of hops k (`lopsided.theory.annealing`). If the learned skills hold the mass m
of the law, a sample is answered with probability m^k, because all of its k skills must be learned. And what is not
learned is learned fastest at m = 1 - 1/k. So m^k is kept at (1 - 1/k)^k, which is 1/4 for two hops and 1/e for many.
The optimum is flat: one `goal` = 0.2 serves all k (recipe `annealing-rate`). It is below 1/4 because a network that has
seen frequent combinations answers more of them than it has learned skills for (recipe `self-annealing`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.skills import Listens, Skills
from lopsided.shape import rules
from lopsided.skills.distributions import Exponent
from lopsided.skills.listening import Listening, Told

HALVINGS = 30
"""Halvings of an interval of exponents: 2^-30 of it is below the resolution of float32."""


class SelfAnnealed(Skills, Listens):
    """p_i proportional to i^-alpha, where alpha begins at `start` and follows training accuracy: it falls towards 0
    while the running mean of the accuracy, above chance, exceeds `goal`, and rises towards `start` while it does not.

    The running mean is over about `window` steps. A member that is always right has lost the whole exponent after about
    5 windows. On the exact loss (plan `population`) accuracy is known, and alpha is the smallest exponent that keeps it
    at `goal`.
    """

    name: Literal["self-annealed"] = "self-annealed"
    start: Annotated[Exponent, Field(gt=0)] = 1.5
    goal: Annotated[float, Field(gt=0, lt=1)] = 0.2
    window: Annotated[float, Field(ge=1, le=1e6)] = 10.0

    def schedule(self, n_skills: int) -> SelfAnnealedSchedule:
        return SelfAnnealedSchedule(self.start, self.goal, self.window, np.log(np.arange(1, n_skills + 1.0)))


class Heard(NamedTuple):
    """What a member has heard."""

    exponent: Float[Array, ""]
    right: Float[Array, ""]
    """Running mean of the accuracy above chance: 0 at chance, 1 where every answer is right."""


class _SelfAnnealed(NamedTuple):
    start: Any
    goal: Any
    window: Any
    log_rank: Any  # (R,)


class SelfAnnealedSchedule(_SelfAnnealed, Listening):
    """A self-annealed law over ranks 1..R; its numbers are floats or traced."""

    def begin(self) -> Heard:
        """Before the first step."""
        return Heard(jnp.asarray(self.start, jnp.float32), jnp.float32(0))

    def after(self, heard: Heard, told: Told) -> Heard:
        """After a step on whose batch accuracy above chance was `told.right`."""
        rule = rules.SelfAnneal(self.start, self.goal, self.window)
        return Heard(*rule.after(heard.exponent, heard.right, told.right, jnp))

    def exponent(self, progress: Any, heard: Heard | tuple[()] = ()) -> Any:
        """alpha of a member that has heard this; of one that has heard nothing, `start`."""
        return heard.exponent if isinstance(heard, Heard) else self.start

    def smallest(self, accuracy: Callable[[Array], Array]) -> Array:
        """The smallest exponent up to `start` with accuracy(p) >= goal, p (R,) the law over ranks; `start` where there
        is none."""

        def halve(_: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
            middle = (ends[0] + ends[1]) / 2
            enough = accuracy(self.at(middle)) >= self.goal
            return jnp.where(enough, ends[0], middle), jnp.where(enough, middle, ends[1])

        zero = jnp.zeros_like(self.log_rank[0])
        found = jax.lax.fori_loop(0, HALVINGS, halve, (zero, zero + self.start))[1]
        return jnp.where(accuracy(self.at(zero)) >= self.goal, zero, found)

    def at(self, exponent: Any) -> Float[Array, " R"]:
        """The probability of each rank under this exponent."""
        return jax.nn.softmax(-exponent * self.log_rank)

    def frequency(self, progress: Any, heard: Heard | tuple[()] = ()) -> Float[Array, " R"]:
        """The probability of each rank."""
        return self.at(self.exponent(progress, heard))

    def metrics(self, heard: Heard) -> dict[str, Array]:
        """The exponent."""
        return {"skills/exponent": heard.exponent}
