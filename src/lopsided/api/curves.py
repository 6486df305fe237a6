"""Learning curves of anybody's runs: on one axis, or each with its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.core.telling import counted
from lopsided.stats.crossing import Track
from lopsided.stats.signflip import FEWEST
from lopsided.stats.times import falls_by_name

TOGETHER = 0.75
"""Share of runs that have to move the same way, for that to be taken for learning: of flat noise a half do."""
UNTOLD = "neither its name nor its curves say whether it falls or rises with learning"
LITTLE = 0.1
"""A correlation of paired members below this is said to be none."""


WHOLE = 0.98
"""Share of an arm's longest run from which on a run counts as one that was trained to the end. At 0.92, equal arms
whose loss still fell were "contradicted" (tests/faults/test_fifth_trial.py)."""
CLOCK = frozenset({"s", "sec", "seconds", "min", "minutes", "h", "hours", "days", "time"})
"""Units of an axis on which one arm may be slower than another."""
Ends = Literal["alike", "own"]
"""Whether the runs of an arm should be of one length, or end by a rule of their own (early stopping)."""


class Curves(NamedTuple):
    """Members' learning curves from anywhere.

    `axis` (T,): samples, steps or seconds, rising. `values` (M, T): a metric of each of M runs. `seeds` (M,): what two
    sides have in common where they have it.

    >>> import lopsided as lop, numpy as np
    >>> axis = np.arange(1, 31) * 100
    >>> accuracy = 1 - np.exp(-axis / 900) * np.linspace(0.9, 1.1, 8)[:, None]
    >>> mine = lop.Curves("mine", axis, accuracy, "samples", seeds=range(8))
    >>> mine.values.shape
    (8, 30)
    """

    name: str
    axis: np.ndarray
    values: np.ndarray
    unit: str = "samples"
    seeds: Sequence[Any] | None = None


class Ragged(NamedTuple):
    """An arm whose runs have evaluations of their own."""

    name: str
    tracks: tuple[Track, ...]
    unit: str
    seeds: tuple[Any, ...] | None = None
    notes: tuple[str, ...] = ()
    """What was assumed about its values."""
    ends: Ends = "alike"
    falling: bool | None = None
    """Whether the metric gets smaller with learning, where somebody said it."""

    @property
    def in_time(self) -> bool:
        """Whether the axis is a clock's."""
        return self.unit.lower() in CLOCK

    @property
    def uneven(self) -> str:
        """Which runs end long before the longest one, in words: their last values are of another length of training.
        Empty where there are none, or where a rule of their own ended runs."""
        whole = [track for track in self.tracks if not track.diverged]
        if self.ends == "own" or not whole:
            return ""
        longest = max(whole, key=lambda track: float(track.axis[-1]))
        end, most = float(longest.axis[-1]), len(longest.axis)
        # In seconds, runs of one length end at times of their own: they have as many evaluations.
        short = [t for t in whole if t.axis[-1] < WHOLE * end and not (self.in_time and len(t.axis) >= most)]
        if not short:
            return ""
        by = max(float(track.axis[-1]) for track in short)
        return f"{len(short)} of {len(self.tracks)} runs of {self.name} end by {by:,g} of {end:,g} {self.unit}"

    @property
    def final(self) -> np.ndarray:
        """(M,) last values; NaN of a run that diverged."""
        return np.array([np.nan if track.diverged else track.value[-1] for track in self.tracks])


def ragged(curves: Curves | Ragged, diverged: Literal["nan"] | None = None) -> Ragged:
    """The runs, each with the evaluations that it has. Raises `InputError` for what does not fit, and for a run without
    any value.

    NaN between values: not evaluated there. NaN to the end: the run ended before, or, with `diverged="nan"`, it
    diverged. An infinite value: it diverged there.
    """
    if isinstance(curves, Ragged):
        return curves
    if not isinstance(curves, Curves):
        raise InputError(f"curves: a {type(curves).__name__} is none; valid is lopsided.Curves(name, axis, values)")
    curves = _checked(curves)
    tracks, missing, ended, lost = [], 0, 0, 0
    for number, row in enumerate(curves.values):
        infinite = np.flatnonzero(np.isinf(row))
        row = row[: infinite[0]] if infinite.size else row
        known = np.flatnonzero(np.isfinite(row))
        if not known.size and not infinite.size:
            raise InputError(f"compare: run {number} of {curves.name!r} has no value")
        if not known.size:  # it diverged before it was evaluated
            tracks.append(Track(curves.axis[:1], np.array([np.nan]), True, float(curves.axis[-1])))
            lost += 1
            continue
        last = int(known[-1])
        short = last < len(row) - 1
        missing, ended = missing + last + 1 - len(known), ended + (short and not infinite.size)
        gone = bool(infinite.size) or (short and diverged == "nan")
        lost += gone
        tracks.append(Track(curves.axis[known], row[known], gone, float(curves.axis[-1]) if gone else None))
    notes = [
        f"{curves.name}: {missing:,} values between others are missing, taken as not evaluated" if missing else "",
        f"{curves.name}: {ended} of {len(tracks)} runs end before the others (diverged='nan' if they diverged)"
        if ended and diverged is None
        else "",
        f"{curves.name}: {lost} of {len(tracks)} runs diverged: from there on they get nowhere" if lost else "",
    ]
    seeds = None if curves.seeds is None else tuple(curves.seeds)
    return Ragged(curves.name, tuple(tracks), curves.unit, seeds, tuple(filter(None, notes)))


def matched(a: Ragged, b: Ragged, paired: bool | None) -> tuple[Ragged, Ragged, bool, str]:
    """The two arms with their members in one order, whether they are paired, and what to say about it.

    By seed, where both have named seeds of which at least FEWEST are the same. `paired=True` without seeds: by their
    place. Raises `InputError` where that is asked for and cannot be.
    """
    if paired is False:
        return a, b, False, ""
    if a.seeds is not None and b.seeds is not None:
        for arm in (a, b):
            if len(set(arm.seeds or ())) < len(arm.tracks):
                raise InputError(f"compare: {arm.name!r} has one seed twice; name the runs apart, or paired=False")
        both = [seed for seed in a.seeds if seed in set(b.seeds)]
        if both and len(both) < FEWEST:
            return a, b, False, f"{len(both)} common seeds are too few to pair runs ({FEWEST}): compared as independent"
        if both:
            left = len(a.seeds) + len(b.seeds) - 2 * len(both)
            said = f"left out: {counted(left, 'run')} whose seed the other side lacks" if left else ""
            return _chosen(a, both), _chosen(b, both), True, said or _uncorrelated(_chosen(a, both), _chosen(b, both))
        if paired:
            raise InputError(f"compare: {a.name!r} and {b.name!r} have no seed in common")
        return a, b, False, "the sides have no seed in common: compared as independent runs"
    if paired:
        if len(a.tracks) != len(b.tracks):
            raise InputError(
                f"compare: paired, but {len(a.tracks)} and {len(b.tracks)} runs; name seeds, or leave it out"
            )
        return a, b, True, _uncorrelated(a, b)
    return a, b, False, "compared as independent runs (named seeds would pair them)"


def _chosen(arm: Ragged, seeds: Sequence[Any]) -> Ragged:
    assert arm.seeds is not None
    place = {seed: i for i, seed in enumerate(arm.seeds)}
    return arm._replace(tracks=tuple(arm.tracks[place[seed]] for seed in seeds), seeds=tuple(seeds))


def _uncorrelated(a: Ragged, b: Ragged) -> str:
    """What to say where pairing brings nothing: last values of both sides have nothing in common."""
    x, y = a.final, b.final
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < FEWEST or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
        return ""
    r = float(np.corrcoef(x[known], y[known])[0, 1])
    return f"paired, though last values of one seed hardly go together (r = {r:.2f})" if r < LITTLE else ""


class Direction(NamedTuple):
    """Which way a metric moves with learning."""

    falling: bool
    said: str = ""
    """What was assumed, in words."""
    told: bool = True
    """Whether its name, its curves or somebody says so."""


def direction_of(metric: str, arms: Sequence[Ragged], falling: bool | None) -> Direction:
    """Which way the metric moves: as was said, as its name says, or as most curves do."""
    known = next((each for each in (falling, *(arm.falling for arm in arms)) if each is not None), None)
    if known is not None:
        return Direction(known)
    if (named := falls_by_name(metric)) is not None:
        return Direction(named)
    moves = np.array([track.value[-1] - track.value[0] for arm in arms for track in arm.tracks])
    down, up = float(np.mean(moves < 0)), float(np.mean(moves > 0))
    if max(down, up) < TOGETHER:
        return Direction(down > up, f"{metric}: {UNTOLD}", told=False)
    way = "falls" if down > up else "rises"
    return Direction(down > up, f"{metric} {way} in these curves, which is taken for learning")


def require_told(direction: Direction) -> None:
    """Raise `InputError` where nothing tells which way a metric moves with learning."""
    if not direction.told:
        raise InputError(f"compare: {direction.said}; say it: falling=True or False (--direction falls or rises)")


def values_of(name: str, values: Any) -> np.ndarray:
    """(M, T) numbers. Raises `InputError` for anything else."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"compare: {name} has to be numbers, one row for each run; runs of unequal length end in NaN"
        ) from None
    if found.ndim != 2 or not found.size:
        raise InputError(f"compare: {name} has shape {found.shape}; valid is (seeds, evaluations)")
    return found


def _checked(curves: Curves) -> Curves:
    """With arrays. Raises `InputError` for what does not fit."""
    values = values_of(curves.name, curves.values)
    try:
        axis = np.asarray(curves.axis, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"compare: the axis of {curves.name!r} has to be numbers") from None
    if axis.shape != values.shape[1:]:
        raise InputError(
            f"compare: {curves.name!r} has values {values.shape} on an axis {axis.shape}; valid are (M, T) and (T,)"
        )
    if not (np.diff(axis) > 0).all() or not np.isfinite(axis).all() or axis[0] < 0:
        raise InputError(f"compare: the axis of {curves.name!r} has to rise, from 0 or more")
    if curves.seeds is not None and len(curves.seeds) != len(values):
        raise InputError(f"compare: {curves.name!r} has {len(values)} runs and {len(curves.seeds)} seeds")
    return curves._replace(axis=axis, values=values)
