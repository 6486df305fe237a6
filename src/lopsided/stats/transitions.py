"""Transitions of growing curves: when a level is crossed, and how sharp the rise from 10 % to 90 % is."""

from __future__ import annotations

import numpy as np


def crossing(x: np.ndarray, curves: np.ndarray, level: float) -> np.ndarray:
    """(N,) x at which each of `curves` (N, T) last rises through `level` and stays above, interpolated in log x.

    NaN for a curve that ends below the level; x[0] for one that never was below it.
    """
    below = ~(curves >= level)  # what is not a number is not above
    last = np.where(below.any(1), below.shape[1] - 1 - below[:, ::-1].argmax(1), -1)
    found = np.full(len(curves), np.nan)
    ends_above = last < below.shape[1] - 1
    found[ends_above & (last < 0)] = x[0]
    rows = np.flatnonzero(ends_above & (last >= 0))
    i = last[rows]
    y0, y1 = curves[rows, i], curves[rows, i + 1]
    share = (level - y0) / (y1 - y0)
    found[rows] = np.exp(np.log(x[i]) + share * (np.log(x[i + 1]) - np.log(x[i])))
    return found


def evaluations_apart(x: np.ndarray, times: np.ndarray) -> float:
    """How far apart the evaluations `x` (T,) lie around `times` (any shape), as a share of each: the median over those
    that are known; 1 where they are the first evaluation, 0 where none is known."""
    known = times[np.isfinite(times) & (times > 0)]
    if not len(known):
        return 0.0
    after = np.clip(np.searchsorted(x, known * (1 - 1e-9)), 0, len(x) - 1)
    before = np.where(after > 0, x[after - 1], 0)
    return float(np.median((x[after] - before) / known))


def sharpness(x: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """(N,) time from 10 % to 90 % of the final level 1, as a share of the time to 50 %: small is sharp.

    An exponential approach has (ln 10 - ln 10/9) / ln 2 = 3.2, whatever its rate.
    """
    t10, t50, t90 = (crossing(x, curves, level) for level in (0.1, 0.5, 0.9))
    return (t90 - t10) / t50
