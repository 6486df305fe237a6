"""Curves of an arm's members from the mirror's rows, with the rules of `lopsided.results.stored`: a member that left
early keeps its last value, and an accuracy is 0 from divergence on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lopsided.explore.runs import PlacedArm, text_of
from lopsided.stats.times import Times, falls_by_name, median, time_to_learn
from lopsided.store.mirror import Mirror

OWN = {"distinct": "distinct_samples", "seconds": "seconds"}
"""Columns in which members of one arm may differ."""
REMEMBERED = 6
"""Requests for curves that are kept."""
AXES = {
    "steps": "steps",
    "samples": "compute (samples seen)",
    "distinct": "data (distinct samples)",
    "seconds": "seconds",
}


@dataclass(frozen=True)
class ArmCurves:
    """One arm: M members, T evaluations."""

    arm: PlacedArm
    seeds: np.ndarray  # (M,)
    steps: np.ndarray  # (T,)
    samples: np.ndarray  # (T,)
    own: Mapping[str, np.ndarray]
    """`distinct` and `seconds`, (M, T): members of one arm may differ in them."""
    values: np.ndarray  # (M, T), NaN where nothing is known
    diverged: np.ndarray  # (M,) bool

    def axis(self, name: str) -> np.ndarray:
        """(T,) for a picture of all members: their mean where they differ."""
        return _quiet(np.nanmean, self.own[name]) if name in self.own else getattr(self, name)

    def axis_of(self, member: int, name: str) -> np.ndarray:
        """(T,) a member's own."""
        return self.own[name][member] if name in self.own else getattr(self, name)

    def band(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Median, lowest and highest member at each evaluation."""
        finite = np.where(np.isfinite(self.values), self.values, np.nan)
        return _quiet(np.nanmedian, finite), _quiet(np.nanmin, finite), _quiet(np.nanmax, finite)


def _quiet(function: Callable[..., np.ndarray], values: np.ndarray) -> np.ndarray:
    """Over members; NaN for a column without any finite value."""
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        return function(values, 0)


def read(mirror: Mirror, arms: Sequence[PlacedArm], metric: str, ended: bool = True) -> list[ArmCurves]:
    """The curves of those arms that have rows; `ended`: of members that have reached their end."""
    found = mirror.rows([arm.digest for arm in arms], metric, ended)
    read = [
        (arm, of_run(arm, found[arm.digest]) if ended else found[arm.digest]) for arm in arms if arm.digest in found
    ]
    return [_curves(arm, rows, metric) for arm, rows in read if len(rows["seed"])]


def of_run(arm: PlacedArm, rows: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """The rows of the seeds that the arm's run has: another run of the same specs may have more."""
    if arm.seeds is None:
        return rows
    own = np.isin(rows["seed"], np.asarray(arm.seeds))
    return {name: column[own] for name, column in rows.items()}


class Reader:
    """Curves of complete members. The last requests are remembered: the next click mostly draws the same rows in
    another way."""

    def __init__(self, mirror: Mirror):
        self._mirror = mirror
        self._found: dict[Any, list[ArmCurves]] = {}

    def curves(self, arms: Sequence[PlacedArm], metric: str) -> list[ArmCurves]:
        """As `read`."""
        key = self._mirror.version, metric, tuple((arm.name, arm.digest, arm.seeds) for arm in arms)
        if key not in self._found:
            while len(self._found) >= REMEMBERED:
                self._found.pop(next(iter(self._found)), None)
            self._found[key] = read(self._mirror, arms, metric)
        return self._found[key]


def _curves(arm: PlacedArm, rows: Mapping[str, np.ndarray], metric: str) -> ArmCurves:
    seeds, member = np.unique(rows["seed"], return_inverse=True)
    steps, at = np.unique(rows["step"], return_inverse=True)
    value = np.ma.filled(np.ma.asarray(rows["value"], dtype=np.float64), np.nan)
    value = np.nan_to_num(value, nan=0.0) if metric.endswith("accuracy") else value
    _, job = np.unique(rows["job"].astype(str), return_inverse=True)
    last, of, reached = (np.zeros(n, int) for n in (len(seeds), len(seeds), job.max() + 1))
    np.maximum.at(last, member, at)
    np.maximum.at(reached, job, at)
    of[member] = job
    times = np.arange(len(steps))
    kept = np.minimum(times, last[:, None])  # a member that left early keeps its values
    complete = np.zeros(len(seeds), bool)
    complete[member] = rows["complete"]
    unknown = (times > reached[of][:, None]) & ~complete[:, None]  # its job has not come so far

    def matrix(column: np.ndarray) -> np.ndarray:
        found = np.full((len(seeds), len(steps)), np.nan)
        found[member, at] = column
        found = np.take_along_axis(found, kept, axis=1)
        return np.where(unknown, np.nan, found)

    diverged = np.zeros(len(seeds), bool)
    diverged[member[np.asarray(rows["diverged"], bool)]] = True
    own = {name: matrix(np.asarray(rows[key], float)) for name, key in OWN.items()}
    samples = np.bincount(at, weights=np.asarray(rows["samples"], float)) / np.bincount(at)
    return ArmCurves(arm, seeds, steps, samples, own, matrix(value), diverged)


def falls(found: Sequence[ArmCurves], metric: str) -> bool:
    """Whether the metric gets smaller with learning: as its name says, or if that says nothing, as it does in most
    arms. (An accuracy that falls has not learned.)"""
    if (named := falls_by_name(metric)) is not None:
        return named
    ends = [curves.band()[0][[0, -1]] for curves in found]
    return sum(first > last for first, last in ends) * 2 > len(ends)


def rule(curves: ArmCurves, metric: str, threshold: float | None, down: bool) -> tuple[float, bool] | None:
    """(value, whether it is reached from above) at which a member has learned: by the rule of the arm's spec if that is
    about this metric, else by the threshold; None without either."""
    until: Mapping[str, Any] = curves.arm.spec.get("until") or {}
    if until.get("metric") == metric:
        down = until.get("at_least") is None
        return float(until["at_most"] if down else until["at_least"]), down
    return None if threshold is None else (threshold, down)


def times(curves: ArmCurves, axis: str, value: float, down: bool) -> Times:
    """When each member learned, on its own axis."""
    sign = -1.0 if down else 1.0
    found = time_to_learn(np.arange(len(curves.steps)), sign * curves.values, sign * value)
    own = [curves.axis_of(m, axis)[int(i)] for m, i in enumerate(found.time)]
    return Times(np.array(own), found.censored)


def cells(
    curves: Sequence[ArmCurves], rows: str, columns: str, number: Mapping[str, np.ndarray]
) -> tuple[list[Any], list[Any], np.ndarray]:
    """A matrix over two coordinates: the median of `number` (values of members by arm) over the members of all arms
    that lie in a cell; NaN where there is none, inf where half of them never learned."""
    pairs = [(text_of(c.arm.at.get(rows)), text_of(c.arm.at.get(columns)), number[c.arm.name]) for c in curves]
    high, wide = (_ordered([pair[i] for pair in pairs]) for i in (0, 1))
    found = np.full((len(high), len(wide)), np.nan)
    for i, y in enumerate(high):
        for j, x in enumerate(wide):
            inside = [values for a, b, values in pairs if (a, b) == (y, x)]
            if inside:
                found[i, j] = float(median(np.concatenate(inside)))
    return high, wide, found


def pooled(curves: Sequence[ArmCurves], rows: str, columns: str) -> list[str]:
    """The coordinates besides these two in which arms of one cell differ: a cell's median is over all of them."""
    cells: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for each in curves:
        at = each.arm.at
        cells.setdefault((str(at.get(rows)), str(at.get(columns))), []).append(at)
    names = dict.fromkeys(name for each in curves for name in each.arm.at if name not in (rows, columns))
    return [name for name in names if any(len({str(at.get(name)) for at in inside}) > 1 for inside in cells.values())]


def _ordered(values: Sequence[Any]) -> list[Any]:
    """Each once; numbers in order of size."""
    once = list(dict.fromkeys(values))
    return sorted(once) if all(isinstance(v, (int, float)) for v in once) else once
