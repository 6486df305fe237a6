"""Power laws in curves: the slope on a log-log plot, where the law begins and where it ends.

A loss curve that follows a power law does so on a window: before it nothing is learned yet, after it the curve bends
into a plateau or a truncation. `segmented` fits three straight pieces that meet, and its middle piece is the law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy

from lopsided.stats import signflip
from lopsided.stats.signflip import SEED, Tails, sign_flip

POINTS = 80
"""Curves are resampled to this many points, evenly in log x: every decade weighs the same."""
FEWEST = 4
"""Evaluations inside the window below which no slope is fitted."""
# One end of a 95 % interval: with more resampled slopes unknown, its place is unknown, too.
CENSORED = 0.025
# Places that the ends of the middle piece are tried at: at most 276 pairs, each a fit of 1,000 resampled curves.
KNOTS = 24
SHORTEST = 1.0
"""Decades of x that the middle piece spans at least (half of the window, if that is less): a staircase has straight
stretches of half a decade that are no law."""
RESAMPLES = 999
"""Draws: each of them fits a law: a verdict on a slope takes a second with so many."""


class LogSlope(NamedTuple):
    """Slope of the mean log curve, and the window it was found on."""

    slope: float
    error: float
    """Standard error over members by the bootstrap; infinite where it cannot be known."""
    begins: float
    ends: float
    members: int
    draws: np.ndarray  # (RESAMPLES,) slopes of resampled members
    each: np.ndarray  # (M,) every member's own slope on that window; NaN where it has none

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The error times Student's quantile: percentiles of eight members are a fifth too close."""
        if not np.isfinite(self.error):
            return -np.inf, np.inf
        half = self.error * float(scipy.stats.t.ppf((1 + level) / 2, self.members - 1))
        return self.slope - half, self.slope + half

    @property
    def window(self) -> tuple[float, float]:
        """Where it begins and ends."""
        return self.begins, self.ends

    @property
    def low(self) -> float:
        return self.interval()[0]

    @property
    def high(self) -> float:
        return self.interval()[1]

    @property
    def flips(self) -> bool:
        """Whether signs can be flipped: each member has a slope of its own, and they are enough to reject anything."""
        return len(self.each) >= signflip.FEWEST and bool(np.isfinite(self.each).all())

    def tails(self, bound: float) -> Tails:
        """Tests against `bound`: sign flips of the members' slopes, or else the one that `interval` inverts. NaN where
        nothing is known."""
        if self.flips:
            return sign_flip(self.each - bound)
        if not 0 < self.error < np.inf:
            return Tails(np.nan, np.nan)
        t = (self.slope - bound) / self.error
        return Tails(*(float(scipy.stats.t.sf(side * t, self.members - 1)) for side in (1, -1)))


def _logs(
    x: np.ndarray, curves: np.ndarray, window: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """Even points in log x inside `window`, and log curves (M, POINTS) there; None if too few evaluations lie there."""
    inside = np.log(x[(x >= window[0]) & (x <= window[1])])
    if len(inside) < FEWEST:
        return None, None
    grid = np.linspace(inside[0], inside[-1], POINTS)
    logs = np.log(np.maximum(curves, np.finfo(float).tiny))
    return grid, np.stack([np.interp(grid, np.log(x), each) for each in logs])


def _resampled_means(logs: np.ndarray) -> np.ndarray:
    """(1 + RESAMPLES, POINTS): the mean over all members, then means over resampled members."""
    pick = np.random.default_rng(SEED).integers(0, len(logs), (RESAMPLES, len(logs)))
    return np.concatenate([logs.mean(0, keepdims=True), logs[pick].mean(1)])


def _law(slopes: np.ndarray, begins: float, ends: float, each: np.ndarray) -> LogSlope:
    """`slopes` (1 + RESAMPLES,): of all members, then of resampled ones. Where the slope, or more than CENSORED of the
    resampled ones, cannot be known, neither can its error."""
    known, members = np.isfinite(slopes[1:]), len(each)
    error = np.inf
    if members > 1 and np.isfinite(slopes[0]) and known.mean() >= 1 - CENSORED:
        error = float(slopes[1:][known].std() * np.sqrt(members / (members - 1)))
    return LogSlope(float(slopes[0]), error, begins, ends, members, slopes[1:], each)


def _unknown(window: tuple[float, float], members: int) -> LogSlope:
    return _law(np.full(1 + RESAMPLES, np.nan), *window, np.full(members, np.nan))


def straight(x: np.ndarray, curves: np.ndarray, window: tuple[float, float]) -> LogSlope:
    """Least-squares slope of log `curves` (M, T) against log `x` (T,) on a stated window of x (as in `segmented`)."""
    grid, logs = _logs(x, curves, window)
    if grid is None or logs is None:
        return _unknown(window, len(curves))
    centred = grid - grid.mean()
    weights = centred / (centred @ centred)
    return _law(_resampled_means(logs) @ weights, float(np.exp(grid[0])), float(np.exp(grid[-1])), logs @ weights)


def segmented(x: np.ndarray, curves: np.ndarray, window: tuple[float, float] | None = None) -> LogSlope:
    """Slope of the middle of three straight pieces that meet, fitted to the mean log curve on `window` (all of x).

    Both knots are searched over a grid, again for every bootstrap sample, so the interval carries their uncertainty.
    Nothing is known (slope NaN, interval infinite) with fewer than FEWEST evaluations in the window or without numbers.
    """
    window = window or (float(x[0]), float(x[-1]))
    grid, logs = _logs(x, curves, window)
    if grid is None or logs is None:
        return _unknown(window, len(curves))
    means = _resampled_means(logs)
    knots = np.linspace(grid[0], grid[-1], KNOTS + 2)[1:-1]
    shortest = min(SHORTEST * np.log(10), (grid[-1] - grid[0]) / 2)
    best = np.full(len(means), np.inf)
    slopes, chosen = np.full(len(means), np.nan), np.full((len(means), 2), np.nan)
    for i, first in enumerate(knots):
        for second in knots[i + 1 :]:
            if second - first < shortest:
                continue
            design = _pieces(grid, first, second)
            fitted = means @ np.linalg.pinv(design).T
            error = ((means - fitted @ design.T) ** 2).sum(1)
            better = error < best
            best[better] = error[better]
            slopes[better] = (fitted[:, 1] + fitted[:, 2])[better]
            chosen[better] = first, second
    begins, ends = np.exp(chosen[0]).tolist()
    # Every member's slope between the knots of the mean curve.
    if not np.isfinite(begins):
        return _unknown(window, len(curves))
    design = _pieces(grid, *chosen[0])
    each = logs @ np.linalg.pinv(design).T
    return _law(slopes, begins, ends, each[:, 1] + each[:, 2])


def _pieces(grid: np.ndarray, first: float, second: float) -> np.ndarray:
    """(POINTS, 4) columns that three straight pieces which meet at two knots are made of."""
    return np.stack([np.ones_like(grid), grid, np.maximum(grid - first, 0), np.maximum(grid - second, 0)], axis=1)


def each_slope(x: np.ndarray, curves: np.ndarray, window: tuple[float, float]) -> np.ndarray:
    """(M,) straight slope of every member's log curve on a window."""
    return np.array([straight(x, each[None], window).slope for each in curves])


def of_points(x: np.ndarray, values: np.ndarray, average: Callable[..., Any] = np.median) -> LogSlope:
    """Slope of log `values` (M, N) against log `x` (N,) through N settings with M members each.

    Members of different settings are resampled together (they may share a seed); what is fitted is their `average`, the
    median unless values are discrete. Infinite values (members that never got there) count as such: nothing is known
    where they make an average infinite.
    """
    grid = np.log(x)
    centred = grid - grid.mean()
    pick = np.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    with np.errstate(divide="ignore", invalid="ignore"):
        averages = np.concatenate([average(values, axis=0)[None], average(values[pick], axis=1)])
        slopes = np.log(averages) @ centred / (centred @ centred)
        each = np.log(np.where(values > 0, values, np.nan)) @ centred / (centred @ centred)
    slopes[~np.isfinite(averages).all(1)] = np.nan
    return _law(slopes, float(x[0]), float(x[-1]), np.where(np.isfinite(each), each, np.nan))


def difference(steep: LogSlope, flat: LogSlope) -> LogSlope:
    """How much steeper one law is than another fitted to the same settings and members, who are resampled together."""
    slopes = np.append(steep.slope - flat.slope, steep.draws - flat.draws)
    count = min(steep.members, flat.members)
    return _law(slopes, steep.begins, steep.ends, steep.each[:count] - flat.each[:count])
