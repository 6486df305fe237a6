"""Skill distributions: how often each skill is drawn."""

from lopsided.skills.by_loss import GroupDRO, LossProportional
from lopsided.skills.contrast_annealed import ContrastAnnealed
from lopsided.skills.distributions import (
    Annealed,
    BinnedPowerLaw,
    Blend,
    PowerLaw,
    Product,
    Temperature,
    TwoLevel,
    Uniform,
    Weights,
)
from lopsided.skills.self_annealed import SelfAnnealed

__all__ = [
    "Annealed",
    "BinnedPowerLaw",
    "Blend",
    "ContrastAnnealed",
    "GroupDRO",
    "LossProportional",
    "PowerLaw",
    "Product",
    "SelfAnnealed",
    "Temperature",
    "TwoLevel",
    "Uniform",
    "Weights",
]
