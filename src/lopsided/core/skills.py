"""What a skill-frequency distribution is; the concrete ones live in `lopsided.skills`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from lopsided.core.config import Part


class Skills(Part):
    """How often the skill of each rank occurs."""

    @abstractmethod
    def schedule(self, n_skills: int) -> Any:
        """The distribution as a `lopsided.skills.schedule.SkillSchedule` (of one that `Listens`: as a
        `lopsided.skills.listening.Listening`)."""


class Listens:
    """A distribution that depends on how training goes. Its feedback is part of the member's training state."""

    hears_skills: ClassVar[bool] = False
    """Whether the distribution needs the loss of each skill, which the exact loss does not tell."""
