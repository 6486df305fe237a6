"""Which shape of the data a spec should have: shapes to try, and the race between them (`lopsided.stats.race`).

All runs are ordinary members in the folder, so that a stopped race goes on and everything else can read its rows. What
is decided before the test begins (learning rates, the looks that the budget allows) is written to OUT/advice/ first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lopsided.core.errors import InputError, StoreError
from lopsided.core.evaluation import Until
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.json_text import parsed
from lopsided.core.plan import Remembers, SampledPlan
from lopsided.core.progress import Progress
from lopsided.core.shapes import has_accuracy
from lopsided.core.spec import Spec
from lopsided.core.task import n_skills
from lopsided.report.advice import keeps
from lopsided.results.stored import load
from lopsided.shape.candidates import GROWING, PHASES, SMALLEST, UNIFORM, growing, laws
from lopsided.shape.in_spec import spec_fields
from lopsided.shape.laws import PowerLaw
from lopsided.stats.race import SCREENING, Advice, Found, RacePlan, mean_ranks, planned, race
from lopsided.stats.times import Times, falls
from lopsided.store.files import replace_text
from lopsided.store.parts import Store
from lopsided.store.paths import folder_in
from lopsided.work.done import Request, Runner
from lopsided.work.worker import train

if TYPE_CHECKING:
    from lopsided.figures.panels import Panel

AS_IS = "as is"


@dataclass(frozen=True)
class Goal:
    """What is better: less compute until `metric` reaches `at` (a loss falls to it), or (with None) a better final
    value."""

    metric: str
    at: float | None = None

    @property
    def label(self) -> str:
        """What a member's score is called."""
        return f"final {self.metric}" if self.at is None else f"samples to {self.metric} {self.at:g}"

    @property
    def slug(self) -> str:
        """The goal as a part of a file's name."""
        return f"{self.metric.replace('/', '-')}-{self.at if self.at is not None else 'final'}"

    def shown(self, found: Found) -> list[float]:
        """Scores as a reader expects them: a loss with its own sign, NaN where the goal was never reached, or a member
        diverged."""
        if isinstance(found, Times):
            return np.where(found.censored, np.nan, found.time).tolist()
        return np.where(np.isfinite(found), np.asarray(found) * self.sign, np.nan).tolist()

    @property
    def sign(self) -> float:
        """-1 where less is better."""
        return -1.0 if falls(self.metric) else 1.0


def shapes_of(spec: Spec) -> dict[str, Spec]:
    """The spec as it is, uniform fresh data, and other shapes that it allows, by name; each shape once. Raises
    `InputError` for specs whose data cannot be shaped."""
    plan = spec.plan
    if not isinstance(plan, SampledPlan) or isinstance(plan, Remembers):
        raise InputError(f"advise: plan {plan.name!r} draws no samples, or not by itself; nothing can be shaped")
    batch, count = plan.batch_size, n_skills(spec.task)
    online = {"name": "online", "batch": batch}
    tried: dict[str, dict] = {AS_IS: {}, UNIFORM: {"skills": {"name": "uniform"}, "plan": online}}
    if count:
        tried |= {name: {"skills": law.in_spec(), "plan": online} for name, law in laws().items()}
        if has_accuracy(spec.task.outputs):
            tried["self-annealed"] = {"skills": {"name": "self-annealed"}, "plan": online}
        tried["contrast-annealed"] = {"skills": {"name": "contrast-annealed"}, "plan": online}
    still: dict = {"skills": {"name": "uniform"}} if count else {}
    seen = spec.steps * batch
    for share in (64, 8):
        if seen // share >= batch:
            plan_of = {"name": "fixed", "size": seen // share, "batch": batch}
            tried[f"1/{share} of the data, repeated"] = {**still, "plan": plan_of}
    if spec.steps >= PHASES and round(SMALLEST * seen) >= 1:
        tried[GROWING] = {**still, **spec_fields(growing(), spec.steps, batch)}
        if count:  # a law that moves has no product with a set: sets are drawn once
            tried[f"power law 1, {GROWING}"] = spec_fields(PowerLaw(1.0) & growing(), spec.steps, batch)
    found: dict[str, Spec] = {}
    for name, changes in tried.items():
        changed = Spec.parse({**spec.model_dump(mode="json"), **changes}) if changes else spec
        if changed.content_hash() not in {each.content_hash() for each in found.values()}:
            found[name] = changed
    if UNIFORM not in found:  # as it is, it is uniform
        found = {UNIFORM if name == AS_IS else name: each for name, each in found.items()}
    return found


@dataclass(frozen=True)
class AdvisedSpecs:
    """A finished race, and the specs in it."""

    advice: Advice
    plan: RacePlan
    specs: Mapping[str, Spec]
    seconds: float
    """Computing time of its shapes on its seeds."""
    scores: Mapping[str, Mapping[int, float]]
    """By shape and seed, in the goal's unit; NaN for a member that never reached it."""
    until: Until | None = None
    """When the given spec says that a member is done. A race for a goal that this rule does not name trains members
    without it; the recommended spec has it again."""

    @property
    def spec(self) -> Spec:
        """What to train with: the winner if it is recommended, otherwise a baseline that the winner does not
        certainly beat."""
        return self.specs[self.advice.use].replace(until=self.until)


def advise(
    spec: Spec,
    store: Store,
    goal: Goal,
    budget: float | None = None,
    rates: Sequence[float] = (1.0,),
    told: Callable[[str], None] = lambda line: None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
    execution: Execution = DEFAULT,
    runner: Runner = train,
) -> AdvisedSpecs:
    """Race the shapes of a spec. `budget` in seconds of computing decides how many fresh seeds the test may take;
    `rates` are factors of the learning rate, of which every shape gets its best one on screening seeds. Raises
    `InputError` if the budget is too small for a test, `Stopped` when `stop` is set."""
    store.require_writable()
    shapes = shapes_of(_to_the_goal(spec, goal))
    chosen = shapes
    scores: dict[str, dict[int, float]] = {name: {} for name in shapes}

    def measure(names: Sequence[str], seeds: Sequence[int], specs: Mapping[str, Spec] | None = None) -> dict:
        arms = {name: (specs or chosen)[name] for name in names}
        runner(Request(list(arms.values()), seeds, store, progress, execution, stop or threading.Event()))
        found = _read(arms, seeds, store.as_of_now(), goal)
        for name in arms if specs is None else ():
            scores[name] |= dict(zip(seeds, goal.shown(found[name]), strict=True))
        return found

    first = range(SCREENING[0])
    candidates = {(name, rate): _at_rate(each, rate) for name, each in shapes.items() for rate in rates}
    if len(rates) > 1:
        told(f"learning rates: {len(shapes)} shapes at {len(rates)} rates on {len(first)} seeds")
    labels = {f"{name}, rate x {rate:g}": (name, rate) for name, rate in candidates}
    tried = measure(list(labels), first, {label: candidates[key] for label, key in labels.items()})
    chosen = {name: _best(name, labels, candidates, tried) for name in shapes}
    each = _seconds(list(candidates.values()), first, store) / (len(candidates) * len(first))
    plan = _planned(store, spec, goal, chosen, each, budget, told)
    told(describe(plan, each))
    advice = race(plan, measure, told)
    left = {f"{name} at rate x {rate:g}": each for (name, rate), each in candidates.items() if chosen[name] != each}
    failed = {**advice.failed, **_diverged(left, dict.fromkeys(left, tuple(first)), store)}
    if goal.at is not None:  # a time to learn does not say why a member never learned; a final score does
        failed |= _diverged(chosen, {name: tuple(of) for name, of in scores.items()}, store)
    advice = replace(advice, runs=advice.runs + len(left) * len(first), failed=failed)
    used = _seconds([*chosen.values(), *candidates.values()], range(plan.first + advice.seeds), store)
    return AdvisedSpecs(advice, plan, chosen, used, scores, spec.until)


def curves(found: AdvisedSpecs, store: Store, goal: Goal) -> Panel:
    """The goal's metric of every shape against samples, over all of its seeds."""
    from lopsided.figures import panels

    seeds = {name: tuple(of) for name, of in found.scores.items()}
    results = load(store, "advice", "library", found.specs, seeds)
    assert results is not None
    return panels.curves(results, goal.metric, "samples", "Learning curves")


def describe(plan: RacePlan, each: float) -> str:
    """One line: what a race will train, how long that takes, and how large an effect it can find."""
    least, most = plan.runs
    return (
        f"{len(plan.arms)} shapes; {least} to {most} runs, about {each:.2g} s each: {least * each / 60:.2g} to "
        f"{most * each / 60:.2g} minutes; {plan.looks[-1]} fresh seeds find an effect of "
        f"{plan.detectable(plan.looks[-1]):.2f} standard deviations (of within-seed differences) in 4 of 5 races"
    )


def _diverged(arms: Mapping[str, Spec], seeds: Mapping[str, tuple[int, ...]], store: Store) -> dict[str, int]:
    """Members that diverged, of the arms of which any did."""
    found = load(store.as_of_now(), "advice", "library", arms, seeds) if arms else None
    counts = {name: int(arm.diverged.sum()) for name, arm in found.arms.items()} if found else {}
    return {name: n for name, n in counts.items() if n}


def _to_the_goal(spec: Spec, goal: Goal) -> Spec:
    """A rule by which members leave before the goal would hide it: only the goal's own stays."""
    until = spec.until
    own = until is not None and until.metric == goal.metric and goal.at in (until.at_least, until.at_most)
    return spec if until is None or (own and goal.at is not None) else spec.replace(until=None)


def _read(arms: Mapping[str, Spec], seeds: Sequence[int], store: Store, goal: Goal) -> dict[str, Found]:
    found = load(store, "advice", "library", arms, dict.fromkeys(arms, tuple(seeds)))
    assert found is not None
    if goal.at is None:
        ends = {name: goal.sign * arm.metric(goal.metric)[:, -1] for name, arm in found.arms.items()}
        # An accuracy of a member that diverged is 0, which others may have, too.
        lost = {name: arm.diverged | ~np.isfinite(ends[name]) for name, arm in found.arms.items()}
        return {name: np.where(lost[name], -np.inf, ends[name]) for name in ends}
    return {name: arm.times(goal.metric, goal.at, "samples") for name, arm in found.arms.items()}


def _at_rate(spec: Spec, rate: float) -> Spec:
    return spec if rate == 1 else spec.replace({"optimizer.lr": spec.optimizer.lr * rate})


def _best(name: str, labels: Mapping, candidates: Mapping, tried: Mapping[str, Found]) -> Spec:
    """A shape at the learning rate with the best mean rank."""
    ours = [label for label, (shape, _) in labels.items() if shape == name]
    ranks = mean_ranks({label: [tried[label]] for label in ours})
    return candidates[labels[min(ours, key=lambda label: (ranks[label], abs(np.log(labels[label][1]))))]]


def _seconds(specs: Sequence[Spec], among: Sequence[int], store: Store) -> float:
    """Computing time of the members of these specs with one of these seeds."""
    ours = {spec.content_hash() for spec in specs}
    total = 0.0
    for part in store.as_of_now().parts():
        if part.final:
            members = sum(len(seeds) for seeds in part.seeds.values())
            counted = sum(seed in among for s, seeds in part.seeds.items() if s in ours for seed in seeds)
            total += part.seconds * counted / members
    return total


def _planned(
    store: Store,
    spec: Spec,
    goal: Goal,
    chosen: Mapping[str, Spec],
    each: float,
    budget: float | None,
    told: Callable[[str], None],
) -> RacePlan:
    """The plan that the folder holds for this question, or a new one, written before its test starts."""
    file, baselines = _file(store, spec, goal), tuple(name for name in (AS_IS, UNIFORM) if name in chosen)
    arms = {name: each.content_hash() for name, each in chosen.items()}
    if file.is_file():
        try:
            data = parsed(file.read_text())
            looks = tuple(map(int, data["looks"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise StoreError(f"{file}: is no plan; remove it to plan anew") from None
        if data["arms"] != arms:
            raise StoreError(f"{file}: was made for other shapes or learning rates; remove it to plan anew")
        if budget is not None:
            told(keeps(looks))
        return RacePlan(tuple(chosen), baselines, looks=looks)
    plan = planned(tuple(chosen), baselines, each, budget)
    folder_in(store.root, file.parent.name)
    replace_text(file, json.dumps({"arms": arms, "looks": plan.looks}, indent=1))
    return plan


def _file(store: Store, spec: Spec, goal: Goal) -> Path:
    return store.root / "advice" / f"{spec.content_hash()}-{goal.slug}.json"
