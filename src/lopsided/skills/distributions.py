"""Skill-frequency distributions as a spec's JSON names them. What they are is said once, in `lopsided.shape`."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, SerializeAsAny, model_validator

from lopsided.core.errors import InputError
from lopsided.core.one_of import part_of
from lopsided.core.skills import Listens, Skills
from lopsided.shape import laws
from lopsided.shape.blend import Blend as BlendOf
from lopsided.shape.path import heavy_ranks
from lopsided.shape.shape import Product as ProductOf
from lopsided.shape.shape import Shape
from lopsided.skills.schedule import SkillSchedule

Exponent = Annotated[float, Field(ge=0, le=20)]
Share = Annotated[float, Field(ge=0, le=1)]


class Shaped(Skills):
    """A law that depends on the rank and on the time alone."""

    @abstractmethod
    def law(self) -> Shape:
        """The law as a shape, which `lopsided.data` takes, too."""

    def schedule(self, n_skills: int) -> SkillSchedule:
        return SkillSchedule(*self.law().path(n_skills))


class Uniform(Shaped):
    """Every skill equally often."""

    name: Literal["uniform"] = "uniform"

    def law(self) -> Shape:
        return laws.Uniform()


class PowerLaw(Shaped):
    """p_i = i^-alpha / H_{n,alpha} for rank i; alpha = 0 is exactly uniform."""

    name: Literal["power-law"] = "power-law"
    alpha: Exponent

    def law(self) -> Shape:
        return laws.PowerLaw(self.alpha)


class BinnedPowerLaw(Shaped):
    """Ranks cut into `bins` bins of equal size; bin b has total mass proportional to b^-alpha, uniform inside.

    `bins` = number of skills is exactly `PowerLaw`. Where `bins` does not divide the number of skills, the first bins
    hold one skill more.
    """

    name: Literal["binned-power-law"] = "binned-power-law"
    alpha: Exponent
    bins: Annotated[int, Field(ge=1)]

    def law(self) -> Shape:
        return laws.Binned(self.alpha, self.bins)


class Moving(Shaped):
    """A law that moves between two shares of training, its fields `begin` and `finish`. (Each class declares them where
    they belong in the order in which a command line gives them.)"""

    if TYPE_CHECKING:
        begin: float
        finish: float

    @model_validator(mode="after")
    def _ordered(self) -> Moving:
        if self.finish <= self.begin:
            raise InputError(f"finish = {self.finish}: above begin = {self.begin}")
        return self


class TwoLevel(Moving):
    """A share `heavy` of the skills (at least one of them) has the mass `mass`, all others share the rest.

    Between the shares `begin` and `finish` of training the law fades to uniform if `end` is 0: p_r(t) is proportional
    to p_r^e(t), e from 1 to `end`.
    """

    name: Literal["two-level"] = "two-level"
    heavy: Annotated[float, Field(gt=0, lt=1)] = 0.1
    mass: Annotated[float, Field(gt=0, lt=1)] = 2 / 3
    end: Share = 1.0
    begin: Share = 0.0
    finish: Share = 1.0

    def number(self, n_skills: int) -> int:
        """How many of `n_skills` are heavy."""
        return heavy_ranks(n_skills, self.heavy)

    def law(self) -> Shape:
        return laws.TwoLevel(self.heavy, self.mass, self.end, self.begin, self.finish)


class Annealed(Moving):
    """A power law whose exponent moves linearly from `start` to `end` between two shares of training."""

    name: Literal["annealed"] = "annealed"
    start: Exponent = 1.5
    end: Exponent = 0.0
    begin: Share = 0.2
    finish: Share = 0.9

    def law(self) -> Shape:
        return laws.Anneal(self.start, self.end, self.begin, self.finish)


class Weights(Shaped):
    """Given weights, one for each rank."""

    name: Literal["weights"] = "weights"
    given: Annotated[tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1)]

    def law(self) -> Shape:
        return laws.Weights(self.given)


def _no_listener(law: Skills) -> Shape:
    if isinstance(law, Listens) or not isinstance(law, Shaped):
        raise InputError(f"skills {law.name!r}: a law that listens to training is not joined with others")
    return law.law()


Law = Annotated[SerializeAsAny[Skills], part_of("skills")]


class Product(Shaped):
    """Frequencies of several laws multiplied; those that move do so between the same shares of training."""

    name: Literal["product"] = "product"
    factors: Annotated[tuple[Law, ...], Field(min_length=2)]

    def law(self) -> Shape:
        return ProductOf(tuple(map(_no_listener, self.factors)))


class Temperature(Shaped):
    """p^(1/T) of another law: a large T is nearly uniform."""

    name: Literal["temperature"] = "temperature"
    T: Annotated[float, Field(gt=0)]
    of: Law

    def law(self) -> Shape:
        return laws.Temperature(self.T, _no_listener(self.of))


class Blend(Moving):
    """From law `a` to law `b` between two shares of training: p proportional to a^(1 - f) b^f, f from 0 to 1."""

    name: Literal["blend"] = "blend"
    a: Law
    b: Law
    begin: Share = 0.0
    finish: Share = 1.0

    def law(self) -> Shape:
        return BlendOf(_no_listener(self.a), _no_listener(self.b), self.begin, self.finish)
