"""Who chooses and who is judged, and what is best: no verdict rests on a member that was looked at to make a choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lopsided.stats.times import Times

CHOOSER = 3
"""One seed in three chooses."""


class Score(NamedTuple):
    """How good an arm was for the members that choose; the smaller the better, compared in this order."""

    median: float
    """Median time to learn, infinite if half or more never learned."""
    mean: float
    """Mean time; a member that never learned counts as twice its budget."""
    final: float
    """Mean final metric, negative where more is better."""


def split(seeds: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(M,) who chooses, (M,) who is judged. With fewer than two seeds everybody does both."""
    if len(seeds) < 2:
        return np.ones(len(seeds), bool), np.ones(len(seeds), bool)
    chooses = np.array(seeds) % CHOOSER == 0
    return chooses, ~chooses


def score(times: Times, final: np.ndarray, more_is_better: bool) -> Score:
    """The score of an arm from its choosing members' times and final values (M,); a missing value is the worst one."""
    last = float(np.nan_to_num(final, nan=0.0 if more_is_better else np.inf).mean())
    mean = float((times.time * (1 + times.censored)).mean())
    return Score(times.median, mean, -last if more_is_better else last)
