"""Runs that ended long before the others of their arm: what they would have done counts against either side."""

from __future__ import annotations

import numpy as np

from lopsided.stats.times import Times


def follow_up(times: Times) -> float:
    """How far an arm was followed: the median over its members of where they would have ended, had they not learned
    (Kaplan and Meier's estimate, with the end of a run as the event); without end if fewer than half ended."""
    left = 1.0
    for end in np.unique(times.time[times.censored]):
        ended = int((times.censored & (times.time == end)).sum())
        left *= 1 - ended / (ended + int((times.time > end).sum()))
        if left <= 0.5:
            return float(end)
    return np.inf


def dropped(times: Times) -> np.ndarray:
    """(M,) whether a member ended before its arm's follow-up, without having learned."""
    return times.censored & (times.time < follow_up(times))


def worst_cases(slow: Times, fast: Times) -> list[tuple[Times, Times]]:
    """Pairs of arms as they would speak least for `fast`, and least for `slow`: a member that was dropped learned as it
    ended in one arm, and not while its arm was followed in the other. One pair if no member was dropped.

    To follow every member no farther than the first one that was dropped would throw the others away: one of twenty
    runs that crashed early made p = 1 of an effect that nobody could miss.
    """
    latest = float(np.concatenate([slow.time, fast.time]).max(initial=0.0))
    if not (dropped(slow).any() or dropped(fast).any()):
        return [(slow, fast)]
    early, late = ([_settled(arm, there, latest) for arm in (slow, fast)] for there in (True, False))
    return [(early[0], late[1]), (late[0], early[1])]


def _settled(times: Times, learned: bool, latest: float) -> Times:
    """With members that were dropped taken to have learned as they ended, or not at all."""
    gone, end = dropped(times), min(follow_up(times), latest)
    time = times.time if learned else np.where(gone, end, times.time)
    return times._replace(time=time, censored=times.censored & ~(gone & learned))
