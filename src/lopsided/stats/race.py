"""Which of several arms is best, and is it better than a baseline? A race over seeds, then a test on fresh ones.

Screening trains every arm on the same few seeds, leaves the better half, and trains those on more seeds. All runs are
complete: learning curves are never cut short, because the arm that wins is often last half way. The one arm that is
left is then compared with every baseline on seeds that chose nothing, within seeds, at planned looks
(`lopsided.stats.sequential`). It is recommended only if it beats all baselines: an intersection-union test, which needs
no further correction. Screening may pick whatever it likes: if no arm is better, one is recommended in at most 2.5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy

from lopsided.core.errors import InputError
from lopsided.stats import decisions, sequential
from lopsided.stats.lost import worse_than_all
from lopsided.stats.times import Times
from lopsided.stats.verdict import Decision

Found: TypeAlias = Times | np.ndarray
"""(M,) of one arm: costs to reach a goal, with censoring, or scores of which more is better, -inf where a member has
none because it diverged or failed."""
Measure: TypeAlias = Callable[[Sequence[str], Sequence[int]], Mapping[str, Found]]
"""Trains these arms on these seeds, completely; results in the order of the seeds."""
Outcome = Literal["use", "keep", "undecided"]
# Two new seeds, then four more for the better half: enough to tell shapes apart that differ by a factor, and cheap
# beside the test (docs/advice.md has how often such a race is right).
SCREENING = (2, 4)
LOOKS = (8, 16, 32)
WITHIN_BUDGET = ((8, 16, 32, 64), LOOKS, (8, 16), (8,))
"""Looks that a budget may allow, most first."""


@dataclass(frozen=True)
class RacePlan:
    """A race, before it starts. `baselines` are among `arms`; the first is what is in use."""

    arms: tuple[str, ...]
    baselines: tuple[str, ...]
    screening: tuple[int, ...] = SCREENING
    """New seeds of each round; after each, the better half of the arms is left, after the last one arm."""
    looks: tuple[int, ...] = LOOKS
    """Fresh seeds at each look of the test."""
    within: float = 1.05
    """A factor (of times; of scores, a twentieth of their spread does not count) up to which arms are as good."""

    @property
    def rounds(self) -> list[tuple[int, int]]:
        """Arms and new seeds of each round of the screening."""
        found, arms = [], len(self.arms)
        for seeds in self.screening:
            found.append((arms, seeds))
            arms = -(-arms // 2)
        return found

    @property
    def first(self) -> int:
        """The first seed that chooses nothing."""
        return sum(self.screening)

    @property
    def runs(self) -> tuple[int, int]:
        """How many members are trained: at least, at most."""
        screened = sum(arms * seeds for arms, seeds in self.rounds)
        together = 1 + len(self.baselines)
        return screened, screened + together * self.looks[-1]

    def detectable(self, pairs: int, power: float = 0.8) -> float:
        """The effect, in standard deviations of within-seed differences, that so many pairs find with this power."""
        return float((scipy.stats.norm.isf(0.025) + scipy.stats.norm.ppf(power)) / pairs**0.5)


@dataclass(frozen=True)
class Advice:
    """What a race found."""

    outcome: Outcome
    """Use the winner, keep the baseline, or undecided."""
    winner: str
    runner_up: str | None
    against: Mapping[str, Decision]
    """The winner against every other baseline, at the last look; empty if what is in use won the screening."""
    screened: Mapping[str, float]
    """Mean rank of every arm in the last round that it took part in, 1 is best."""
    seeds: int
    """Fresh seeds of the test."""
    runs: int
    """How many members were trained in all, screening included."""
    failed: Mapping[str, int]
    """Members without a score (diverged, or whose training raised an error), of every arm that has any."""
    use: str
    """The arm to train with: the winner if it is recommended, otherwise the first baseline that is not beaten (what is
    in use comes first, if it is one)."""
    tied: tuple[str, ...] = ()
    """Arms that rank with the winner in the last round of the screening."""
    told_apart: bool = True
    """Whether any two arms scored differently on a seed of the screening."""


def planned(arms: Sequence[str], baselines: Sequence[str], seconds: float, budget: float | None) -> RacePlan:
    """The plan with the most looks that fits a budget; with none, LOOKS. `seconds`: of one run. Raises `InputError` if
    not even the shortest test fits."""
    plans = [RacePlan(tuple(arms), tuple(baselines), looks=looks) for looks in WITHIN_BUDGET]
    if budget is None:
        return next(plan for plan in plans if plan.looks == LOOKS)
    for plan in plans:
        if plan.runs[1] * seconds <= budget:
            return plan
    runs, least = plans[-1].runs[1], plans[-1].looks[-1]
    raise InputError(
        f"budget: {runs * seconds / 60:.2g} minutes are needed to test one shape on {least} fresh seeds ({runs} runs "
        f"of {seconds:.2g} s)"
    )


def race(plan: RacePlan, measure: Measure, told: Callable[[str], None] = lambda line: None) -> Advice:
    """Run it; `told` hears each step. A function of what `measure` returns alone: with stored results it goes on where
    it was stopped."""
    left, first, runs = list(plan.arms), 0, 0
    seen: dict[str, list[Found]] = {name: [] for name in plan.arms}
    failed: dict[str, int] = {}

    def measured(names: Sequence[str], seeds: Sequence[int]) -> Mapping[str, Found]:
        found = measure(names, seeds)
        for name, each in found.items():
            if not isinstance(each, Times) and (count := int((~np.isfinite(each)).sum())):
                failed[name] = failed.get(name, 0) + count
        return found

    ranks: dict[str, float] = {}
    now, alike = dict[str, float](), True
    for i, new in enumerate(plan.screening):
        told(f"screening {len(left)} shapes on {new} seeds")
        found = measured(left, range(first, first + new))
        runs, first = runs + len(left) * new, first + new
        for name in left:
            seen[name].append(found[name])
        now = mean_ranks({name: seen[name] for name in left})
        ranks |= now
        alike = alike and not np.ptp(_ranks({name: seen[name] for name in left}), axis=0).any()
        # A tie is no win: what is in use goes first, then the other baselines.
        order = list(dict.fromkeys((*plan.baselines, *plan.arms)))
        ordered = sorted(left, key=lambda name: (now[name], order.index(name)))
        left = ordered[: -(-len(left) // 2)] if i < len(plan.screening) - 1 else ordered
    if alike:  # whoever went on did so by the order alone: all have the rank in the middle, and nobody is second
        left = sorted(plan.arms, key=lambda name: name != plan.baselines[0])
        ranks = now = dict.fromkeys(plan.arms, (len(plan.arms) + 1) / 2)
    winner, others = left[0], [name for name in left[1:] if name not in plan.baselines and not alike]
    runner_up = others[0] if others else None
    if winner == plan.baselines[0]:
        tied = tuple(name for name in left[1:] if now[name] == now[winner])
        return Advice("keep", winner, runner_up, {}, ranks, 0, runs, failed, winner, tied, not alike)
    rivals = [name for name in plan.baselines if name != winner]
    told(f"{winner} is ahead; against {' and '.join(rivals)} on fresh seeds")
    against, outcome, before = {}, "undecided", 0
    results: dict[str, list[Found]] = {name: [] for name in (winner, *rivals)}
    for look, seeds in enumerate(plan.looks):
        fresh = measured(list(results), range(first + before, first + seeds))
        for name in results:
            results[name].append(fresh[name])
        runs, before = runs + len(results) * (seeds - before), seeds
        joined = {name: _joined(parts) for name, parts in results.items()}
        level = sequential.level(look, plan.looks)
        against = {b: better(joined[b], joined[winner], level) for b in rivals}
        as_good = any(_as_good(joined[b], joined[winner], plan.within, level) for b in rivals)
        outcome = _outcome([each.verdict for each in against.values()], as_good)
        told(f"{seeds} fresh seeds: {outcome}")
        if outcome != "undecided":
            break
    unbeaten = [b for b in plan.baselines if b == winner or against[b].verdict != "holds"]
    use = winner if outcome == "use" else unbeaten[0]
    return Advice(outcome, winner, runner_up, against, ranks, before, runs, failed, use)


def better(baseline: Found, other: Found, level: float = decisions.LEVEL) -> Decision:
    """`other` takes less, or scores more; a member without a score counts as worse than all of both arms."""
    if isinstance(baseline, Times):
        assert isinstance(other, Times)
        return decisions.faster(baseline, other, "compute", level=level)
    assert not isinstance(other, Times)
    lost = not (np.isfinite(baseline).all() and np.isfinite(other).all())
    baseline, other = worse_than_all([baseline, other])
    found = decisions.higher(baseline, other, "score", level=level)
    # By how much is not known where a run has no score.
    return found._replace(effect=None, interval=(None, None), reason="diverged") if lost else found


def _as_good(baseline: Found, other: Found, within: float, level: float) -> bool:
    """Whether the winner is certainly no more than `within` ahead."""
    if isinstance(baseline, Times):
        assert isinstance(other, Times)
        return decisions.not_ahead(baseline, other, "compute", within, level).verdict == "holds"
    assert not isinstance(other, Times)
    baseline, other = worse_than_all([baseline, other])
    margin = (within - 1) * float(np.std(np.concatenate([baseline, other])))
    return decisions.below(other - baseline, margin, "difference", level=level).verdict == "holds"


def _outcome(verdicts: Sequence[str], as_good: bool) -> Outcome:
    if all(verdict == "holds" for verdict in verdicts):
        return "use"
    return "keep" if as_good or "contradicted" in verdicts else "undecided"


def _joined(parts: Sequence[Found]) -> Found:
    times = [part for part in parts if isinstance(part, Times)]
    if times:
        return Times(np.concatenate([t.time for t in times]), np.concatenate([t.censored for t in times]))
    return np.concatenate([np.asarray(part) for part in parts])


def mean_ranks(found: Mapping[str, Sequence[Found]]) -> dict[str, float]:
    """Mean over seeds of each arm's rank within the seed, 1 is best; members that never learned tie for the last."""
    return dict(zip(found, map(float, _ranks(found).mean(1)), strict=True))


def _ranks(found: Mapping[str, Sequence[Found]]) -> np.ndarray:
    """(arms, seeds) rank of each arm within the seed."""
    joined = [_joined(parts) for parts in found.values()]
    worse = [each.ordinal if isinstance(each, Times) else -each for each in joined]
    return np.asarray(scipy.stats.rankdata(np.stack(worse), axis=0))
