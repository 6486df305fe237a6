"""Shapes that are worth trying on a data set."""

from __future__ import annotations

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.blend import Anneal
from lopsided.data.groups import Groups
from lopsided.data.phases import Phases
from lopsided.data.shapes import AsIs, PowerLaw, Shape, Temperature, Uniform

EXPONENTS = (0.5, 1.0, 1.5)
PHASES, SMALLEST, LARGEST = 6, 1 / 320, 1 / 50
"""Phases of growing subsets, and the shares of all samples seen that the first and the last one have (paper C)."""
EIGHTH = Phases((1.0,), (0.125,))


def candidates(groups: Groups | int, total: int) -> dict[str, Shape]:
    """Shapes to race on these groups (or N examples without skills) in runs of `total` samples, by name: the data as
    they are and uniform skills first, then power laws of the skills' frequency in the data, one that anneals, and small
    subsets. A shape that would draw as another one does is left out.
    """
    if total < PHASES:
        raise InputError(f"total = {total}: samples of a run, at least {PHASES}")
    until = tuple(float(x) for x in np.linspace(0, 1, PHASES + 1)[1:])
    growing = Phases(until, tuple(float(x) for x in np.geomspace(SMALLEST, LARGEST, PHASES)), of="run")
    small: dict[str, Shape] = {"growing subsets": growing, "1/8 of the data, repeated": EIGHTH}
    if isinstance(groups, int):
        return {"as is": Phases((1.0,), (1.0,)), **small}
    laws: dict[str, Shape] = {"as is": AsIs(), "uniform": Uniform(), "temperature 2": Temperature(2.0)}
    laws |= {f"power law {alpha:g}": PowerLaw(alpha) for alpha in EXPONENTS}
    if len({*groups.size.tolist()}) == 1:  # all skills have as many examples
        del laws["as is"], laws["temperature 2"]
    anneal = Anneal(1.5, 0.0, begin=0.0, finish=0.5)
    before = next(iter(laws.values()))
    return {
        **laws,
        "annealed 1.5 to 0 in half of the run": anneal,
        **{name: before & subset for name, subset in small.items()},
        "annealed, growing subsets": anneal & growing,
    }
