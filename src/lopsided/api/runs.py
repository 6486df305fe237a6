"""Runs of anybody's: one table of arms, runs, steps and values, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lopsided.core.errors import InputError, unknown
from lopsided.logs.run import Run
from lopsided.stats.crossing import Track

if TYPE_CHECKING:
    from lopsided.api.comparing import Comparison
    from lopsided.api.curves import Ragged
    from lopsided.api.verdict import Verdict


AXES = ("steps", "seconds")


@dataclass(frozen=True)
class Runs:
    """Runs by arm: `runs.compare("baseline", "mine", "val_loss").faster(at=3.28)`."""

    all: tuple[Run, ...]
    notes: tuple[str, ...] = ()
    """What was assumed when they were read, and what was not understood."""

    def __len__(self) -> int:
        return len(self.all)

    @property
    def arms(self) -> dict[str, tuple[Run, ...]]:
        """Runs by arm, in order of appearance."""
        found: dict[str, list[Run]] = {}
        for run in self.all:
            found.setdefault(run.arm, []).append(run)
        return {arm: tuple(runs) for arm, runs in found.items()}

    @property
    def metrics(self) -> list[str]:
        """Every metric that any run has."""
        return sorted({metric for run in self.all for metric in run.metrics})

    def where(self, keep: Callable[[Run], bool]) -> Runs:
        """The runs that a function keeps."""
        return replace(self, all=tuple(run for run in self.all if keep(run)))

    def curves(self, arm: str, metric: str, axis: str = "steps", diverged: Literal["nan"] | None = None) -> Ragged:
        """An arm's runs along `steps` or `seconds`, each with the evaluations that it has. NaN in the log to a run's
        end means that it diverged; with other NaN it was not evaluated there. Raises `InputError` for what is not
        there."""
        from lopsided.api.curves import Ragged

        runs = self.arms.get(arm)
        if runs is None:
            raise unknown("arm", arm, self.arms)
        if axis not in AXES:
            raise unknown("axis", axis, AXES)
        having = [run for run in runs if metric in run.metrics]
        if not having:
            raise unknown("metric", metric, {name for run in runs for name in run.metrics})
        tracks, lost = [], 0
        for run in having:
            track = _track(run, metric, axis)
            lost += track.diverged
            tracks.append(track)
        seeds = [run.seed for run in having]
        named = tuple(seeds) if None not in seeds and len(set(seeds)) == len(seeds) else None
        notes = [
            f"{arm}: {len(runs) - len(having)} of {len(runs)} runs have no {metric}" if len(having) < len(runs) else "",
            f"{arm}: {lost} of {len(having)} runs diverged: from there on they get nowhere" if lost else "",
        ]
        return Ragged(arm, tuple(tracks), axis, named, tuple(filter(None, notes)))

    def compare(
        self,
        baseline: str,
        candidate: str,
        metric: str,
        axis: str = "steps",
        falling: bool | None = None,
        paired: bool | None = None,
        held: bool = False,
    ) -> Comparison:
        """`candidate` against `baseline`: `.faster(at=...)`, `.better()`, `.as_fast(at=...)`; see `lop.compare`. No
        difference is called negligible: to some, a percent matters."""
        from lopsided.api.comparing import Comparison

        pair = [self.curves(arm, metric, axis) for arm in (baseline, candidate)]
        return Comparison(pair[0], pair[1], metric, falling, paired, held, small=False)

    def reaches(self, arm: str, metric: str, at: float, level: float = 0.01, axis: str = "steps") -> Verdict:
        """Whether the mean of an arm's last values is at a target, from which evaluation on, and where between."""
        from lopsided.api.comparing import reaches
        from lopsided.api.curves import direction_of

        curves = self.curves(arm, metric, axis)
        falling, said = direction_of(metric, [curves], None)
        return reaches(curves, at, metric, falling, level, tuple(filter(None, [*curves.notes, said])))

    def against(
        self, baseline: str, metric: str, at: float | None = None, axis: str = "steps", paired: bool | None = None
    ) -> dict[str, Verdict]:
        """Every other arm against one, by arm: sooner at `at`, or (None) better at the end. P-values are Holm's: of m
        arms, the smallest is multiplied by m, the next by m - 1, and so on; what that leaves above 5 % is open."""
        from lopsided.api.several import against

        return against(self, baseline, metric, at, axis, paired)

    def table(self, metric: str, at: float | None = None, axis: str = "steps") -> list[dict[str, Any]]:
        """A row for each arm: runs, last values (median, lowest, highest), and with `at` the time until then (median
        and an interval), and how many never got there."""
        from lopsided.api.several import table

        return table(self, metric, at, axis)

    def __repr__(self) -> str:
        arms = self.arms
        lines = [f"{len(self.all)} runs of {len(arms)} arms; metrics: {', '.join(self.metrics[:12])}"]
        for arm, runs in list(arms.items())[:20]:
            seeds = [str(run.seed) for run in runs if run.seed is not None]
            lines.append(f"  {arm}: {len(runs)} runs" + (f", seeds {', '.join(seeds[:8])}" if seeds else ""))
        lines += [f"  and {len(arms) - 20} arms more"] if len(arms) > 20 else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def _track(run: Run, metric: str, axis: str) -> Track:
    """A run's evaluations. Raises `InputError` for a run without any, or without seconds where those are asked for."""
    points = run.metrics[metric]
    along = points.step if axis == "steps" else points.seconds
    if along is None:
        raise InputError(f"run {run.name!r} ({run.source}): its log has no times; axis='steps', or seconds= a column")
    value = points.value
    infinite = np.flatnonzero(np.isinf(value))
    value = value[: infinite[0]] if infinite.size else value
    known = np.flatnonzero(np.isfinite(value) & np.isfinite(along[: len(value)]))
    if not known.size:
        raise InputError(f"run {run.name!r} ({run.source}): {metric} has no value")
    gone = bool(infinite.size) or known[-1] < len(value) - 1
    kept, values = along[known].astype(np.float64), value[known]
    rising = np.append(True, np.diff(kept) > 0)  # two evaluations within a clock's tick are one
    last = along[np.isfinite(along)][-1]
    return Track(kept[rising], values[rising], gone, float(last) if gone else None)


def named(runs: Iterable[Run], notes: Sequence[str]) -> Runs:
    """The runs, with what was said when they were read; two of one arm and seed are said to be."""
    every, said = tuple(runs), list(notes)
    seen: dict[tuple[str, Any], list[str]] = {}
    for run in every:
        if run.seed is not None:
            seen.setdefault((run.arm, run.seed), []).append(run.source)
    twice = {key: files for key, files in seen.items() if len(files) > 1}
    if twice:
        (arm, seed), files = next(iter(twice.items()))
        where = " and ".join(files[:2])
        said.append(f"{len(twice)} seeds come more than once in an arm, {seed} of {arm!r} in {where}: not paired")
    return Runs(every, tuple(said))
