"""Skill distributions: how often each skill is drawn."""

from lopsided.skills.distributions import Annealed, BinnedPowerLaw, PowerLaw, Uniform

__all__ = [
    "Annealed",
    "BinnedPowerLaw",
    "PowerLaw",
    "Uniform",
]
