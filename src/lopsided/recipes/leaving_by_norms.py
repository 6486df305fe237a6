"""leaving-by-norms: do the layers' norms say when a repeated set should be left, before there is any accuracy?

Paper C repeats a small set first because that makes the layers grow, and leaves it (figure 19) at 75 % training
accuracy. What follows is not in the paper. The mechanism can be read directly: leave when ‖a‖/‖W‖, the norm of the last
layer over that of the first, has reached 0.42. Does one such number serve sets, rates, tasks and widths?

    lopsided run leaving-by-norms --scale laptop

`laptop`: perceptrons of width 64, mini-batch SGD with 128 samples, logistic loss. Arms leave a set of N samples for
fresh ones after a given number of steps, or never. A rule is judged from them: a member that follows the rule takes the
step at which the rule first says so, which is one of the arms, with the same seed and so with the same draws until
then. The ratio was chosen on (20, 6)-parity in trials with seeds from 100 on. Of (30, 5)- and (40, 4)-parity and width
256 it had been seen whether they learn, and how their ratios move, and nothing was changed.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lopsided.recipe import (
    OWN,
    Ahead,
    Arm,
    Arms,
    Everywhere,
    Figure,
    Measured,
    NotAhead,
    Panel,
    Recipe,
    Results,
    ScaleName,
    Statement,
    Times,
    arm,
    over_members,
)
from lopsided.recipes._repetition import SEEDS, perceptron


class Setting(NamedTuple):
    """A task, a network and a rate."""

    task: str
    d: int
    k: int
    width: int
    rate: float
    sizes: tuple[int, ...]


KNOWN, LARGER, SPARSER, WIDER = "(20, 6)-parity", "(30, 5)-parity", "(40, 4)-parity", "(20, 6)-parity, width 256"
UNSEEN = (LARGER, SPARSER, WIDER)
SETTINGS = (
    Setting(KNOWN, 20, 6, 64, 1.5, (2**10, 2**11, 2**12)),
    Setting(KNOWN, 20, 6, 64, 3.0, (2**10, 2**11, 2**12)),
    Setting(LARGER, 30, 5, 64, 3.0, (2**10, 2**12)),
    Setting(SPARSER, 40, 4, 64, 3.0, (2**10, 2**12)),
    Setting(WIDER, 20, 6, 256, 3.0, (2**10, 2**12)),
)
SMOKE = (Setting(KNOWN, 8, 2, 16, 1.0, (32,)),)
STEPS = {"smoke": 60, "laptop": 3000, "paper": 3000}
AFTER = {"smoke": (10, 20), "laptop": (100, 200, 300, 400, 500, 600, 800), "paper": tuple(range(50, 1001, 50))}
"""Steps after which the set is left."""
NEVER, FRESH = "never", "fresh samples"
BATCH, EVER = {"smoke": 16, "laptop": 128, "paper": 128}, 2**30
RATIO, ACCURACY = 0.42, 0.75
NORMS, LEARNED = ("norm/ratio", RATIO), ("train-set/accuracy", ACCURACY)
TRIED = "the ratio was chosen in trials on this task with seeds 100 to 115 (LOG.md)"


def settings(scale: str) -> tuple[Setting, ...]:
    return SMOKE if scale == "smoke" else SETTINGS


def arms(scale: ScaleName) -> Arms:
    batch, steps = BATCH[scale], STEPS[scale]
    for each in settings(scale):
        make = partial(
            perceptron,
            scale,
            each.rate,
            task={"name": "sparse-parity", "d": each.d, "k": each.k},
            model={"width": each.width},
            steps=steps,
            evaluation={"every": 10 if scale == "smoke" else 25, "samples": 64 if scale == "smoke" else 4096},
            probes=[{"name": "weight-norms"}, {"name": "train-metrics"}],
        )
        at = {"task": each.task, "rate": each.rate}
        yield arm(make(plan={"name": "online", "batch": batch}), **at, data=FRESH)
        for size in each.sizes:
            yield arm(make(plan={"name": "fixed", "size": size, "batch": batch}), **at, N=size, leaves=NEVER)
            for first in AFTER[scale]:
                phases = [{"steps": first, "size": size}, {"steps": steps - first, "size": EVER}]
                yield arm(make(plan={"name": "phases", "batch": batch, "phases": phases}), **at, N=size, leaves=first)


def leaving(r: Results, at: dict[str, Any]) -> dict[int, Arm]:
    """Arms by the step at which they leave the set."""
    return {first: r.arm(**at, leaves=first) for first in AFTER[r.scale]}


def by_rule(r: Results, at: dict[str, Any], metric: str, level: float) -> Times:
    """Times to learn of members that leave the set at the first of these steps at which `metric` is at `level`."""
    stays, left = r.arm(**at, leaves=NEVER), leaving(r, at)
    steps = list(left)
    said = stays.metric(metric)[:, np.searchsorted(stays.steps, steps)] >= level  # (M, steps)
    choice = np.where(said.any(1), said.argmax(1), len(steps))
    times = [each.times_by_its_rule("steps") for each in (*left.values(), stays)]
    return _picked(times, choice)


def by_hand(r: Results, at: dict[str, Any]) -> Times:
    """Times to learn of the step that is best for the other half of the seeds."""
    left = leaving(r, at)
    times = [each.times_by_its_rule("steps") for each in left.values()]
    even = np.array(next(iter(left.values())).seeds) % 2 == 0
    halves = [half if half.any() else ~half for half in (~even, even)]  # a single seed has to choose for itself
    best = [int(np.argmin([np.median(each.ordinal[half]) for each in times])) for half in halves]
    return _picked(times, np.where(even, best[0], best[1]))


def _picked(times: list[Times], choice: np.ndarray) -> Times:
    """Member m's time from `times[choice[m]]`."""
    members = np.arange(len(choice))
    time, censored, gap = (np.stack([getattr(t, name) for t in times])[choice, members] for name in Times._fields[:3])
    return Times(time, censored, gap)


def places(tasks: tuple[str, ...], largest: int = EVER) -> dict[str, dict[str, Any]]:
    """Coordinates of the sets of these tasks, by name."""
    return {
        f"{each.task}, rate {each.rate:g}, N = {size:,}": {"task": each.task, "rate": each.rate, "N": size}
        for each in SETTINGS
        if each.task in tasks
        for size in each.sizes
        if size <= largest
    }


def rule(at: dict[str, Any], metric: str, level: float) -> Measured:
    return Measured(lambda r: by_rule(r, at, metric, level), at)


def fresh(at: dict[str, Any]):
    where = {"task": at["task"], "rate": at["rate"], "data": FRESH}
    return Measured(lambda r: r.arm(**where).times_by_its_rule("steps"), where)


def before_fresh(task: str) -> Everywhere:
    return Everywhere({name: Ahead(rule(at, *NORMS), of=fresh(at)) for name, at in places((task,)).items()})


def near_the_best(task: str) -> Everywhere:
    hand = lambda at: Measured(lambda r: by_hand(r, at), at)
    return Everywhere({name: NotAhead(hand(at), of=rule(at, *NORMS)) for name, at in places((task,)).items()})


def about(task: str) -> list[Statement]:
    history = TRIED if task == KNOWN else ""
    return [
        Statement(
            f"{task}: leaving the set when norms say so needs fewer steps than fresh samples alone",
            OWN,
            before_fresh(task),
            history=history,
        ),
        Statement(
            f"{task}: no step set by hand is more than 25 % ahead of leaving when norms say so",
            OWN,
            near_the_best(task),
            history=history,
        ),
    ]


def panel(r: Results, name: str, at: dict[str, Any]) -> Panel:
    """Steps to learn against the step at which the set is left."""
    left = leaving(r, at)
    steps = np.array(list(left))
    times = np.stack([each.times_by_its_rule("steps").ordinal for each in left.values()], axis=1)
    known = np.where(np.isfinite(times), times, STEPS[r.scale])
    ours, theirs = (np.median(by_rule(r, at, *which).ordinal) for which in (NORMS, LEARNED))
    flat = lambda value: np.full((1, len(steps)), min(value, STEPS[r.scale]))
    lines = [
        over_members("left after", steps, known, 0),
        over_members("norms say so", steps, flat(ours), 1),
        over_members("75 % training accuracy", steps, flat(theirs), 2),
    ]
    return Panel(name, "steps on the small set", "steps to learn", lines, log_y=True)


def figure(r: Results) -> Figure:
    known = [(each, size) for each in settings(r.scale) for size in each.sizes]
    shown = known if r.scale == "smoke" else [known[i] for i in (3, 4, 5, 6, 8, 10)]
    panels = [
        panel(r, f"{each.task}, N = {size:,}", {"task": each.task, "rate": each.rate, "N": size})
        for each, size in shown
    ]
    return Figure("When to leave a repeated set", panels)


recipe = Recipe(
    name="leaving-by-norms",
    paper="C",
    figure_number="12, 19",
    question="When should a repeated set be left for fresh samples?",
    about=__doc__,
    scales={"smoke": (2, 10), "laptop": (SEEDS, 600), "paper": (SEEDS,)},
    arms=arms,
    claims=[
        *about(KNOWN),
        Statement(
            "(20, 6)-parity, at most 2,048 samples: leaving when norms say so needs fewer steps than at 75 % accuracy",
            OWN,
            Everywhere(
                {name: Ahead(rule(at, *NORMS), of=rule(at, *LEARNED)) for name, at in places((KNOWN,), 2**11).items()}
            ),
            history=TRIED,
        ),
        *(claim for task in UNSEEN for claim in about(task)),
    ],
    figure=figure,
)
