"""Shapes that are worth trying on a data set."""

from __future__ import annotations

from lopsided.core.errors import InputError, require_numbers
from lopsided.data.groups import Groups
from lopsided.shape.candidates import FALLING, GROWING, PHASES, growing, laws
from lopsided.shape.laws import AsIs, Temperature
from lopsided.shape.phases import Phases
from lopsided.shape.shape import Shape

EIGHTH = Phases((1.0,), (0.125,))
"""An eighth of the examples, repeated to the end, as in the recipes on perceptrons (2^11 of 2^14 inputs)."""


def candidates(groups: Groups | int, total: int) -> dict[str, Shape]:
    """Shapes to race on these groups (or N examples without skills) in runs of `total` samples, by name: the data as
    they are and uniform skills first, then power laws of the skills' frequency in the data, one that anneals, a tenth
    of the skills with two thirds of the mass that fades to uniform, and small subsets. A shape that would draw as
    another one does is left out.

    >>> import lopsided.data as ld
    >>> list(ld.candidates(ld.Groups([*"aab"] * 40), total=1000))[:3]
    ['as is', 'uniform', 'power law 0.5']
    """
    require_numbers(total=total)
    if total < PHASES:
        raise InputError(f"total = {total}: samples of a run, at least {PHASES}")
    small: dict[str, Shape] = {GROWING: growing(), "1/8 of the data, repeated": EIGHTH}
    if isinstance(groups, int) or groups.n_skills == 1:  # all laws draw alike
        return {"as is": Phases((1.0,), (1.0,)), **small}
    tried = {"as is": AsIs(), **laws(), "temperature 2": Temperature(2.0)}
    if len({*groups.size.tolist()}) == 1:  # all skills have as many examples
        del tried["as is"], tried["temperature 2"]
    before = next(iter(tried.values()))
    return {
        **tried,
        **{name: before & subset for name, subset in small.items()},
        "annealed, growing subsets": FALLING & small[GROWING],
    }
