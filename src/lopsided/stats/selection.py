"""Members that choose, members that are judged: no verdict rests on a member that was looked at to make a choice.

Seeds fall into three folds. The members of a fold are judged at the settings that the other two folds choose, so that
every member is judged, and none has a say in its own settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lopsided.stats.times import Times

FOLDS = 3
"""Folds: each third of the seeds is judged at what the others choose (docs/deciding.md)."""


class Score(NamedTuple):
    """How good an arm was for the members that choose; the smaller the better, compared in this order."""

    median: float
    """Median time to learn, infinite if half or more never learned."""
    mean: float
    """Mean time; a member that never learned counts as twice its budget."""
    final: float
    """Mean final metric, negative where more is better."""


def folds(seeds: Sequence[int]) -> np.ndarray:
    """(M,) fold of each member, 0 to FOLDS - 1; all 0 where there are too few seeds for each fold to have one."""
    found = np.array(seeds, dtype=np.int64) % FOLDS
    return found if len(set(found.tolist())) == FOLDS else np.zeros(len(seeds), np.int64)


def split(seeds: Sequence[int], fold: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(M,) who chooses, one fold, and (M,) who is judged, the others. With too few seeds everybody does both."""
    chooses = folds(seeds) == fold
    return (np.ones_like(chooses), np.ones_like(chooses)) if not folds(seeds).any() else (chooses, ~chooses)


def score(times: Times, final: np.ndarray, more_is_better: bool) -> Score:
    """The score of an arm from its choosing members' times and final values (M,); a missing value is the worst one."""
    last = float(np.where(np.isnan(final), 0.0 if more_is_better else np.inf, final).mean())
    mean = float((times.time * (1 + times.censored)).mean())
    return Score(times.median, mean, -last if more_is_better else last)
