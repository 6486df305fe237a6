"""Different parameter groups learn from different streams (paper C, figure 30: repeat for all but one group)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from lopsided.core import registry
from lopsided.core.config import Config
from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.plan import Draw, Feed, Plan

AnyPlan = Annotated[SerializeAsAny[Plan], BeforeValidator(lambda data: registry.build("plan", data))]


class Other(Config):
    """Parameters whose names match the pattern learn from this plan's draws."""

    match: Annotated[str, Field(min_length=1, max_length=200)]
    plan: AnyPlan


class ByGroup(Plan):
    """All parameters learn from `plan`, except those that an entry of `others` names (of several, the last counts).

    Every step takes the gradient once for each stream, at the same parameters, and every parameter is updated with the
    gradient of its own stream. Streams have no sample in common. Compute counts all of them.
    """

    name: Literal["by-group"] = "by-group"
    plan: AnyPlan
    others: Annotated[tuple[Other, ...], Field(min_length=1, max_length=16)]

    @model_validator(mode="after")
    def _plain_streams(self) -> ByGroup:
        plans = (self.plan, *(other.plan for other in self.others))
        for each in plans:
            if each.engine != "sampled" or each.listens or each.feeds or hasattr(each, "levels"):
                raise InputError(f"plan 'by-group': cannot feed a group from plan {each.name!r}")  # type: ignore[attr-defined]
        if len({each.batch_size for each in plans}) > 1:
            raise InputError("plan 'by-group': all streams take the same batch size")
        return self

    @property
    def batch_size(self) -> int:
        return self.plan.batch_size

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        return self.plan.draw(key, step)

    @property
    def feeds(self) -> tuple[Feed, ...]:
        return tuple(Feed(other.match, other.plan) for other in self.others)

    def seen(self, steps: int) -> int:
        return self.plan.seen(steps) + sum(other.plan.seen(steps) for other in self.others)

    @property
    def relabels(self) -> bool:
        return self.plan.relabels or any(other.plan.relabels for other in self.others)

    def sizes(self) -> tuple[Any, ...]:
        return self.plan.sizes()

    def distinct(self, steps: int) -> float:
        return self.plan.distinct(steps) + sum(other.plan.distinct(steps) for other in self.others)

    def declared(self, steps: int) -> None:
        for each in (self.plan, *(other.plan for other in self.others)):
            each.declared(steps)

    @property
    def fresh(self) -> bool:
        return self.plan.fresh and all(other.plan.fresh for other in self.others)
