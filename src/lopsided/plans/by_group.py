"""Different parameter groups learn from different streams (paper C, figure 30: repeat for all but one group)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, model_validator

from lopsided.core import registry
from lopsided.core.config import Config
from lopsided.core.errors import InputError
from lopsided.core.keys import Key
from lopsided.core.one_of import OneOf
from lopsided.core.plan import (
    Draw,
    FixedSets,
    MayRelabel,
    MixesLevels,
    Remembers,
    SampledPlan,
    SeveralStreams,
    Stream,
    relabels,
    sizes_of,
)


def _sampled(data: Any) -> Any:
    plan = registry.build("plan", data)
    if not isinstance(plan, SampledPlan) or isinstance(plan, APART):
        raise InputError(f"plan 'by-group': cannot feed a group from plan {getattr(plan, 'name', plan)!r}")
    return plan


def _valid() -> dict[str, type]:
    plans = registry.registered("plan")
    return {name: cls for name, cls in plans.items() if issubclass(cls, SampledPlan) and not issubclass(cls, APART)}


APART = (Remembers, MixesLevels, SeveralStreams)
AnyPlan = Annotated[SerializeAsAny[SampledPlan], OneOf(_sampled, _valid, named=True)]


class Other(Config):
    """Parameters whose names match the pattern learn from this plan's draws."""

    match: Annotated[str, Field(min_length=1, max_length=200)]
    plan: AnyPlan


class ByGroup(SampledPlan, FixedSets, MayRelabel, SeveralStreams):
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
        if len({each.batch_size for each in plans}) > 1:
            raise InputError("plan 'by-group': all streams take the same batch size")
        return self

    @property
    def batch_size(self) -> int:
        return self.plan.batch_size

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        return self.plan.draw(key, step)

    @property
    def streams(self) -> tuple[Stream, ...]:
        return tuple(Stream(other.match, other.plan) for other in self.others)

    def seen(self, steps: int) -> int:
        return self.plan.seen(steps) + sum(other.plan.seen(steps) for other in self.others)

    @property
    def relabels(self) -> bool:
        return any(relabels(plan) for plan in (self.plan, *(other.plan for other in self.others)))

    def sizes(self) -> tuple[Any, ...]:
        return sizes_of(self.plan)

    def distinct(self, steps: int) -> float:
        return self.plan.distinct(steps) + sum(other.plan.distinct(steps) for other in self.others)

    def check_steps(self, steps: int) -> None:
        for each in (self.plan, *(other.plan for other in self.others)):
            each.check_steps(steps)

    @property
    def fresh(self) -> bool:
        return self.plan.fresh and all(other.plan.fresh for other in self.others)
