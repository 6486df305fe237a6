"""What the recipes on repetition share: a perceptron's spec, a sweep of learning rates, and the best rate of an arm.

Learning rates ride inside the ensemble. Members whose seed is a multiple of three choose an arm's rate, the others are
judged at that rate: no verdict rests on a member that was looked at to make a choice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lopsided.core.recipe import Recipe
from lopsided.core.spec import Spec
from lopsided.report.panels import AXIS_LABEL, METRIC_LABEL, Panel, over_members
from lopsided.stats.times import Times, times_until
from lopsided.store.results import Arm, Results

CHOOSER = 3
"""One seed in three chooses."""
SEEDS = 24
FEWER_SEEDS = 12
"""Eight choosing and sixteen judged members; four and eight where arms are many."""
PARITY = {"smoke": (8, 2), "laptop": (14, 6), "paper": (20, 6)}
SMALL = {"smoke": 2**6, "laptop": 2**11, "paper": 2**14}
RATES = {"smoke": (0.5, 1.0), "laptop": (1.0, 1.5, 2.0, 3.0, 4.0), "paper": tuple(np.round(1.2 ** np.arange(-6, 9), 3))}
STEPS = {"smoke": 60, "laptop": 2000, "paper": 6000}
EVERY = 20
SAMPLES = {"smoke": 64, "laptop": 2048, "paper": 4096}
SOLVED = 0.95


def parity_task(scale: str) -> dict[str, Any]:
    """The scale's (d, k)-parity."""
    d, k = PARITY[scale]
    return {"name": "sparse-parity", "d": d, "k": k}


def full_batch(scale: str, size: int | None = None) -> dict[str, Any]:
    """Plan and training set of gradient descent on `size` samples without repeats; None: the whole population."""
    size = 2 ** PARITY[scale][0] if size is None else size
    return {"plan": {"name": "full-batch", "size": size}, "training_set": {"remove": "repeats"}}


def perceptron(scale: str, lr: float, **changes: Any) -> Spec:
    """A two-layer perceptron of width 64 on the scale's parity by full-batch gradient descent; `changes` are the spec's
    (those of `model` are added to the default)."""
    model = {"name": "mlp", "width": 16 if scale == "smoke" else 64, **changes.pop("model", {})}
    plain = {
        "task": parity_task(scale),
        "model": model,
        "optimizer": {"name": "sgd", "lr": float(lr)},
        "loss": "logistic",
        "steps": STEPS[scale],
        "evaluation": {"every": EVERY, "samples": SAMPLES[scale]},
        "probes": [{"name": "weight-norms"}],
        "until": {"metric": "test/accuracy", "at_least": SOLVED},
    }
    return Spec.parse({**plain, **changes})


def swept(
    arms: Mapping[str, Callable[..., Spec]], rates: Sequence[float], **others: Sequence[float]
) -> dict[str, Spec]:
    """Every arm at every learning rate, named `arm, lr 2`; and at every value of other settings, `arm, lr 2, b2 0.9`,
    with which it is called by name."""
    grid = [dict(zip(others, values, strict=True)) for values in itertools.product(*others.values())]
    return {
        ", ".join([f"{name}, lr {rate:g}", *(f"{k} {v:g}" for k, v in more.items())]): make(float(rate), **more)
        for name, make in arms.items()
        for rate in rates
        for more in grid
    }


def unswept(name: str) -> str:
    """An arm's name without the settings that were swept."""
    return name.partition(", lr ")[0]


@dataclass(frozen=True)
class Tuned:
    """An arm at its best learning rate, and at the best values of what else was swept."""

    name: str
    arm: Arm
    held_out: np.ndarray  # (M,) bool: members that no choice looked at
    cost: tuple[float, float, float]
    """Selection score, from the choosing members only: median steps, mean steps, final metric (see `tuned`)."""

    def times(self, axis: Literal["steps", "samples"] = "steps") -> Times:
        """Time to learn of the held-out members."""
        return _times(self.arm, self.held_out, axis)

    def curve(self, metric: str) -> np.ndarray:
        """(V, T) values of the held-out members."""
        return self.arm.metric(metric)[self.held_out]

    @property
    def label(self) -> str:
        """For legends: the name and the best settings."""
        return f"{self.name} ({self.arm.name.removeprefix(f'{self.name}, ')})"


class SweptRecipe(Recipe):
    """A recipe whose arms are named `arm, lr 2`; tables list every arm at its best rate."""

    def shown(self, results: Results) -> list[str]:
        return [tuned(results, name).arm.name for name in swept_names(results)]


def swept_names(results: Results) -> list[str]:
    """Names of the arms without their rates."""
    return list(dict.fromkeys(map(unswept, results.arms)))


def tuned(results: Results, name: str) -> Tuned:
    """The rate with the smallest median steps to learn among choosing members (ties: smallest mean, a member that never
    learned counted as twice its budget; then the best final metric), and who is judged. With fewer than two seeds
    everybody does both."""
    arms = {n: arm for n, arm in results.arms.items() if unswept(n) == name}
    seeds = np.array(next(iter(arms.values())).seeds)
    chooses = seeds % CHOOSER == 0 if len(seeds) > 1 else np.ones(len(seeds), bool)
    held_out = ~chooses if len(seeds) > 1 else chooses

    def cost(n: str) -> tuple[float, float, float]:
        times, until = _times(arms[n], chooses, "steps"), arms[n].spec.until
        assert until is not None
        final = float(np.nan_to_num(arms[n].final(until.metric)[chooses], nan=0.0 if until.at_least else np.inf).mean())
        return times.median, float((times.time * (1 + times.censored)).mean()), -final if until.at_least else final

    best = min(arms, key=cost)
    return Tuned(name, arms[best], held_out, cost(best))


def _times(arm: Arm, members: np.ndarray, axis: str) -> Times:
    until = arm.spec.until
    assert until is not None
    return times_until(getattr(arm, axis), arm.metric(until.metric)[members], until)


def panel(
    arms: Sequence[Tuned],
    metric: str,
    axis: Literal["steps", "samples"],
    title: str,
    log_y: bool = False,
    log_x: bool = False,
    marks: Mapping[str, float] | None = None,
    moments: Mapping[str, float] | None = None,
) -> Panel:
    """Curves of arms at their best rates, judged members only, up to where the last member of any arm left."""
    curves = [t.curve(metric) for t in arms]
    last = max(_last_change(c) for c in curves) + 2
    lines = [
        over_members(t.label, getattr(t.arm, axis)[:last], c[:, :last], i)
        for i, (t, c) in enumerate(zip(arms, curves, strict=True))
    ]
    label = METRIC_LABEL.get(metric, metric.split("/")[-1])
    return Panel(title, AXIS_LABEL[axis], label, lines, log_x or axis == "samples", log_y, marks or {}, moments or {})


def _last_change(curve: np.ndarray) -> int:
    """The last evaluation at which some member differs from the one before."""
    moved = np.flatnonzero((np.diff(np.nan_to_num(curve), axis=1) != 0).any(0))
    return int(moved[-1]) + 1 if len(moved) else 0


def chosen_rates(results: Results, names: Sequence[str], title: str = "Best learning rates") -> Panel:
    """Median steps to learn against the learning rate, choosing members: what the choice was made from. Where something
    else was swept too, its best value at each rate."""
    lines = []
    for i, name in enumerate(names):
        at: dict[float, list[np.ndarray]] = {}
        for n, arm in results.arms.items():
            if unswept(n) == name:
                chooses = np.array(arm.seeds) % CHOOSER == 0
                rate = arm.setting("optimizer.lr")
                at.setdefault(rate, []).append(_times(arm, chooses, "steps").ordinal)
        rates = sorted(at)
        steps = np.stack([min(at[rate], key=np.median) for rate in rates], axis=1)
        lines.append(over_members(name, np.array(rates), steps, i))
    return Panel(title, "learning rate", "steps to learn (choosing members)", lines, log_x=True, log_y=True)
