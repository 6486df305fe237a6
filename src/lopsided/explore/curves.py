"""Curves of an arm's members from the mirror's rows, with the rules of `lopsided.results.stored`: a member that left
early keeps its last value, and an accuracy is 0 from divergence on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lopsided.explore.runs import Placed
from lopsided.stats.times import Times, median, time_to_learn
from lopsided.store.mirror import Mirror

REMEMBERED = 6
"""Requests for curves that are kept."""
AXES = {
    "steps": "steps",
    "samples": "compute (samples seen)",
    "distinct": "data (distinct samples)",
    "seconds": "seconds",
}


@dataclass(frozen=True)
class Curves:
    """One arm: M members, T evaluations."""

    arm: Placed
    seeds: np.ndarray  # (M,)
    steps: np.ndarray  # (T,)
    samples: np.ndarray  # (T,)
    distinct: np.ndarray  # (T,)
    seconds: np.ndarray  # (T,)
    values: np.ndarray  # (M, T), NaN where nothing is known

    def band(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Median, lowest and highest member at each evaluation."""
        finite = np.where(np.isfinite(self.values), self.values, np.nan)
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # a column without any finite value
            return np.nanmedian(finite, 0), np.nanmin(finite, 0), np.nanmax(finite, 0)


def read(mirror: Mirror, arms: Sequence[Placed], metric: str, ended: bool = True) -> list[Curves]:
    """The curves of those arms that have rows; `ended`: of members that have reached their end."""
    found = mirror.rows([arm.digest for arm in arms], metric, ended)
    return [_curves(arm, found[arm.digest], metric, ended) for arm in arms if arm.digest in found]


class Reader:
    """Curves of complete members. The last requests are remembered: the next click mostly draws the same rows in
    another way."""

    def __init__(self, mirror: Mirror):
        self._mirror = mirror
        self._found: dict[Any, list[Curves]] = {}

    def curves(self, arms: Sequence[Placed], metric: str) -> list[Curves]:
        """As `read`."""
        key = self._mirror.version, metric, tuple((arm.name, arm.digest) for arm in arms)
        if key not in self._found:
            while len(self._found) >= REMEMBERED:
                self._found.pop(next(iter(self._found)), None)
            self._found[key] = read(self._mirror, arms, metric)
        return self._found[key]


def _curves(arm: Placed, rows: Mapping[str, np.ndarray], metric: str, ended: bool) -> Curves:
    seeds, member = np.unique(rows["seed"], return_inverse=True)
    steps, at = np.unique(rows["step"], return_inverse=True)
    value = np.ma.filled(np.ma.asarray(rows["value"], dtype=np.float64), np.nan)
    values = np.full((len(seeds), len(steps)), np.nan)
    values[member, at] = np.nan_to_num(value, nan=0.0) if metric.endswith("accuracy") else value
    if ended:
        last = np.zeros(len(seeds), int)
        np.maximum.at(last, member, at)
        kept = np.minimum(np.arange(len(steps)), last[:, None])
        values = np.take_along_axis(values, kept, axis=1)
    count = np.bincount(at)
    samples, distinct, seconds = (
        np.bincount(at, weights=np.asarray(rows[name], float)) / count
        for name in ("samples", "distinct_samples", "seconds")
    )
    return Curves(arm, seeds, steps, samples, distinct, seconds, values)


def times(curves: Curves, axis: str, metric: str, threshold: float) -> Times:
    """When each member learned, on an axis: by the rule of the arm's spec if it is about this metric, else by the
    threshold. Losses are learned when they fall to it."""
    until: Mapping[str, Any] = curves.arm.spec.get("until") or {}
    if until.get("metric") == metric:
        falls = until.get("at_least") is None
        threshold = float(until["at_most"] if falls else until["at_least"])
    else:
        falls = metric.endswith("loss")
    sign = -1.0 if falls else 1.0
    return time_to_learn(getattr(curves, axis), sign * curves.values, sign * threshold)


def cells(
    curves: Sequence[Curves], rows: str, columns: str, number: Mapping[str, np.ndarray]
) -> tuple[list[Any], list[Any], np.ndarray]:
    """A matrix over two coordinates: the median of `number` (values of members by arm) over the members of all arms
    that lie in a cell; NaN where there is none, inf where half of them never learned."""
    from lopsided.explore.runs import text_of

    pairs = [(text_of(c.arm.at.get(rows)), text_of(c.arm.at.get(columns)), number[c.arm.name]) for c in curves]
    high, wide = (_ordered([pair[i] for pair in pairs]) for i in (0, 1))
    found = np.full((len(high), len(wide)), np.nan)
    for i, y in enumerate(high):
        for j, x in enumerate(wide):
            inside = [values for a, b, values in pairs if (a, b) == (y, x)]
            if inside:
                found[i, j] = float(median(np.concatenate(inside)))
    return high, wide, found


def _ordered(values: Sequence[Any]) -> list[Any]:
    """Each once; numbers in order of size."""
    once = list(dict.fromkeys(values))
    return sorted(once) if all(isinstance(v, (int, float)) for v in once) else once
