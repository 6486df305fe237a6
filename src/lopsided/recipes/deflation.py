"""deflation: the square loss removes what is learned, so that small features find neurons; a correlation loss does not.

Paper B, section 1.1 and the slides' account of Li, Ma and Zhang (2020). Paper: with square loss O(P log P) neurons
learn all P directions, however large the condition number kappa = a_1 / a_P; without the interaction that the square
loss brings, every neuron goes where a_p c_p^(J-2) is largest, and it takes e^kappa neurons to reach the small
directions.

    lopsided run deflation --scale laptop

`laptop` changes: P = 16 directions in d = 256, m = 64 neurons (P ln P = 44), J = 4, beta = 0.5 ... 2 (kappa = 4 ...
256), exact gradients in float32. Without the norm's interaction a correlation loss lets norms explode, so those
neurons live on the unit sphere. A direction is found when some neuron's squared overlap with it is at least one half.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._strength import FAST, additive
from lopsided.report.panels import Figure, Panel, curves, over_members
from lopsided.stats.slopes import of_points
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

BETAS = (0.5, 1.0, 1.5, 2.0)
ALL = Statement(
    "square loss: m = O(P log P) neurons learn all directions, whatever the condition number", "all (theorem 2.1)"
)
FEWER = Statement("at beta = 1 a correlation loss finds fewer directions than the square loss", "large ones attract")
FALLING = Statement(
    "with a correlation loss the share of directions found falls as the condition number grows",
    "e^kappa neurons needed (§1.1, LMZ20)",
)


class Deflation(Recipe):
    name = "deflation"
    paper = "B: Emergence and scaling laws in SGD learning of shallow neural networks"
    figure_number = "section 1.1"
    question = "Do strong features take the neurons that weak features need?"
    metric = "directions/found"
    threshold = 0.999
    scales: ClassVar = {
        "smoke": Scale(2, 8, "2 CPU cores"),
        "laptop": Scale(16, 210, "2 CPU cores"),
        "paper": Scale(16, 10_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        d, directions, width, steps = {
            "smoke": (24, 4, 10, 400),
            "laptop": (256, 16, 64, 20_000),
            "paper": (1024, 64, 512, 400_000),
        }[scale]
        arms = {}
        for beta in BETAS:
            common = {"d": d, "directions": directions, "width": width, "beta": beta, "lr": 0.1, "per_decade": 20}
            common |= {"plan": FAST, "probes": ("learned-count", "population-loss")}
            # The weakest direction is learned last, at a time proportional to 1 / a_P; both arms get it.
            common |= {"steps": steps * (3 if beta == BETAS[-1] else 1)}
            arms[f"square loss, beta = {beta:g}"] = additive(**common)
            arms[f"correlation loss, beta = {beta:g}"] = additive(
                loss="correlation",
                model={"name": "student", "width": width, "sigma_0": 1.0, "norm": "unit"},
                optimizer={"name": "spherical-sgd", "lr": 0.1},
                **common,
            )
        return arms

    def statements(self) -> list[Statement]:
        return [ALL, FEWER, FALLING]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        square, correlation = _found(results, "square"), _found(results, "correlation")
        one = BETAS.index(1.0)
        law = of_points(_kappa(results), correlation, np.mean)
        learned = [results[f"square loss, beta = {beta:g}"].final("directions/learned") for beta in BETAS]
        return [
            ALL.above(*at, np.min(learned, 0), 0.99, "share of directions learned at the worst beta of each member"),
            FEWER.higher(
                *at, correlation[:, one], square[:, one], "share of directions found, square against correlation"
            ),
            FALLING.at_most(*at, law, 0.0, "log mean share of directions found against kappa"),
        ]

    def figure(self, results: Results) -> Figure:
        kappa = _kappa(results)
        lines = [
            over_members(f"{kind} loss", kappa, _found(results, kind), i, "points")
            for i, kind in enumerate(("square", "correlation"))
        ]
        arms = [name for name in results.arms if name.endswith(("beta = 1", "beta = 2"))]
        return Figure(
            "Who finds the weak features?",
            [
                Panel(
                    "At the end of training",
                    "condition number a_1 / a_P",
                    "share of directions found",
                    lines,
                    log_x=True,
                ),
                curves(results, "directions/found", "steps", "During training", arms, log_x=True),
            ],
        )


def _found(results: Results, kind: str) -> np.ndarray:
    """(M, betas) share of directions found at the end."""
    return np.stack([results[f"{kind} loss, beta = {beta:g}"].final("directions/found") for beta in BETAS], 1)


def _kappa(results: Results) -> np.ndarray:
    directions = next(iter(results.arms.values())).setting("task.directions")
    return directions ** np.array(BETAS)
