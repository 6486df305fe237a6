"""Runs that ended long before the others of their arm: what they would have done counts against either side."""

from __future__ import annotations

import numpy as np

from lopsided.stats.times import Times


def follow_up(times: Times) -> float:
    """The time to which half of an arm's members were followed, or would have been, had they not learned before.

    It is the median of Kaplan and Meier's estimate in which the end of a run is the event and learning hides it;
    infinite if fewer than half of the runs ended.
    """
    every, ended = np.sort(times.time), np.sort(times.time[times.censored])
    ends, first = np.unique(ended, return_index=True)
    number = np.diff(first, append=len(ended))
    beyond = len(every) - np.searchsorted(every, ends, "right")
    left = np.cumprod(1 - number / (number + beyond))
    half = left <= 0.5 + 1e-9  # a product of fractions that is one half may come out above it
    return float(ends[half][0]) if half.any() else np.inf


def dropped(times: Times) -> np.ndarray:
    """(M,) whether a member ended before its arm's follow-up, without having learned."""
    return times.censored & (times.time < follow_up(times))


def worst_cases(slow: Times, fast: Times) -> list[tuple[Times, Times]]:
    """Pairs of arms as they would speak least for `fast`, and least for `slow`: a member that was dropped learned as it
    ended in one arm, and not while its arm was followed in the other. One pair if no member was dropped.

    To follow every member no farther than the first one that was dropped would throw the others away: one of twenty
    runs that crashed early made p = 1 of an effect that nobody could miss.
    """
    if not (dropped(slow).any() or dropped(fast).any()):
        return [(slow, fast)]
    latest = float(np.concatenate([slow.time, fast.time]).max())
    early, late = ([_settled(arm, there, latest) for arm in (slow, fast)] for there in (True, False))
    return [(early[0], late[1]), (late[0], early[1])]


def _settled(times: Times, learned: bool, latest: float) -> Times:
    """With members that were dropped taken to have learned as they ended, or not at all."""
    gone, end = dropped(times), min(follow_up(times), latest)
    time = times.time if learned else np.where(gone, end, times.time)
    return times._replace(time=time, censored=times.censored & ~(gone & learned))
