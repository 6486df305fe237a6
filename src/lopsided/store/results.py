"""What recipes, verdicts and reports read: curves of every member of every arm, from stored rows only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lopsided.core.spec import Spec
from lopsided.store.parts import Store
from lopsided.store.rows import connect


@dataclass(frozen=True)
class Arm:
    """One arm's members; T evaluations, M members in the order of `seeds`."""

    name: str
    spec: Spec
    seeds: tuple[int, ...]
    steps: np.ndarray  # (T,)
    samples: np.ndarray  # (T,) compute: samples seen, repeats counted
    distinct: np.ndarray  # (T,) data: distinct samples
    seconds: float  # computing time of the ensemble that the arm was part of
    diverged: np.ndarray  # (M,) bool
    values: Mapping[str, np.ndarray] = field(repr=False)  # metric -> (M, T); NaN from divergence on

    def metric(self, name: str) -> np.ndarray:
        """(M, T) values of a metric; an accuracy is 0 from divergence on."""
        values = self.values[name]
        return np.nan_to_num(values, nan=0.0) if name.endswith("accuracy") else values

    def final(self, name: str) -> np.ndarray:
        """(M,) values at the last evaluation."""
        return self.metric(name)[:, -1]


@dataclass(frozen=True)
class Results:
    """Arms by name, with the recipe and scale that asked for them."""

    recipe: str
    scale: str
    arms: Mapping[str, Arm]

    def __getitem__(self, name: str) -> Arm:
        return self.arms[name]


def load(
    store: Store, recipe: str, scale: str, specs: Mapping[str, Spec], seeds: Mapping[str, int | Sequence[int]]
) -> Results | None:
    """Results of those arms with seeds 0 .. n-1 each (or the seeds given), or None while a member is missing."""
    complete = store.complete()
    asked = {name: tuple(range(s)) if isinstance(s, int) else tuple(sorted(s)) for name, s in seeds.items()}
    if not all((spec.content_hash(), s) in complete for name, spec in specs.items() for s in asked[name]):
        return None
    with connect(store) as con:
        arms = {name: _arm(con, name, spec, asked[name]) for name, spec in specs.items()}
    return Results(recipe, scale, arms)


def _arm(con: object, name: str, spec: Spec, seeds: tuple[int, ...]) -> Arm:
    rows = con.execute(  # type: ignore[attr-defined]
        "SELECT seed, step, samples, distinct_samples, seconds, diverged, metric, value FROM rows "
        "WHERE spec = ? AND list_contains(?, seed) ORDER BY metric, seed, step",
        [spec.content_hash(), list(seeds)],
    ).fetchnumpy()
    metric = np.asarray(rows["metric"])
    names = sorted(set(metric.tolist()))
    evaluations = len(metric) // (len(names) * len(seeds))
    shape = (len(names), len(seeds), evaluations)
    if evaluations * len(names) * len(seeds) != len(metric):
        raise RuntimeError(f"store: arm {name!r} has {len(metric)} rows, not a multiple of {shape}")
    value = np.ma.filled(np.ma.asarray(rows["value"], dtype=np.float64), np.nan).reshape(shape)
    axis = {c: np.asarray(rows[c]).reshape(shape)[0, 0] for c in ("step", "samples", "distinct_samples", "seconds")}
    diverged = np.asarray(rows["diverged"]).reshape(shape)[0, :, -1]
    return Arm(
        name,
        spec,
        seeds,
        axis["step"],
        axis["samples"],
        axis["distinct_samples"],
        float(axis["seconds"][-1]),
        diverged.astype(bool),
        dict(zip(names, value, strict=True)),
    )
