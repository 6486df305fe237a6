"""What a skill-frequency distribution is; the concrete ones live in `lopsided.skills`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from lopsided.core.config import Part


class Skills(Part):
    """How often the skill of each rank occurs."""

    @abstractmethod
    def schedule(self, n_skills: int) -> Any:
        """The distribution as a `lopsided.skills.schedule.SkillSchedule`."""
