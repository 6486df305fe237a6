"""Will a run that is still on its plateau get anywhere? Asked of runs that were made alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lopsided.api.curves import Curves, Ragged, direction_of, ragged, require_told
from lopsided.api.ends import no_copies
from lopsided.api.scales import require_scale
from lopsided.core.errors import InputError
from lopsided.core.telling import counted
from lopsided.logs.run import Run
from lopsided.report.text import number
from lopsided.stats.compare import share
from lopsided.stats.crossing import crossings
from lopsided.stats.times import median

if TYPE_CHECKING:
    from lopsided.api.runs import Runs

LEVEL = 0.8
"""Level of the interval. Nine runs that took as long are enough for it, the shortest and the longest of them its ends;
95 % would take 39."""
RARE = 0.25
"""If at most this share of runs that took as long can have learned later (95 %, one-sided), waiting is given up."""


FOLLOWED = 2.0
"""A run that has not learned is evidence against waiting only if it was followed this many times as long as the run in
question: one that is a step further has said nothing yet."""


@dataclass(frozen=True)
class Forecast:
    """What other runs of an arm say of a run that has not learned by `now`.

    >>> import lopsided as lop, numpy as np
    >>> axis = np.arange(1, 41) * 100
    >>> learned = 1.0 * (axis >= np.linspace(900, 3000, 16)[:, None])
    >>> found = lop.forecast(lop.Curves("others", axis, learned), at=0.9, now=800)
    >>> found.advice
    'wait'
    """

    now: float
    unit: str
    asked: int
    """Runs that were asked."""
    alike: int
    """Runs that had not learned by `now` either, and were followed further."""
    learned: int
    """How many of these learned later."""
    open: int
    """How many of these have not learned, and were not followed to twice `now`: they may yet."""
    middle: float
    """Median of when, on the axis; infinite where half of them or more did not learn."""
    low: float
    high: float
    """Interval at `level` of when this run learns: from `now` on, and without end, where too few runs took so long."""
    most: float
    """The largest share of such runs that may learn at all (95 %, one-sided)."""
    level: float = LEVEL
    unclear: int = 0
    """How many more reached the goal between two evaluations of which one lies before `now` and one after: nobody knows
    whether they had by then."""

    @property
    def advice(self) -> str:
        """`wait`, `stop` or `unknown`."""
        if self.learned == 0 and self.most <= RARE:
            return "stop"
        # An interval that begins at `now` says something if it ends: others learned before their next evaluation.
        told = self.low > self.now or np.isfinite(self.high)
        return "wait" if np.isfinite(self.middle) and told else "unknown"

    def __str__(self) -> str:
        now = f"{number(self.now)} {self.unit}"
        if not self.alike:
            return (
                f"it cannot be told: none of {self.asked} other runs was followed beyond {now} without having learned"
            )
        of = f"{self.alike} of {self.asked} other runs were followed beyond {now} without having learned by then"
        of += f" ({self.unclear} more were not evaluated closely enough to say)" if self.unclear else ""
        waiting = f", {self.open} of them may yet" if self.open else ""
        if self.advice == "stop":
            return f"stop: {of}, and none of them did later{waiting} (at most {self.most:.0%} of such runs would, 95 %)"
        later = f"{of}, and {self.learned} of them learned later{waiting}"
        if self.advice == "unknown":
            return f"it cannot be told: {later}"
        end = "without end" if np.isinf(self.high) else number(self.high - self.now)
        wait = f"{number(self.middle - self.now)} {self.unit} more [{number(self.low - self.now)}, {end}]"
        return f"wait, about {wait} ({self.level:.0%}): {later}"


def forecast(
    others: Curves | Ragged, at: float, now: float, metric: str = "accuracy", falling: bool | None = None
) -> Forecast:
    """When a run that has not reached `at` by `now` will, from other runs of the same setting.

    `others`: runs that differ from this one by their seeds alone; those that had learned by `now`, and those that were
    not followed further than that, say nothing. Of those that have not learned, and were not followed to twice `now`,
    the worst is assumed: for the lower end that they learn at once, for the upper end that they never do. If runs are
    exchangeable, the interval holds in `level` of all cases, whatever the curves look like. (The run's own curve is not
    extrapolated: on stored runs the signal that a user can log told nothing, docs/comparing.md.)

    Raises `InputError` for `now` or `at` that is no number or no value that the metric can have, and for curves that
    are none.

        >>> import numpy as np, lopsided as lop
        >>> steps = np.arange(100, 2001, 100)
        >>> others = lop.Curves("mine", steps, 1.0 * (steps >= 100 * np.arange(6, 18)[:, None]), "steps")
        >>> found = lop.forecast(others, at=1, now=700)
        >>> found.advice, found.asked, found.alike, found.middle
        ('wait', 12, 10, 1250.0)
    """
    for name, value in ("at", at), ("now", now):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
            raise InputError(f"forecast: {name} = {value!r}: a number")
    arm = ragged(others)
    down = direction_of(metric, [arm], falling).falling
    require_scale(float(at), metric, [arm])
    times, early, late = (
        crossings(arm.tracks, float(at), down, between=where) for where in ("line", "before", "after")
    )
    # A run that diverged before tells nothing of one that has not.
    alive = np.array([not track.diverged or track.axis[-1] > now for track in arm.tracks], bool)
    # Of a run that was evaluated before `now` and after, and got there meanwhile, nobody knows what it was at `now`.
    beyond = np.where(times.censored, times.time > now, early.time >= now) & alive
    unclear = int((~times.censored & (early.time < now) & (late.time > now) & alive).sum())
    later, ends = times.ordinal[beyond], times.time[beyond]  # later: infinite for those that had not learned at the end
    never = ~np.isfinite(later)
    diverged = np.array([track.diverged for track in arm.tracks], bool)[beyond]
    undecided = never & ~diverged & (ends < FOLLOWED * now)
    n, learned = len(later), int((~never).sum())
    first = int((1 - LEVEL) / 2 * (n + 1) + 1e-9)
    earliest = np.sort(np.where(undecided, ends, early.ordinal[beyond]))
    latest = np.sort(late.ordinal[beyond])
    low, high = (float(earliest[first - 1]), float(latest[-first])) if first else (float(now), np.inf)
    middle = float(median(later)) if n else np.inf
    most = share(~never | undecided, 0.5, level=0.9).high
    counts = len(arm.tracks), n, learned, int(undecided.sum())
    return Forecast(float(now), arm.unit, *counts, middle, low, high, float(most), unclear=unclear)


class OpenRun(NamedTuple):
    """A run that has not reached the goal, and what the others of its arm say."""

    arm: str
    run: str
    forecast: Forecast


def open_runs(runs: Runs, metric: str, at: float, axis: str = "steps") -> list[OpenRun]:
    """Every run of logs that has not reached `at`, and did not diverge, with the forecast of the others of its arm;
    arms of one run are left out. Raises `InputError` where neither the metric's name nor the curves of all arms tell
    which way it moves."""
    require_told(runs.direction(metric, axis))
    found, down = [], runs.falls(metric, axis)
    having = runs.where(lambda run: metric in run.metrics)
    require_scale(at, metric, [having.curves(arm, metric, axis) for arm in having.arms])
    for arm, members in runs.arms.items():
        having = [run for run in members if metric in run.metrics]
        if len(having) < 2:
            continue
        curves = runs.curves(arm, metric, axis)
        waiting, kept = crossings(curves.tracks, at, down).censored, no_copies(curves)
        for i in kept:
            track = curves.tracks[i]
            if waiting[i] and not track.diverged:
                others = curves._replace(tracks=tuple(curves.tracks[j] for j in kept if j != i), seeds=None)
                said = forecast(others, at, float(track.axis[-1]), metric, down)
                found.append(OpenRun(arm, _named(having[i]), said))
    return found


def left_out(runs: Runs, metric: str, at: float, axis: str = "steps") -> list[str]:
    """Runs of which nothing is said though they have not reached `at`, in words: those that diverged, copies of others,
    and those that are alone in their arm."""
    down, said = runs.falls(metric, axis), []
    for arm in runs.arms:
        if not runs.where(lambda run: metric in run.metrics).arms.get(arm, ()):
            continue
        curves = runs.curves(arm, metric, axis)
        tracks = curves.tracks
        gone = sum(track.diverged for track in tracks)
        if gone:
            said.append(f"{arm}: {counted(gone, 'run')} diverged")
        if copies := len(tracks) - len(no_copies(curves)):
            said.append(f"{arm}: {counted(copies, 'run')} the same as another one, value for value")
        if len(tracks) == 1 and not gone and crossings(tracks, at, down).censored[0]:
            said.append(f"{arm}: one run, which nothing can be asked about")
    return said


def _named(run: Run) -> str:
    """A run by its seed, or by its file where it has none."""
    return f"seed {run.seed}" if run.seed is not None else (run.source or run.name)
