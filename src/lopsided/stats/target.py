"""Is an arm's mean at a target, and from when on?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from lopsided.stats.crossing import Track
from lopsided.stats.signflip import SEED
from lopsided.stats.verdict import Decision

RESAMPLED = 1_999
"""Draws, as many as of `stats.compare`."""
FEWEST = 3
"""Runs without which a mean has no error that a test could use."""


def at_target(
    tracks: Sequence[Track], at: float, falling: bool, level: float, unit: str
) -> tuple[Decision, tuple[str, ...]]:
    """Whether the mean of the last values is at most `at` (at least, where the metric rises), by Student's t,
    one-sided at `level`; and in words the first evaluation from which on it is, and where the mean curve crosses."""
    finals = np.array([np.nan if track.diverged else track.value[-1] for track in tracks])
    sign, n = (1.0 if falling else -1.0), len(finals)
    mean = float(finals.mean())
    method = "Student's t, one-sided"
    effect = None if np.isnan(mean) else mean - at
    nothing = Decision("mean", "", effect, (None, None), "inconclusive", n, method)
    if n < FEWEST or not np.isfinite(finals).all():
        why = f"{n} runs: a test takes {FEWEST}" if n < FEWEST else "a run diverged, and has no last value"
        return nothing._replace(method=why), ()
    p, against = _p_values(sign * finals, sign * at)
    error = float(finals.std(ddof=1) / np.sqrt(n))
    half = float(scipy.stats.t.isf(level, n - 1)) * error
    verdict = "holds" if p <= level else "contradicted" if against <= level else "inconclusive"
    found = nothing._replace(
        verdict=verdict,
        interval=(mean - at - half, mean - at + half),
        coverage=1 - 2 * level,
        p_value=p,
        p_values=(p,),
        bounds=(0.0,),
        side="below" if falling else "above",
    )
    return found, (f"mean {mean:.6g}", *_when(tracks, at, sign, level, unit))


def _p_values(values: np.ndarray, at: float) -> tuple[float, float]:
    """One-sided, of the mean lying below `at`, and above."""
    if np.ptp(values) == 0:
        below = float(values[0] <= at)
        return (0.0, 1.0) if below else (1.0, 0.0)
    found = (float(scipy.stats.ttest_1samp(values, at, alternative=side).pvalue) for side in ("less", "greater"))
    return next(found), next(found)


def _when(tracks: Sequence[Track], at: float, sign: float, level: float, unit: str) -> tuple[str, ...]:
    """The first evaluation that all runs have from which on the mean passes the test; and the crossing of the mean
    curve, with an interval by resampling runs."""
    common = sorted(set.intersection(*(set(track.axis.tolist()) for track in tracks)))
    if len(common) < 2:
        return ("the runs have no evaluations in common: when their mean is there cannot be told",)
    values = sign * np.array([track.value[np.searchsorted(track.axis, common)] for track in tracks])
    passes = np.array([_p_values(column, sign * at)[0] <= level for column in values.T])
    first = len(passes) - int(np.argmin(passes[::-1])) if not passes.all() else 0
    said = []
    if first < len(passes):
        said.append(f"from the evaluation at {common[first]:g} {unit} on (of {len(common)})")
    picks = np.random.default_rng([SEED, len(tracks)]).integers(0, len(tracks), (RESAMPLED, len(tracks)))
    means = np.concatenate([values.mean(0)[None], values[picks].mean(1)])
    here, *resampled = _crossings(np.array(common), means, sign * at)
    resampled = np.sort(resampled)
    if np.isfinite(here):
        low, high = resampled[int(0.025 * RESAMPLED)], resampled[int(0.975 * RESAMPLED)]
        said.append(f"the mean crosses {at:g} at {here:.4g} [{low:.4g}, {high:.4g}] {unit}")
    return tuple(said)


def _crossings(axis: np.ndarray, means: np.ndarray, at: float) -> np.ndarray:
    """(R,) where each mean curve (R, T) gets to `at` from above, between two evaluations; infinite if it does not."""
    best = np.minimum.accumulate(means, axis=1)
    there = best <= at
    first = np.argmax(there, axis=1)
    rows, before = np.arange(len(best)), np.maximum(first - 1, 0)
    high, low, x0, x1 = best[rows, before], best[rows, first], axis[before], axis[first]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(high > low, (high - at) / (high - low), 1.0)
        found = np.where(x0 > 0, x0 * (x1 / np.where(x0 > 0, x0, 1.0)) ** share, x0 + share * (x1 - x0))
    return np.where(there.any(1), np.where(first == 0, axis[0], found), np.inf)
