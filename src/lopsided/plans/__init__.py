"""Data plans: which samples each step trains on."""

from lopsided.plans.auto_schedule import AutoSchedule
from lopsided.plans.by_group import ByGroup
from lopsided.plans.curriculum import Curriculum
from lopsided.plans.full_batch_phases import FullBatchPhases
from lopsided.plans.independent_phases import IndependentPhases
from lopsided.plans.phases import Phases
from lopsided.plans.population import Idealised, Population
from lopsided.plans.simple import FixedSet, FullBatch, Online
from lopsided.plans.two_phase import TwoPhase
from lopsided.plans.two_set import TwoSet

__all__ = [
    "AutoSchedule",
    "ByGroup",
    "Curriculum",
    "FixedSet",
    "FullBatch",
    "FullBatchPhases",
    "Idealised",
    "IndependentPhases",
    "Online",
    "Phases",
    "Population",
    "TwoPhase",
    "TwoSet",
]
