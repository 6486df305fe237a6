"""Skill distributions: how often each skill is drawn."""

from lopsided.skills.by_loss import GroupDRO, LossProportional
from lopsided.skills.distributions import Annealed, BinnedPowerLaw, PowerLaw, TwoLevel, Uniform
from lopsided.skills.self_annealed import SelfAnnealed

__all__ = [
    "Annealed",
    "BinnedPowerLaw",
    "GroupDRO",
    "LossProportional",
    "PowerLaw",
    "SelfAnnealed",
    "TwoLevel",
    "Uniform",
]
