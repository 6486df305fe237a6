"""Laws that give each skill a frequency by its own loss: what reweighting methods do with domains or examples.

They are here to be compared with: the rules are those of `lopsided.shape.rules`, which `lopsided.data` follows, too.
Both begin with uniform skills, and keep the share `floor` of every batch uniform.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.skills import Listens, Skills
from lopsided.shape import rules
from lopsided.skills.listening import Listening, Told

Share = Annotated[float, Field(ge=0, le=1)]


class LossProportional(Skills, Listens):
    """p_r proportional to (running mean loss of the samples that need skill r)^power, over about `window` steps; the
    share `floor` of the law is uniform. power = 0 is uniform, a large one trains the worst skill alone."""

    hears_skills: ClassVar[bool] = True
    name: Literal["loss-proportional"] = "loss-proportional"
    power: Annotated[float, Field(ge=-10, le=10)] = 1.0
    floor: Share = 0.1
    window: Annotated[float, Field(ge=1, le=1e6)] = 10.0

    def schedule(self, n_skills: int) -> LossProportionalSchedule:
        return LossProportionalSchedule(self.power, self.floor, self.window, np.ones(n_skills))


class GroupDRO(Skills, Listens):
    """log w_r grows by `rate` times the mean loss of the samples of a batch that need skill r; p = w / sum(w), but for
    the share `floor`, which is uniform."""

    hears_skills: ClassVar[bool] = True
    name: Literal["group-dro"] = "group-dro"
    rate: Annotated[float, Field(ge=0, le=100)] = 0.01
    floor: Share = 0.1

    def schedule(self, n_skills: int) -> GroupDROSchedule:
        return GroupDROSchedule(self.rate, self.floor, np.ones(n_skills))


class Sums(NamedTuple):
    """Sums over the last steps, older ones counting less."""

    loss: Float[Array, " R"]
    count: Float[Array, " R"]


class _LossProportional(NamedTuple):
    power: Any
    floor: Any
    window: Any
    ones: Any  # (R,)


class _GroupDRO(NamedTuple):
    rate: Any
    floor: Any
    ones: Any  # (R,)


def _metrics(p: Float[Array, " R"]) -> dict[str, Array]:
    """`skills/effective`: 1 / (R sum p²), 1 for uniform skills, 1 / R if one skill is all."""
    return {"skills/effective": 1 / (len(p) * jnp.square(p).sum())}


class LossProportionalSchedule(_LossProportional, Listening):
    """`LossProportional` over skills 0..R-1."""

    hears_skills = True
    by_skill = True

    @property
    def rule(self) -> rules.LossProportional:
        return rules.LossProportional(self.power, self.floor, self.window)

    def begin(self) -> Sums:
        return Sums(*self.rule.init(len(self.ones), jnp))

    def after(self, heard: Sums, told: Told) -> Sums:
        return Sums(*self.rule.after(heard.loss, heard.count, told.loss, told.count))

    def frequency(self, progress: Any, heard: Sums | tuple[()] = ()) -> Float[Array, " R"]:
        if not isinstance(heard, Sums):
            return jnp.asarray(self.ones) / len(self.ones)
        return self.rule.law(heard.loss, heard.count, jnp)

    def metrics(self, heard: Any) -> dict[str, Array]:
        return _metrics(self.frequency(0.0, heard))


class GroupDROSchedule(_GroupDRO, Listening):
    """`GroupDRO` over skills 0..R-1; it has heard logarithms of weights."""

    hears_skills = True
    by_skill = True

    @property
    def rule(self) -> rules.GroupDRO:
        return rules.GroupDRO(self.rate, self.floor)

    def begin(self) -> Float[Array, " R"]:
        return self.rule.init(len(self.ones), jnp)

    def after(self, heard: Float[Array, " R"], told: Told) -> Float[Array, " R"]:
        return self.rule.after(heard, told.loss, told.count, jnp)

    def frequency(self, progress: Any, heard: Any = ()) -> Float[Array, " R"]:
        return self.rule.law(self.begin() if isinstance(heard, tuple) else heard, jnp)

    def metrics(self, heard: Any) -> dict[str, Array]:
        return _metrics(self.frequency(0.0, heard))
