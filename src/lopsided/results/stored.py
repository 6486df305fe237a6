"""What recipes, verdicts and reports read: curves of every member of every arm, from stored rows only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Literal, get_args

import numpy as np

from lopsided.core.arms import ArmSpec, lies
from lopsided.core.errors import InputError, MissingData, StoreError, unknown
from lopsided.core.spec import Spec
from lopsided.stats.times import Times, time_to_reach, times_until
from lopsided.store.members import read_rows
from lopsided.store.parts import Store

Axis = Literal["steps", "samples", "distinct"]


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
    values: Mapping[str, np.ndarray] = field(repr=False)  # metric -> (M, T) or (M, T, ...); NaN from divergence on
    coordinates: Mapping[str, Any] = field(default_factory=dict)
    """Where the arm lies among its recipe's arms; see `lopsided.core.arms.ArmSpec`."""
    swept: tuple[str, ...] = ()

    def metric(self, name: str) -> np.ndarray:
        """(M, T) values of a metric, or (M, T, ...) of an array; `strength/2` is the second item of `strength`.
        An accuracy is 0 from divergence on. Raises `MissingData` if it was not measured."""
        whole, _, item = name.rpartition("/")
        try:
            values = self.values[name]
        except KeyError:
            items = self.values[whole].shape[2:] if whole in self.values else ()
            if len(items) != 1 or not item.isdecimal() or not 1 <= int(item) <= items[0]:
                known = f"{whole}/1 to {whole}/{items[0]}" if len(items) == 1 else ", ".join(sorted(self.values)[:12])
                raise MissingData(f"arm {self.name!r} has no metric {name!r}; it has {known}") from None
            values = self.values[whole][:, :, int(item) - 1]
        return np.nan_to_num(values, nan=0.0) if name.endswith("accuracy") else values

    def final(self, name: str) -> np.ndarray:
        """(M,) or (M, ...) values at the last evaluation."""
        return self.metric(name)[:, -1]

    def times(self, metric: str, at: float, axis: Axis = "samples") -> Times:
        """Where on the axis each member's metric reaches `at` (a loss: falls to it) and still holds at the next
        evaluation."""
        return time_to_reach(self.along(axis), metric, self.metric(metric), at)

    def along(self, axis: str) -> np.ndarray:
        """(T,) `steps`, `samples` or `distinct`. Raises `InputError` for anything else."""
        if axis not in get_args(Axis):
            raise unknown("axis", axis, get_args(Axis))
        return getattr(self, axis)

    def times_by_its_rule(self, axis: Axis = "steps") -> Times:
        """Where on the axis each member has learned, by the spec's own rule (`until`)."""
        if self.spec.until is None:
            raise MissingData(f"arm {self.name!r} has no rule that says when a member has learned")
        return times_until(self.along(axis), self.metric(self.spec.until.metric), self.spec.until)

    def of_seeds(self, seeds: Collection[int]) -> Arm:
        """The arm with the members of these seeds alone."""
        kept = np.isin(self.seeds, list(seeds))
        return replace(
            self,
            seeds=tuple(seed for seed in self.seeds if seed in seeds),
            diverged=self.diverged[kept],
            values={name: values[kept] for name, values in self.values.items()},
        )

    def setting(self, path: str) -> Any:
        """A setting of the arm's spec, for example `optimizer.lr`."""
        return attrgetter(path)(self.spec)


@dataclass(frozen=True, eq=False)
class Results:
    """Arms by name, with the recipe and scale that asked for them."""

    recipe: str
    scale: str
    arms: Mapping[str, Arm]
    chooser: int | None = None
    """The fold of seeds that chooses among swept settings for all others; None: see `lopsided.results.sweeps`."""
    frozen: tuple[str, ...] = ()
    """Arms that other seeds have chosen as the best of their sweeps, the best of all first; these seeds choose
    nothing."""

    def __getitem__(self, name: str) -> Arm:
        if name not in self.arms:
            raise unknown("arm", name, self.arms)
        return self.arms[name]

    def __contains__(self, name: object) -> bool:
        return name in self.arms

    def __iter__(self) -> Iterator[str]:
        return iter(self.arms)

    def __len__(self) -> int:
        return len(self.arms)

    def where(self, **coordinates: Any) -> list[Arm]:
        """Arms with these coordinates, in the recipe's order. A function says which values will do; None asks for arms
        without that coordinate."""
        return [arm for arm in self.arms.values() if lies(arm.coordinates, coordinates)]

    def of(self, names: Iterable[str]) -> Results:
        """The results of these arms alone, in the recipe's order."""
        kept = set(names)
        return replace(self, arms={name: arm for name, arm in self.arms.items() if name in kept})

    def at_common_seeds(self) -> Results:
        """The results of the seeds that every arm has. (The looks of `--until-decided` train an arm only as long as an
        open claim reads it, and figures pair members of several arms.)"""
        common = set.intersection(*(set(arm.seeds) for arm in self.arms.values()))
        if all(len(arm.seeds) == len(common) for arm in self.arms.values()):
            return self
        return replace(self, arms={name: arm.of_seeds(common) for name, arm in self.arms.items()})

    def arm(self, **coordinates: Any) -> Arm:
        """The one arm with these coordinates. Raises `InputError` if there is none or more than one."""
        found = self.where(**coordinates)
        if len(found) != 1:
            names = ", ".join(arm.name for arm in found) or "none"
            raise InputError(f"recipe {self.recipe!r}: one arm has to lie at {coordinates}, found {names}")
        return found[0]

    def values(self, coordinate: str) -> list[Any]:
        """The values that a coordinate has among the arms, in the recipe's order."""
        return list(dict.fromkeys(a.coordinates[coordinate] for a in self.arms.values() if coordinate in a.coordinates))


def load(
    store: Store,
    recipe: str,
    scale: str,
    specs: Mapping[str, Spec],
    seeds: Mapping[str, int | Sequence[int]],
    planned: Mapping[str, ArmSpec] | None = None,
) -> Results | None:
    """Results of those arms with seeds 0 .. n-1 each (or the seeds given), or None while a member is missing.

    `planned` has the arms' coordinates by name.
    """
    asked = {name: tuple(range(s)) if isinstance(s, int) else tuple(sorted(s)) for name, s in seeds.items()}
    digests = {name: spec.content_hash() for name, spec in specs.items()}
    wanted = {digests[name]: asked[name] for name in specs}
    found = _read(store.as_of_now(), wanted)
    if found is None:
        return None
    arms = {}
    for name, spec in specs.items():
        if digests[name] not in found:
            raise StoreError(f"arm {name!r} has no rows: somebody altered the folder's parts")
        arms[name] = arm_of(found[digests[name]], name, spec, asked[name])
        if planned and name in planned:
            arms[name] = replace(arms[name], coordinates=planned[name].coordinates, swept=planned[name].swept)
    return Results(recipe, scale, arms)


def _read(store: Store, seeds: Mapping[str, Sequence[int]]) -> dict[str, dict[str, np.ndarray]] | None:
    """Rows of every spec's seeds, ordered by metric, seed and step: one query for all of them. None if one is
    missing."""
    import duckdb

    pairs = [(digest, s) for digest, many in seeds.items() for s in many]
    if not set(pairs) <= set(store.complete()):
        return None
    try:
        return rows_of(store, pairs)
    except duckdb.IOException:  # parts were merged since we looked
        return rows_of(Store(store.root), pairs)


def rows_of(
    store: Store, pairs: Sequence[tuple[str, int]], half_done: bool = False
) -> dict[str, dict[str, np.ndarray]]:
    """Rows of members (content hash, seed), by content hash; `half_done`: also of those that are not complete."""
    survey = store.survey()
    known = {**survey.jobs_begun, **survey.complete} if half_done else survey.complete
    rows = read_rows(store, {pair: known[pair] for pair in pairs if pair in known})
    spec = np.asarray(rows["spec"])
    if not len(spec):  # committed before the first evaluation
        return {}
    starts = np.flatnonzero(np.append(True, spec[1:] != spec[:-1]))
    ends = np.append(starts[1:], len(spec))
    return {spec[i]: {name: column[i:j] for name, column in rows.items()} for i, j in zip(starts, ends, strict=True)}


def arm_of(
    rows: Mapping[str, np.ndarray], name: str, spec: Spec, seeds: Sequence[int], reached: int | None = None
) -> Arm:
    """An arm's rows as matrices. Members that left early (`until`) keep their last values to the end of the run, or to
    the step that an unfinished one has reached."""
    metric, step = np.asarray(rows["metric"]), np.asarray(rows["step"])
    member = np.searchsorted(seeds, np.asarray(rows["seed"]))
    points = np.unique(step) if spec.until is None else np.array(spec.evaluation.points(spec.steps))
    steps = points[points <= (spec.steps if reached is None else reached)]
    shape = len(seeds), len(steps)
    diverged = np.zeros(shape, bool)
    at = np.searchsorted(steps, step)
    diverged[member, at] = np.asarray(rows["diverged"])
    last = np.zeros(len(seeds), int)
    np.maximum.at(last, member, at)
    kept = np.minimum(np.arange(len(steps)), last[:, None])  # (M, T) the evaluation whose values stand at each time
    values: dict[str, np.ndarray] = {}
    names, starts = np.unique(metric, return_index=True)  # sorted, as the rows are
    for each, i, j in zip(names.tolist(), starts, [*starts[1:], len(metric)], strict=True):
        _complete(each, at[i:j], shape, spec, name)
        found = _values(rows, slice(i, j), (member[i:j], at[i:j]), shape)
        values[each] = np.take_along_axis(found, kept.reshape(*shape, *[1] * (found.ndim - 2)), axis=1)
    samples, distinct = (_axis(np.asarray(rows[c], float), steps, member, at) for c in ("samples", "distinct_samples"))
    if "plan/distinct" in values:  # members differ, and one that left keeps its own count
        distinct = values["plan/distinct"].mean(0)
    return Arm(
        name,
        spec,
        tuple(seeds),
        steps,
        samples,
        distinct,
        float(np.asarray(rows["seconds"]).max()),
        np.asarray(diverged.any(1)),
        values,
    )


def _values(rows: Mapping[str, np.ndarray], of: slice, at: tuple[np.ndarray, np.ndarray], shape: tuple) -> np.ndarray:
    """(M, T) or (M, T, ...) values of one metric; NaN where there is no row."""
    there = np.flatnonzero(~np.ma.getmaskarray(rows["elements"][of]))
    if not len(there):
        found = np.full(shape, np.nan)
        found[at] = np.ma.filled(np.ma.asarray(rows["value"][of], dtype=np.float64), np.nan)
        return found
    arrays, shapes = (np.ma.getdata(rows[name][of])[there] for name in ("elements", "shape"))
    each = tuple(int(n) for n in shapes[0])  # a metric's arrays are all of one shape
    found = np.full((*shape, *each), np.nan)
    # One copy of all of them: millions of small arrays, one by one, took two fifths of the time to decide a recipe.
    found[tuple(axis[there] for axis in at)] = np.concatenate(arrays).reshape(len(there), *each)
    return found


def _axis(column: np.ndarray, steps: np.ndarray, member: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(T,) mean over the members that were there of a count that rises with training. Where every member had left, a
    straight line: between rows, or on from the last one."""
    total, present = np.zeros(len(steps)), np.zeros(len(steps))
    once = np.unique(member * len(steps) + at, return_index=True)[1]  # rows of all metrics say the same
    np.add.at(total, at[once], column[once])
    np.add.at(present, at[once], 1)
    known = np.flatnonzero(present)
    found = np.interp(steps, steps[known], total[known] / present[known])
    last = known[-1]
    found[last + 1 :] = found[last] * steps[last + 1 :] / steps[last]
    return found


def _complete(metric: str, at: np.ndarray, shape: tuple[int, int], spec: Spec, arm: str) -> None:
    """Every metric has a row per member and evaluation (`at` which, by row), or per member if a probe measures it once,
    at the end, or two of each member, at the first and at the last (published rows of which nothing between is read).
    """
    if spec.until is not None:
        return
    members, evaluations = shape
    everywhere = len(at) == members * evaluations
    at_the_end = len(at) == members and any(probe.n_checkpoints for probe in spec.probes)
    at_both_ends = len(at) == 2 * members and set(at.tolist()) == {0, evaluations - 1}
    if not (everywhere or at_the_end or at_both_ends):
        raise StoreError(
            f"arm {arm!r} has {len(at):,} rows of {metric!r}, not {members} x {evaluations}: the folder's parts were "
            "altered"
        )
