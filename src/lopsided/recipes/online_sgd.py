"""online-sgd: with small steps, SGD on fresh samples makes the same transitions as flow on the expected loss.

Paper B, theorem 2.1 and section 3.3. Paper: vanilla online SGD, one fresh Gaussian sample a step and a step size of
order d^(-J/2) / poly(P), stays close to gradient flow for long enough that every direction is learned at the same
time.

    lopsided run online-sgd --scale laptop

`laptop` changes: d = 64, P = 8, m = 32, J = 4, mini-batches of 64 fresh samples (16 in `smoke`) so that larger steps
stay stable, and step sizes 2e-3 ... 2.5e-4. A member starts from the same weights in every arm. Its transition times
are compared in units of flow time, steps x step size; the tolerance for "the same" is 10 % of the median direction's
time.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._strength import FLOW, additive, by_direction, learned_at, relative_error
from lopsided.report.panels import Figure, Panel, over_members, theory
from lopsided.stats.slopes import of_points
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Arm, Results

CLOSER = Statement(
    "transition times come closer to gradient flow as the step size falls", "small η suffices (thm. 2.1)"
)
SAME = Statement(
    "at the smallest step size the median direction is learned within 10 % of its time under the flow", "1 ± o(1)"
)
NEURONS = Statement(
    "at the smallest step size more than 90 % of directions are learned by the same neuron as under the flow",
    "the same map (theorem 2.1)",
)
ALL = Statement("at the smallest step size all directions are learned", "all (theorem 2.1)")


class OnlineSGD(Recipe):
    name = "online-sgd"
    paper = "B: Emergence and scaling laws in SGD learning of shallow neural networks"
    figure_number = "theorem 2.1"
    question = "Does training on fresh samples follow the exact dynamics?"
    metric = "directions/learned"
    threshold = 0.999
    scales: ClassVar = {
        "smoke": Scale(2, 15, "2 CPU cores"),
        "laptop": Scale(10, 160, "2 CPU cores"),
        "paper": Scale(8, 200_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        d, directions, width, batch, horizon, rates = {
            "smoke": (16, 2, 6, 16, 4.0, (8e-3, 4e-3)),
            "laptop": (64, 8, 32, 64, 70.0, (2e-3, 1e-3, 5e-4, 2.5e-4)),
            "paper": (256, 16, 64, 1, 400.0, (1e-4, 5e-5, 2.5e-5)),
        }[scale]
        common = {"d": d, "directions": directions, "width": width, "sigma_0": 1e-2, "per_decade": 60}
        arms = {"gradient flow": additive(plan=FLOW, lr=rates[0], steps=round(horizon / rates[0]), **common)}
        for rate in rates:
            plan = {"name": "online", "batch": batch}
            arms[f"SGD, step size {rate:g}"] = additive(plan=plan, lr=rate, steps=round(horizon / rate), **common)
        return arms

    def statements(self) -> list[Statement]:
        return [CLOSER, SAME, NEURONS, ALL]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        flow, *runs = results.arms.values()
        expected = _times(flow)
        error = np.stack([relative_error(_times(run), expected) for run in runs], 1)
        rates = np.array([_rate(run) for run in runs])
        # Against 1 / step size, so that "shrinks" is a negative slope as everywhere else.
        law = of_points(1 / rates, error)
        last = runs[-1]
        same = by_direction(last, "neuron")[:, :, -1] == by_direction(flow, "neuron")[:, :, -1]
        same = (same & np.isfinite(learned_at(last))).mean(1)
        return [
            CLOSER.at_most(*at, law, 0.0, "median relative deviation against 1 / step size"),
            SAME.below(*at, error[:, -1], 0.1, "relative deviation"),
            NEURONS.above(*at, same, 0.9, "share of directions"),
            ALL.above(*at, last.final("directions/learned"), 0.99, "share of directions"),
        ]

    def figure(self, results: Results) -> Figure:
        flow, *runs = results.arms.values()
        loss = [
            over_members(name, arm.steps * _rate(arm), np.maximum(arm.metric("population/loss"), 1e-5), i)
            for i, (name, arm) in enumerate(results.arms.items())
        ]
        expected = _times(flow)
        points = [
            over_members(name, expected[i], _times(arm)[i][None], j + 1, "points", legend=i == 0)
            for j, (name, arm) in enumerate(list(results.arms.items())[1:])
            for i in range(min(4, len(arm.seeds)))
            if np.isfinite(_times(arm)[i]).all()
        ]
        known = expected[np.isfinite(expected)]
        reach = np.array([known.min(), known.max()]) if known.size else np.zeros(2)
        rates = np.array([_rate(run) for run in runs])
        error = np.stack([relative_error(_times(run), expected) for run in runs], 1)
        return Figure(
            "Fresh samples follow the exact dynamics",
            [
                Panel("Loss", "flow time, steps x step size", "expected loss", loss, log_y=True),
                Panel("Transition times", "gradient flow", "online SGD", [*points, theory("equal", reach, reach)]),
                Panel(
                    "Deviation of transition times",
                    "step size",
                    "median relative deviation",
                    [over_members("members", rates, error, 0, "points")],
                    log_x=True,
                    log_y=True,
                ),
            ],
        )


def _rate(arm: Arm) -> float:
    return arm.setting("optimizer.lr")


def _times(arm: Arm) -> np.ndarray:
    """(M, P) transition times in units of flow time."""
    return learned_at(arm) * _rate(arm)
