"""Shapes that are worth trying: the list of both advisers, for a spec and for somebody's data."""

from __future__ import annotations

import numpy as np

from lopsided.shape.laws import Anneal, PowerLaw, TwoLevel, Uniform
from lopsided.shape.phases import Phases
from lopsided.shape.shape import Shape

UNIFORM, GROWING = "uniform", "growing subsets"
EXPONENTS = (0.5, 1.0, 1.5)
"""Exponents around 1, the exponent of Zipf's law and of most of paper A's experiments."""
PHASES, SMALLEST, LARGEST = 6, 1 / 320, 1 / 50
"""Phases of growing subsets, and the shares of all samples seen that the first and the last one have (paper C)."""
FALLING = Anneal(1.5, 0.0, begin=0.0, finish=0.5)
LETTING_GO = TwoLevel(heavy=0.1, mass=2 / 3, end=0.0, begin=0.1, finish=0.6)
"""A tenth of the skills with two thirds of the mass, then uniform: the setting of the recipe `heavy-skills`."""


def laws() -> dict[str, Shape]:
    """Laws over ranks to try, by name."""
    powers = {f"power law {alpha:g}": PowerLaw(alpha) for alpha in EXPONENTS}
    moving = {"annealed 1.5 to 0 in half of the run": FALLING, "two levels that fade": LETTING_GO}
    return {UNIFORM: Uniform(), **powers, **moving}


def growing() -> Phases:
    """Six subsets that grow geometrically."""
    until = tuple(float(x) for x in np.linspace(0, 1, PHASES + 1)[1:])
    return Phases(until, tuple(float(x) for x in np.geomspace(SMALLEST, LARGEST, PHASES)), of="run")
