"""What recipes, verdicts and reports read: curves of every member of every arm, from stored rows only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
        found = _read(con, {spec.content_hash(): asked[name] for name, spec in specs.items()})
    arms = {name: _arm(found[spec.content_hash()], name, spec, asked[name]) for name, spec in specs.items()}
    return Results(recipe, scale, arms)


def _read(con: Any, seeds: Mapping[str, Sequence[int]]) -> dict[str, dict[str, np.ndarray]]:
    """Rows of every spec's seeds, ordered by metric, seed and step: one query for all of them."""
    pairs = [(digest, s) for digest, many in seeds.items() for s in many]
    con.register(
        "_asked",
        {
            "spec": np.array([d for d, _ in pairs], dtype=object),
            "seed": np.array([s for _, s in pairs], np.uint64),
        },
    )
    rows = con.execute(
        "SELECT r.* FROM rows r JOIN _asked a ON r.spec = a.spec AND r.seed = a.seed "
        "ORDER BY r.spec, r.metric, r.seed, r.step"
    ).fetchnumpy()
    spec = np.asarray(rows["spec"])
    starts = np.flatnonzero(np.append(True, spec[1:] != spec[:-1]))
    ends = np.append(starts[1:], len(spec))
    return {spec[i]: {name: column[i:j] for name, column in rows.items()} for i, j in zip(starts, ends, strict=True)}


def _arm(rows: Mapping[str, np.ndarray], name: str, spec: Spec, seeds: tuple[int, ...]) -> Arm:
    """An arm's rows as matrices. Members that left early (`until`) keep their last values to the end of the run."""
    metric, step = np.asarray(rows["metric"]), np.asarray(rows["step"])
    names = sorted(set(metric.tolist()))
    if spec.until is None:
        steps = np.unique(step)
    else:
        steps = np.arange(1, spec.steps // spec.evaluation.every + 1) * spec.evaluation.every
    shape = (len(names), len(seeds), len(steps))
    if spec.until is None:
        _complete(metric, names, shape, spec, name)
    place = (
        np.searchsorted(names, metric),
        np.searchsorted(seeds, np.asarray(rows["seed"])),
        np.searchsorted(steps, step),
    )
    value = np.full(shape, np.nan)
    value[place] = np.ma.filled(np.ma.asarray(rows["value"], dtype=np.float64), np.nan)
    diverged = np.zeros(shape[1:], bool)
    diverged[place[1:]] = np.asarray(rows["diverged"])
    last = np.zeros(len(seeds), int)
    np.maximum.at(last, place[1], place[2])
    kept = np.minimum(np.arange(len(steps)), last[:, None])  # (M, T) the evaluation whose values stand at each time
    value = np.take_along_axis(value, np.broadcast_to(kept, shape), axis=2)
    plan = spec.plan
    if plan.listens:  # each member has its own count
        distinct = value[names.index("plan/distinct")].mean(0)
    else:
        distinct = np.array([plan.distinct(int(s)) for s in steps])
    return Arm(
        name,
        spec,
        seeds,
        steps,
        np.array([plan.seen(int(s)) for s in steps]),
        distinct,
        float(np.asarray(rows["seconds"]).max()),
        np.asarray(diverged.any(1)),
        dict(zip(names, value, strict=True)),
    )


def _complete(metric: np.ndarray, names: list[str], shape: tuple[int, ...], spec: Spec, arm: str) -> None:
    """Every metric has a row per member and evaluation, or per member if a probe measures it once, at the end."""
    _, rows = np.unique(metric, return_counts=True)
    once = any(probe.stretches for probe in spec.probes)
    allowed = {shape[1] * shape[2], shape[1] if once else shape[1] * shape[2]}
    for each, n in zip(names, rows.tolist(), strict=True):
        if n not in allowed:
            raise RuntimeError(f"store: arm {arm!r} has {n} rows of {each!r}, not {shape[1]} x {shape[2]}")
