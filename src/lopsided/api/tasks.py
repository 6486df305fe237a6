"""Two arms, or all of them, over several tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lopsided.api.comparing import Comparison
from lopsided.api.ends import REMEDY, of_uneven_ends, uneven
from lopsided.api.verdict import Verdict
from lopsided.core.errors import InputError, unknown
from lopsided.stats import stratified
from lopsided.stats.decisions import LEVEL, of_comparison
from lopsided.stats.signflip import SEED
from lopsided.stats.times import Times, median
from lopsided.stats.verdict import Claim

if TYPE_CHECKING:
    from lopsided.api.runs import Runs

Goals = float | Mapping[str, float]
"""One goal for all tasks, or a goal for each."""
RESAMPLED = 999
"""Draws, fewer than for a verdict: these bands are shown, not tested, one for each arm and task."""
FARTHEST = 4.0
"""Times the fastest arm's time up to which a profile is drawn and scored, as AlgoPerf does."""


def over_tasks(
    runs: Runs, baseline: str, candidate: str, metric: str, at: Goals | None, axis: str, paired: bool | None
) -> Verdict:
    """See `Runs.over_tasks`."""
    tasks = _common(runs, (baseline, candidate))
    each = {task: runs.of(task).compare(baseline, candidate, metric, axis, paired=paired) for task in tasks}
    notes = list(dict.fromkeys(note for task, found in each.items() for note in _named(task, found.notes)))
    together = all(found.paired for found in each.values())
    if at is None:
        finals = [found.finals() for found in each.values()]
        sign = -1.0 if each[tasks[0]].falling else 1.0
        found = stratified.compare_values([(sign * b, sign * c) for b, c in finals], 1 - LEVEL)
        decision = of_comparison(f"that a run of {candidate} ends better than one of {baseline}", found, 0.5)
        said = f"{candidate} ends with a better {metric} than {baseline}, over {len(tasks)} tasks"
        shares = {task: float(np.mean(c < b) if each[task].falling else np.mean(c > b))
                  for task, (b, c) in zip(tasks, _medians(finals), strict=True)}  # fmt: skip
        ahead = sum(share > 0 for share in shares.values())
        where = f"the median is better in {ahead} of {len(tasks)} tasks"
        ends = [note for task, c in each.items() for note in _named(task, uneven((c.baseline, c.candidate)))]
        if ends:
            decision, notes = of_uneven_ends(decision), [*notes, *dict.fromkeys(ends), REMEDY]
    else:
        goals = _goals(at, tasks)
        times = [found.times(goals[task]) for task, found in each.items()]
        found = stratified.compare_times(times, 1 - LEVEL, together)
        decision = of_comparison(f"{axis}, {baseline} / {candidate}", found, 1.0)
        said = f"{candidate} reaches the goals of {len(tasks)} tasks in fewer {axis} than {baseline}"
        ratios = {task: _ratio(slow, fast) for task, (slow, fast) in zip(tasks, times, strict=True)}
        least = min(ratios, key=lambda task: np.nan_to_num(ratios[task], nan=1.0))
        ahead = sum(ratio > 1 for ratio in ratios.values())
        where = f"faster in {ahead} of {len(tasks)} tasks; least in {least} ({ratios[least]:.3g} times)"
    members = sum(len(arm.tracks) for found in each.values() for arm in (found.baseline, found.candidate))
    return Verdict(Claim.of(said, decision._replace(members=members)), (where, *notes))


class Profile(NamedTuple):
    """For each arm the share of tasks on which its median time is at most a factor of the fastest arm's (E. Dolan, J.
    Moré, 2002)."""

    factors: np.ndarray
    """(F,) from 1 to 4."""
    shares: dict[str, np.ndarray]
    """(F,) of each arm."""
    bands: dict[str, tuple[np.ndarray, np.ndarray]]
    """(F,) lower and upper ends of 95 %, by resampling runs within tasks."""
    scores: dict[str, float]
    """Mean share over factors of 1 to 4 on a logarithmic axis: 1 for an arm that is the fastest everywhere. The most
    first."""
    tasks: tuple[str, ...]

    def __repr__(self) -> str:
        lines = [f"{len(self.tasks)} tasks; share of tasks within a factor of the fastest arm"]
        for arm, score in self.scores.items():
            at = [f"{self.shares[arm][np.searchsorted(self.factors, f, 'right') - 1]:.2f}" for f in (1, 1.25, 2, 4)]
            lines.append(f"  {arm}: score {score:.3f}; within 1, 1.25, 2, 4 times: {', '.join(at)}")
        return "\n".join(lines)


def profile(runs: Runs, metric: str, at: Goals, axis: str) -> Profile:
    """See `Runs.profile`."""
    arms = tuple(runs.arms)
    tasks = _common(runs, arms)
    goals, times = _goals(at, tasks), {}
    for task in tasks:
        here = runs.of(task)
        for arm in arms:
            # An arm against itself: its times, by the rules of every comparison.
            alone = Comparison(here.curves(arm, metric, axis), here.curves(arm, metric, axis), metric, paired=False)
            times[task, arm] = alone.times(goals[task])[0].ordinal
    factors = np.exp(np.linspace(0, np.log(FARTHEST), 121))
    rng = np.random.default_rng([SEED, len(tasks)])
    middles = {key: median(own) for key, own in times.items()}
    drawn = {key: median(own[rng.integers(0, len(own), (RESAMPLED, len(own)))]) for key, own in times.items()}
    shares, bands = {}, {}
    for arm in arms:
        shares[arm] = _shares([_relative(middles, task, arm, arms)[None] for task in tasks], factors)[0]
        many = np.sort(_shares([_relative(drawn, task, arm, arms) for task in tasks], factors), axis=0)
        bands[arm] = many[int(0.025 * RESAMPLED)], many[int(0.975 * RESAMPLED)]
    scores = {arm: float(np.trapezoid(shares[arm], np.log(factors)) / np.log(FARTHEST)) for arm in arms}
    best_first = dict(sorted(scores.items(), key=lambda item: -item[1]))
    return Profile(factors, shares, bands, best_first, tuple(tasks))


def _relative(times: Mapping[tuple[str, str], np.ndarray], task: str, arm: str, arms: tuple[str, ...]) -> np.ndarray:
    """(R,) an arm's time as a multiple of the fastest one's; infinite where it never got there."""
    fastest = np.min([times[task, other] for other in arms], axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(times[task, arm]), np.inf, times[task, arm] / fastest)


def _shares(relative: list[np.ndarray], factors: np.ndarray) -> np.ndarray:
    """(R, F) share of tasks within each factor."""
    return np.mean([own[:, None] <= factors * (1 + 1e-12) for own in relative], axis=0)


def _common(runs: Runs, arms: tuple[str, ...]) -> list[str]:
    """Tasks that every one of the arms was trained on. Raises `InputError` where there are fewer than two."""
    for arm in arms:
        if arm not in runs.arms:
            raise unknown("arm", arm, runs.arms)
    has = [{run.task for run in runs.arms[arm]} for arm in arms]
    tasks = [task for task in runs.tasks if all(task in own for own in has)]
    if len(tasks) < 2:
        raise InputError(
            f"compare: {' and '.join(arms)} have {len(tasks)} tasks in common, of at least 2; read(task=...) says "
            "where a task is named"
        )
    return tasks


def _goals(at: Goals, tasks: list[str]) -> dict[str, float]:
    if not isinstance(at, Mapping):
        return dict.fromkeys(tasks, float(at))
    missing = [task for task in tasks if task not in at]
    if missing:
        raise InputError(f"at: has no goal for {', '.join(missing)}; a goal for each of {', '.join(tasks)}")
    return {task: float(at[task]) for task in tasks}


def _ratio(slow: Times, fast: Times) -> float:
    return slow.median / fast.median if np.isfinite(fast.median) else np.nan if np.isinf(slow.median) else 0.0


def _medians(finals: Sequence[Sequence[np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.atleast_1d(np.median(b)), np.atleast_1d(np.median(c))) for b, c in finals]


def _named(task: str, notes: tuple[str, ...]) -> list[str]:
    return [note if note.startswith("compared as") else f"{task}: {note}" for note in notes]
