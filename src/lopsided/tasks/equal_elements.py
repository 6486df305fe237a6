"""Products of group elements, where training samples often begin with the same element twice. Every element comes as
often as every other, so that no skill is rare; only pairs of different elements are."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32
from pydantic import Field

from lopsided.core.batch import Sample
from lopsided.core.keys import Key
from lopsided.core.task import SampleContext, SkillLaw
from lopsided.tasks.state_tracking import StateTracking

WORDS = 256
"""Values of the byte that decides whether the second element is the first one."""


class FirstTwice(NamedTuple):
    """A law of which the second of several skills is the first one again in a share of samples."""

    law: SkillLaw
    share: float

    def draw(self, bits: UInt32[Array, " n"]) -> Int[Array, " n"]:
        """Skill ids from random words."""
        skill = self.law.draw(bits)
        again = (bits[1] & (WORDS - 1)) < WORDS * self.share  # the low byte, which no skill is drawn from
        return jnp.where(again, skill.at[1].set(skill[0]), skill)


class EqualElements(StateTracking):
    """Compose `hops` elements of a finite group, the first two of which are equal in the share `equal` of training
    samples (on top of how often chance makes them so). Every element is as frequent as its law says; tests draw the
    elements independently. Ours, not in a paper."""

    name: Literal["equal-elements"] = "equal-elements"
    hops: Annotated[int, Field(ge=2, le=64)] = 3
    equal: Annotated[float, Field(ge=0, le=1)] = 0.5

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        assert context.law is not None
        if context.split == "train":
            context = context._replace(law=FirstTwice(context.law, self.equal))
        return super().sample(key, index, context)
