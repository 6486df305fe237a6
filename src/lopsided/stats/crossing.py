"""When runs with evaluations of their own reach a value, found between two evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from lopsided.core.rounding import reaches
from lopsided.stats.times import Times

Between = Literal["line", "bend", "before", "after"]
"""Which time stands for the moment at which a run reaches a value, of which only the two evaluations around it are
known. `line`: on the straight line between them. `bend`: on the line through the two evaluations before, continued.
`before`, `after`: the earlier and the later of them."""


AT_ONCE = 1e-3
"""Share of a first evaluation that stands for "at once", after an evaluation at 0: a ratio of times needs a number."""


class Track(NamedTuple):
    """One run's evaluations; T of them."""

    axis: np.ndarray
    """(T,) where they were, rising."""
    value: np.ndarray
    """(T,) finite values."""
    diverged: bool = False
    """Whether the run diverged after the last of them: then it is there never again. Otherwise it ended there."""
    end: float | None = None
    """How far a run that diverged would have gone, where that is known: to here it was followed, and got nowhere."""


def crossings(
    tracks: Sequence[Track], at: float, falling: bool, held: bool = False, between: Between = "line"
) -> Times:
    """When each run reaches `at` (from above, if `falling`).

    The crossing lies between the last evaluation before and the first one at which the best value so far is there, on a
    straight line over the logarithm of the axis (over the axis itself from 0). A run that was there at its first
    evaluation has that one's time. `held`: instead, the first evaluation at which the value is there and still is at
    the next one, which is how lopsided's own runs are judged. `between`: "before" or "after" give the two evaluations
    that the crossing is known to lie between, in place of a point between them; "bend" another point. A run that did
    not get there is censored: at its own end, or, if it diverged, at the end of the longest run.
    """
    end = max(float(track.axis[-1] if track.end is None else track.end) for track in tracks)
    time, censored, gap = np.empty(len(tracks)), np.ones(len(tracks), bool), np.full(len(tracks), np.nan)
    sign = -1.0 if falling else 1.0
    for i, track in enumerate(tracks):
        time[i] = end if track.diverged else track.axis[-1]
        first = first_there(track, sign, at, held)
        if first is not None:
            censored[i], gap[i] = False, track.axis[first] - (track.axis[first - 1] if first else 0.0)
            time[i] = track.axis[first]
            if first and not held and between != "after":
                early = max(float(track.axis[first - 1]), AT_ONCE * float(track.axis[first]))
                if between == "line":
                    time[i] = _between(track, first, sign, at)
                else:
                    time[i] = early if between == "before" else max(early, _onward(track, first, sign, at))
    return Times(time, censored, gap, interpolated=not held)


def first_there(track: Track, sign: float, at: float, held: bool = False) -> int | None:
    """Index of the first evaluation at which the best value so far has reached `at`, or, if `held`, at which the value
    has and still has at the next one; None if there is none. `sign`: -1 where the metric falls with learning."""
    there = reaches(sign * track.value if held else np.maximum.accumulate(sign * track.value), sign * at)
    if held:
        there = there & np.append(there[1:], False)
    return int(np.argmax(there)) if there.any() else None


def _between(track: Track, first: int, sign: float, at: float) -> float:
    """Where the best value so far passes `at` on its way to evaluation `first`."""
    before, after = float(np.max(sign * track.value[:first])), float(sign * track.value[first])
    share = min(max((sign * at - before) / (after - before), 0.0), 1.0) if after > before else 1.0
    x0, x1 = float(track.axis[first - 1]), float(track.axis[first])
    return x0 * (x1 / x0) ** share if x0 > 0 else x0 + share * (x1 - x0)


def _onward(track: Track, first: int, sign: float, at: float) -> float:
    """Where the best value so far passes `at` if it goes on from the evaluation before `first` as it came there; at
    `first` if that is later, or nobody knows how it came."""
    slopes = slopes_at(track, first, sign)
    if not slopes[0] > 0:
        return float(track.axis[first])
    missing = sign * at - float(np.max(sign * track.value[:first]))
    return float(min(track.axis[first - 1] + missing / slopes[0], track.axis[first]))


def slopes_at(track: Track, first: int, sign: float) -> np.ndarray:
    """(3,) slopes of the best value so far: before the two evaluations of which `first` is the second one, between
    them, and after them; 0 where there is no evaluation."""
    best = np.maximum.accumulate(sign * track.value)
    slopes = np.concatenate([[0.0, 0.0], np.diff(best) / np.diff(track.axis), [0.0]])
    return slopes[first : first + 3]
