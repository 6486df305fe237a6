"""A power law that anneals itself by a contrast of losses, which no shortcut fools: `lopsided.shape.rules.Contrast`."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.skills import Listens, Skills
from lopsided.shape import rules
from lopsided.skills.distributions import Exponent
from lopsided.skills.listening import Listening, Told


class ContrastAnnealed(Skills, Listens):
    """p_i proportional to i^-alpha, where alpha begins at `start`, and falls towards 0 while the loss on the law is by
    more than the share `goal` below the loss of samples that need a rare skill.

    The means are over about `window` steps; rare are the last `tail` of the ranks. A loss below the share `floor` of
    the first one counts as that share, so that the law lets go once the tail is learned, too.
    """

    hears_skills: ClassVar[bool] = True
    name: Literal["contrast-annealed"] = "contrast-annealed"
    start: Annotated[Exponent, Field(gt=0)] = 1.5
    goal: Annotated[float, Field(gt=0, lt=1)] = 0.2
    window: Annotated[float, Field(ge=1, le=1e6)] = 10.0
    floor: Annotated[float, Field(ge=0, le=1)] = 0.1
    tail: Annotated[float, Field(gt=0, le=1)] = 0.25

    def schedule(self, n_skills: int) -> ContrastSchedule:
        log_rank = np.log(np.arange(1, n_skills + 1.0))
        return ContrastSchedule(self.start, self.goal, self.window, self.floor, self.tail, log_rank)


class _Contrast(NamedTuple):
    start: Any
    goal: Any
    window: Any
    floor: Any
    tail: Any
    log_rank: Any  # (R,)


class ContrastSchedule(_Contrast, Listening):
    """`ContrastAnnealed` over ranks 1..R; its numbers are floats or traced. What it has heard is the rule's state."""

    hears_skills = True

    @property
    def rule(self) -> rules.Contrast:
        return rules.Contrast(*self[:5])

    def begin(self) -> tuple[Array, ...]:
        return self.rule.init(len(self.log_rank), jnp)

    def after(self, heard: tuple[Array, ...], told: Told) -> tuple[Array, ...]:
        return self.rule.after(heard, told.loss, told.count, jnp)

    def frequency(self, progress: Any, heard: tuple[Array, ...] = ()) -> Float[Array, " R"]:
        return jax.nn.softmax(-(heard[0] if heard else self.start) * self.log_rank)

    def metrics(self, heard: Any) -> dict[str, Array]:
        """The exponent, and the contrast."""
        return {"skills/exponent": heard[0], "skills/contrast": heard[4]}
