"""Skill-frequency distributions (how often the skill of each rank occurs)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from lopsided.core.errors import InputError
from lopsided.core.skills import Skills
from lopsided.skills.schedule import SkillSchedule, plain

Exponent = Annotated[float, Field(ge=0, le=20)]
Share = Annotated[float, Field(ge=0, le=1)]


class Uniform(Skills):
    """Every skill equally often."""

    name: Literal["uniform"] = "uniform"

    def schedule(self, n_skills: int) -> SkillSchedule:
        return plain(n_skills, 0.0)


class PowerLaw(Skills):
    """p_i = i^-alpha / H_{n,alpha} for rank i; alpha = 0 is exactly uniform."""

    name: Literal["power-law"] = "power-law"
    alpha: Exponent

    def schedule(self, n_skills: int) -> SkillSchedule:
        return plain(n_skills, self.alpha)


class BinnedPowerLaw(Skills):
    """Ranks cut into `bins` bins of equal size; bin b has total mass proportional to b^-alpha, uniform inside.

    `bins` = number of skills is exactly `PowerLaw`. Where `bins` does not divide the number of skills, the first bins
    hold one skill more.
    """

    name: Literal["binned-power-law"] = "binned-power-law"
    alpha: Exponent
    bins: Annotated[int, Field(ge=1)]

    def schedule(self, n_skills: int) -> SkillSchedule:
        if self.bins > n_skills:
            raise InputError(f"skills.bins = {self.bins}: at most the number of skills, {n_skills}")
        parts = np.array_split(np.arange(n_skills), self.bins)
        number = np.concatenate([np.full(len(part), b + 1.0) for b, part in enumerate(parts)])
        size = np.concatenate([np.full(len(part), float(len(part))) for part in parts])
        return SkillSchedule(self.alpha, self.alpha, 0.0, 1.0, np.log(number), np.log(size))


class TwoLevel(Skills):
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

    @model_validator(mode="after")
    def _ordered(self) -> TwoLevel:
        if self.finish <= self.begin:
            raise InputError(f"finish = {self.finish}: above begin = {self.begin}")
        return self

    def number(self, n_skills: int) -> int:
        """How many of `n_skills` are heavy."""
        return min(max(1, round(self.heavy * n_skills)), n_skills - 1)

    def schedule(self, n_skills: int) -> SkillSchedule:
        if n_skills < 2:
            raise InputError("skills: two levels take at least two skills")
        heavy = self.number(n_skills)
        p = np.full(n_skills, (1 - self.mass) / (n_skills - heavy))
        p[:heavy] = self.mass / heavy
        return SkillSchedule(1.0, self.end, self.begin, self.finish, -np.log(p), np.zeros(n_skills))


class Annealed(Skills):
    """A power law whose exponent moves linearly from `start` to `end` between two shares of training."""

    name: Literal["annealed"] = "annealed"
    start: Exponent = 1.5
    end: Exponent = 0.0
    begin: Share = 0.2
    finish: Share = 0.9

    @model_validator(mode="after")
    def _ordered(self) -> Annealed:
        if self.finish <= self.begin:
            raise InputError(f"finish = {self.finish}: above begin = {self.begin}")
        return self

    def schedule(self, n_skills: int) -> SkillSchedule:
        return plain(n_skills, self.start, self.end, self.begin, self.finish)
