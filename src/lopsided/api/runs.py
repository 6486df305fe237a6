"""Runs of anybody's: one table of arms, runs, steps and values, and what can be asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from lopsided.core.errors import InputError, unknown
from lopsided.logs.run import Run

if TYPE_CHECKING:
    from lopsided.api.comparing import Comparison
    from lopsided.api.curves import Direction, Ends, Ragged
    from lopsided.api.ranking import Ranking
    from lopsided.api.tasks import Profile
    from lopsided.api.verdict import Verdict


AXES = ("steps", "seconds")


@dataclass(frozen=True)
class Runs:
    """Runs by arm: `runs.compare("baseline", "mine", "val_loss").faster(at=3.28)`.

    >>> import lopsided as lop, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "log.csv"
    ...     _ = file.write_text("arm,seed,step,loss\\nmine,0,1,0.9\\nmine,0,2,0.5\\nbase,0,1,0.9\\nbase,0,2,0.7")
    ...     runs = lop.read(file)
    >>> list(runs.arms)
    ['mine', 'base']
    """

    all: tuple[Run, ...]
    notes: tuple[str, ...] = ()
    """What was assumed when they were read, and what was not understood."""
    ends: Ends = "alike"
    """`own`: a rule of their own ended runs (early stopping), so that their last values may be compared."""
    falling: bool | None = None
    """Whether metrics get smaller with learning, where their names do not tell."""

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

    @property
    def tasks(self) -> list[str]:
        """Every task that a run names, in order of appearance."""
        return list(dict.fromkeys(run.task for run in self.all if run.task is not None))

    def of(self, task: str) -> Runs:
        """The runs of one task."""
        if task not in self.tasks:
            raise unknown("task", task, self.tasks)
        return self.where(lambda run: run.task == task)

    def where(self, keep: Callable[[Run], bool]) -> Runs:
        """The runs that a function keeps."""
        return replace(self, all=tuple(run for run in self.all if keep(run)))

    def curves(self, arm: str, metric: str, axis: str = "steps", diverged: Literal["nan"] | None = None) -> Ragged:
        """An arm's runs along `steps` or `seconds`, each with the evaluations that it has. NaN in the log to a run's
        end means that it diverged; with other NaN it was not evaluated there. Raises `InputError` for what is not
        there."""
        from lopsided.api.tracks import told

        return told(self._curves(arm, metric, axis))

    def _curves(self, arm: str, metric: str, axis: str) -> Ragged:
        """`curves`, without what is to be told of runs that count."""
        from lopsided.api.curves import Ragged
        from lopsided.api.tracks import track_of

        runs = self.arms.get(arm)
        if runs is None:
            raise unknown("arm", arm, self.arms)
        if axis not in AXES:
            raise unknown("axis", axis, AXES)
        having = [run for run in runs if metric in run.metrics]
        if not having:
            raise unknown("metric", metric, {name for run in runs for name in run.metrics})
        of = list(dict.fromkeys(str(run.task) for run in having))
        if len(of) > 1:
            raise InputError(
                f"{arm!r} has runs of {len(of)} tasks ({', '.join(of[:4])}): .of(task) takes one, .over_tasks(...) all"
            )
        tracks = [track_of(run, metric, axis) for run in having]
        seeds = [run.seed for run in having]
        named = tuple(seeds) if None not in seeds and len(set(seeds)) == len(seeds) else None
        lacking = len(runs) - len(having)
        notes = (f"{arm}: {lacking} of {len(runs)} runs have no {metric}",) if lacking else ()
        counted = {run.counts for run in having} if axis == "steps" else {axis}
        unit = counted.pop() if len(counted) == 1 else axis
        return Ragged(arm, tuple(tracks), unit, named, notes, self.ends, self.falling)

    def observed(self, arm: str, metric: str, axis: str = "steps") -> Ragged:
        """An arm's runs as `curves` gives them, each once: copies are no second observations."""
        from lopsided.api.ends import once
        from lopsided.api.tracks import told

        return told(once(self._curves(arm, metric, axis)))

    def falls(self, metric: str, axis: str = "steps") -> bool:
        """Whether a metric gets smaller with learning: by its name, else by how its curves move."""
        return self.direction(metric, axis).falling

    def direction(self, metric: str, axis: str = "steps") -> Direction:
        """Which way a metric moves with learning, and how that is known: one for all arms, since an arm that fails
        moves the other way."""
        from lopsided.api.curves import direction_of

        having = self.where(lambda run: metric in run.metrics)
        tasks = having.tasks or [None]
        curves = [
            having.where(lambda run, task=task: run.task == task).curves(arm, metric, axis)
            for task in tasks
            for arm in having.where(lambda run, task=task: run.task == task).arms
        ]
        return direction_of(metric, curves, self.falling)

    def compare(
        self,
        baseline: str,
        candidate: str,
        metric: str,
        axis: str = "steps",
        falling: bool | None = None,
        paired: bool | None = None,
        held: bool = False,
        between: Literal["line", "bounds"] = "line",
    ) -> Comparison:
        """`candidate` against `baseline`: `.faster(at=...)`, `.better()`, `.as_fast(at=...)`; see `lop.compare`. No
        difference is called negligible: to some, a percent matters."""
        from lopsided.api.comparing import Comparison

        pair = [self.observed(arm, metric, axis) for arm in (baseline, candidate)]
        return Comparison(pair[0], pair[1], metric, falling, paired, held, small=False, between=between)

    def reaches(self, arm: str, metric: str, at: float, level: float = 0.01, axis: str = "steps") -> Verdict:
        """Whether the mean of an arm's last values is at a target, from which evaluation on, and where between. Raises
        `InputError` where neither the metric's name nor the curves of all arms tell which way it moves."""
        from lopsided.api.curves import require_told
        from lopsided.api.reaching import reaches

        curves, way = self.observed(arm, metric, axis), self.direction(metric, axis)
        require_told(way)
        return reaches(curves, at, metric, way.falling, level, tuple(filter(None, [*curves.notes, way.said])))

    def against(
        self,
        baseline: str,
        metric: str,
        at: float | None = None,
        axis: str = "steps",
        paired: bool | None = None,
        between: Literal["line", "bounds"] = "line",
    ) -> dict[str, Verdict]:
        """Every other arm against one, by arm: sooner at `at`, or (None) better at the end. P-values are Holm's: of m
        arms, the smallest is multiplied by m, the next by m - 1, and so on; what that leaves above 5 % is open."""
        from lopsided.api.several import against

        return against(self, baseline, metric, at, axis, paired, between)

    def ranking(self, metric: str, at: float | None = None, axis: str = "steps", paired: bool | None = None) -> Ranking:
        """All arms in order, by times to `at` or by last values, with letters: arms that share one are not told apart.
        Every pair is tested, with Holm's p-values over all pairs."""
        from lopsided.api.ranking import ranking

        return ranking(self, metric, at, axis, paired)

    def best(self, over: str | Sequence[str], metric: str, at: float | None = None, axis: str = "steps") -> Runs:
        """Runs of which each arm is at its best setting of `over`, names of its configuration (or columns that stand
        still): `runs.best("lr", "val_loss", at=3.28).compare(...)`. Seeds fall into three folds; each fold's runs are
        those of the setting that the other two choose, so that no run is judged that chose. Notes say what was chosen,
        and where it lies at an end of what was tried. Raises `InputError` where a run has no seed or setting."""
        from lopsided.api.sweeps import best

        return best(self, over, metric, at, axis)

    def over_tasks(
        self,
        baseline: str,
        candidate: str,
        metric: str,
        at: float | Mapping[str, float] | None = None,
        axis: str = "steps",
        paired: bool | None = None,
    ) -> Verdict:
        """`candidate` against `baseline` on every task that both have (`read(task=...)`), stratified by task. `at`: a
        goal, or a goal by task; the effect is the geometric mean over tasks of the ratio of times. None: last values;
        the effect is the probability that a run of the candidate ends better."""
        from lopsided.api.tasks import over_tasks

        return over_tasks(self, baseline, candidate, metric, at, axis, paired)

    def profile(self, metric: str, at: float | Mapping[str, float], axis: str = "steps") -> Profile:
        """For each arm the share of tasks on which it gets to the goal within a factor of the fastest arm, with bands,
        and a score; `lopsided.api.tasks.Profile`."""
        from lopsided.api.tasks import profile

        return profile(self, metric, at, axis)

    def table(self, metric: str, at: float | None = None, axis: str = "steps") -> list[dict[str, Any]]:
        """A row for each arm: runs, last values (median, lowest, highest), and with `at` the time until then (median
        and an interval), and how many never got there."""
        from lopsided.api.several import table

        return table(self, metric, at, axis)

    def __repr__(self) -> str:
        arms = self.arms
        lines = [f"{len(self.all)} runs of {len(arms)} arms; metrics: {', '.join(self.metrics[:12])}"]
        for arm, runs in list(arms.items())[:20]:
            seeds = list(dict.fromkeys(str(run.seed) for run in runs if run.seed is not None))
            more = f" and {len(seeds) - 8} more" if len(seeds) > 8 else ""
            lines.append(f"  {arm}: {len(runs)} runs" + (f", seeds {', '.join(seeds[:8])}{more}" if seeds else ""))
        lines += [f"  and {len(arms) - 20} arms more"] if len(arms) > 20 else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def named(runs: Iterable[Run], notes: Sequence[str], settings: Sequence[str] = ()) -> Runs:
    """The runs, with what was said when they were read; two of one arm, task, seed and settings are said to be."""
    every, said = tuple(runs), list(notes)
    seen: dict[tuple[Any, ...], list[str]] = {}
    swept = {arm: _varied([run.config for run in every if run.arm == arm], settings) for arm in {r.arm for r in every}}
    for run in every:
        if run.seed is not None:
            own = (str(run.config.get(name)) for name in (*settings, *swept[run.arm]))
            seen.setdefault((run.arm, run.seed, run.task, *own), []).append(run.source)
    said += pooled(every, settings)
    twice = {key: files for key, files in seen.items() if len(files) > 1}
    if twice:
        (arm, seed, *_), files = next(iter(twice.items()))
        where = " and ".join(files[:2])
        said.append(f"{len(twice)} seeds come more than once in an arm, {seed} of {arm!r} in {where}: not paired")
    return Runs(every, tuple(said))


MOST_VARIED = 3
"""Settings of logs that are named: a configuration may have hundreds, and the first ones tell what happened."""


def _varied(configs: Sequence[Mapping[str, Any]], known: Collection[str]) -> list[str]:
    """Settings, beside the `known` ones, that have several values in an arm's logs, each in at least two runs: what is
    different in every run is a name or a seed."""
    found = []
    for name in dict.fromkeys(name for config in configs for name in config):
        counts = Counter(str(config.get(name)) for config in configs)
        if name not in known and "seed" not in str(name).lower() and len(counts) > 1 and min(counts.values()) > 1:
            found.append(name)
    return found[:MOST_VARIED]


def pooled(runs: Sequence[Run], settings: Sequence[str]) -> list[str]:
    """A note for each arm that has runs of several values of a setting: they are taken together."""
    said = []
    for arm in dict.fromkeys(run.arm for run in runs):
        for name in [*settings, *_varied([run.config for run in runs if run.arm == arm], settings)]:
            values = list(dict.fromkeys(str(run.config.get(name)) for run in runs if run.arm == arm))
            if len(values) > 1:
                which = ", ".join(values[:4]) + (", …" if len(values) > 4 else "")
                said.append(f"{arm}: runs of {len(values)} values of {name} ({which}) are taken together, unless it is "
                            f"swept (--sweep {name}; .best({name!r}, ...))")  # fmt: skip
    return said
