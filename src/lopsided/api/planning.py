"""How many runs will an effect take? Asked before the first of them, from a pilot."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lopsided.api.curves import Curves, Ragged, direction_of, matched, ragged, values_of
from lopsided.api.ends import copies
from lopsided.core.errors import InputError
from lopsided.stats.crossing import crossings
from lopsided.stats.planning import detectable, runs_for, upper_spread

EFFECTS = (1.02, 1.05, 1.1, 1.25, 1.5)
"""Ratios that are shown beside the one that was asked for."""
SHARES = (0.25, 0.5, 1.0, 2.0)
"""Differences that are shown, in standard deviations of the runs."""


class RunsNeeded(NamedTuple):
    """How many runs of each side find an effect with a probability of `power`."""

    effect: float
    """A ratio of times, or a difference of last values."""
    runs: int | None
    """Runs of each side; None beyond 100,000."""
    at_most: int | None
    """Runs of each side at the upper bound (80 %) of the spread that the pilot leaves open."""
    spread: float
    """Standard deviation of one run: of log times, or of last values; of pairs, if paired: of within-seed
    differences."""
    paired: bool
    power: float
    pilot: int
    """Runs of the pilot."""
    table: tuple[tuple[float, int | None], ...]
    """Other effects, and the runs that they take."""
    ratio: bool
    cost: float | None
    """What those runs cost in the pilot's unit, both sides, at its median time to the goal."""
    unit: str

    def finds(self, runs: int) -> float:
        """The smallest effect that so many runs of each side find."""
        found = detectable(runs, self.spread, self.paired, self.power)
        return float(np.exp(found)) if self.ratio else found

    def __repr__(self) -> str:
        many = "more than 100,000" if self.runs is None else f"{self.runs:,}"
        most = (
            ""
            if self.at_most == self.runs
            else f" (up to {self.at_most or 100_000:,}, as a pilot of {self.pilot} says little)"
        )
        what = f"{self.effect:g} times" if self.ratio else f"a difference of {self.effect:g}"
        kind = "pairs of one seed" if self.paired else "independent runs of each side"
        spread = f"{self.spread:.3g}" + (" of the logarithm" if self.ratio else "")
        lines = [f"{many}{most} {kind} find {what} with a probability of {self.power:.0%}; one run spreads by {spread}"]
        if self.cost is not None and self.runs is not None:
            lines.append(f"they take {self.cost:.4g} {self.unit} in all, until the goal")
        others = ", ".join(f"{effect:.3g}: {'–' if n is None else f'{n:,}'}" for effect, n in self.table)
        return "\n  ".join([*lines, f"other effects: {others}"])


def plan(
    pilot: Curves | Ragged | ArrayLike,
    effect: float = 1.05,
    at: float | None = None,
    *,
    candidate: Curves | Ragged | ArrayLike | None = None,
    metric: str = "metric",
    falling: bool | None = None,
    power: float = 0.8,
    diverged: Literal["nan"] | None = None,
) -> RunsNeeded:
    """Say how many runs an effect will take, from a few runs of what is in use.

    `pilot`: (M, T) curves, `Curves`, or `runs.curves(arm, metric)`, three runs or more. With a goal `at`, `effect` is a
    ratio of times to it, above 1; without, a difference of last values, above 0. `candidate`: a pilot of the other
    side with the same seeds (three or more), if there is one: then runs are paired, and the spread is that of
    within-seed differences. `power`: the probability with which the effect is to be found. Raises `InputError` for a
    pilot that says nothing.

    >>> import numpy as np
    >>> loss = 4 - np.linspace(0, 1, 5) * np.array([[1.0], [1.1], [0.9], [1.05]])
    >>> print(plan(loss, effect=1.1, at=3.5, metric="loss").runs)
    11
    """
    ratio = at is not None
    if not (np.isfinite(effect) and effect > (1 if ratio else 0)):
        raise InputError(f"plan: effect = {effect}; valid is {'a ratio above 1' if ratio else 'a difference above 0'}")
    if not 0.05 < power < 1:
        raise InputError(f"plan: power = {power}; valid is a probability between 0.05 and 1")
    sides = [_curves(each, diverged) for each in (pilot, candidate) if each is not None]
    direction = direction_of(metric, sides, falling).falling
    if len(sides) == 2:
        sides = _by_seed(sides[0], sides[1])
    values = [_values(side, at, direction, metric) for side in sides]
    each = values[0] if len(values) == 1 else values[1] - values[0]
    if len(each) < 3:
        raise InputError(f"plan: the pilot has {len(each)} runs; a spread takes three")
    paired, spread = len(values) == 2, float(each.std(ddof=1))
    wanted = float(np.log(effect)) if ratio else effect
    runs = runs_for(wanted, spread, paired, power)
    effects = [float(np.log(e)) for e in EFFECTS] if ratio else [share * (spread or 1.0) for share in SHARES]
    return RunsNeeded(
        effect=effect,
        runs=runs,
        at_most=runs_for(wanted, upper_spread(spread, len(each) - 1), paired, power),
        spread=spread,
        paired=paired,
        power=power,
        pilot=len(each),
        table=tuple((float(np.exp(e)) if ratio else e, runs_for(e, spread, paired, power)) for e in effects),
        ratio=ratio,
        cost=None if not ratio or runs is None else 2 * runs * float(np.exp(np.median(values[0]))),
        unit=sides[0].unit,
    )


def _curves(given: Any, diverged: Literal["nan"] | None) -> Ragged:
    """The pilot's runs. Raises `InputError` for runs that are one, value for value: they have no spread."""
    if not isinstance(given, Curves | Ragged):
        values = values_of("pilot", given)
        given = Curves("pilot", np.arange(1, values.shape[1] + 1), values, "evaluations")
    arm = ragged(given, diverged)
    if said := copies(arm):
        raise InputError(f"plan: {said}; a copy says nothing of how runs spread")
    return arm


def _by_seed(a: Ragged, b: Ragged) -> list[Ragged]:
    """Sort the two sides by seed. (`matched` leaves fewer than six pairs apart; a spread needs three.)"""
    if a.seeds is not None and b.seeds is not None:
        common = [seed for seed in a.seeds if seed in set(b.seeds)]
        if len(common) < 3:
            raise InputError(f"plan: the two pilots have {len(common)} seeds in common; a spread takes three")
        sides = []
        for side in (a, b):
            assert side.seeds is not None
            place = {seed: i for i, seed in enumerate(side.seeds)}
            sides.append(side._replace(tracks=tuple(side.tracks[place[seed]] for seed in common), seeds=tuple(common)))
        return sides
    return list(matched(a, b, True)[:2])


def _values(side: Ragged, at: float | None, falling: bool, metric: str) -> np.ndarray:
    """(M,) log times to the goal, or last values. Raises `InputError` where a run has none."""
    if at is None:
        if np.isnan(side.final).any():
            raise InputError("plan: a run of the pilot diverged, and has no last value")
        return side.final
    times = crossings(side.tracks, at, falling)
    if times.censored.any():
        said = f"{int(times.censored.sum())} of {len(times.time)} runs of the pilot do not reach {metric} = {at:g}"
        raise InputError(f"plan: {said}; valid is a goal that each of them reaches")
    if (times.time <= 0).any():
        raise InputError(f"plan: a run of the pilot is at {at:g} before it trained")
    return np.log(times.time)
