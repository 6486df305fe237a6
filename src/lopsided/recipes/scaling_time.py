"""scaling-time: the loss falls as a power of time whose exponent the strengths decide, whatever the link.

Paper B, proposition 2.2 (a, b). Weights a_p ∝ p^-beta, link h_J. Paper: L ~ (eta t d^(1-J/2))^((1-2 beta)/beta), that
is slopes -0.67, -1 and -1.33 for beta = 0.75, 1 and 1.5, for every J >= 4.

    lopsided run scaling-time --scale laptop

`laptop` changes: P = d = 512 directions for J = 4 and 256 for J = 6 in place of infinitely many, m = 96 neurons,
steps of size 0.2 on the exact gradient in float32. The slope is that of the middle piece of a three-piece fit to the
mean log curve (`stats.slopes.segmented`); a claim allows 20 % of the predicted exponent. The last claim of each J
compares with the idealised run of the same members, which has the same finite number of directions, at the beta where
they differ most.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._strength import FAST, IDEALISED, additive, expected_loss, geometric_mean, learned_from
from lopsided.report.panels import Figure, Panel, over_members, power_law, theory
from lopsided.stats.slopes import PowerLaw, each_slope, segmented
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Arm, Results
from lopsided.theory.scaling import time_exponent

BETAS = (0.75, 1.0, 1.5)
DEGREES = (4, 6)
TOLERANCE = 0.2
"""Share of the predicted exponent by which a slope may differ."""


def _sloped(degree: int, beta: float) -> Statement:
    exponent = f"{time_exponent(beta):.3g}"
    return Statement(
        f"J = {degree}, beta = {beta:g}: the loss falls as time to the power (1 - 2 beta) / beta = {exponent}",
        f"slope {exponent} (proposition 2.2)",
    )


def _like_idealised(degree: int) -> Statement:
    return Statement(
        f"J = {degree}: on the same window the slope equals that of the idealised run, within 10 % of the exponent",
        "the idealised and the empirical law agree (figure 2)",
    )


class ScalingTime(Recipe):
    name = "scaling-time"
    paper = "B: Emergence and scaling laws in SGD learning of shallow neural networks"
    figure_number = "proposition 2.2"
    question = "Do the strengths of the features decide the exponent of the scaling law?"
    metric = "directions/learned"
    threshold = 0.1
    scales: ClassVar = {
        "smoke": Scale(2, 12, "2 CPU cores"),
        "laptop": Scale(16, 490, "2 CPU cores"),
        "paper": Scale(8, 40_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        size = {"smoke": {4: 24, 6: 16}, "laptop": {4: 512, 6: 256}, "paper": {4: 2048, 6: 256}}[scale]
        steps = {
            "smoke": {4: 400, 6: 800},
            "laptop": {4: 12_000, 6: 30_000},
            "paper": {4: 200_000, 6: 800_000},
        }[scale]
        width = {"smoke": 8, "laptop": 96, "paper": 512}[scale]
        arms = {}
        for degree in DEGREES:
            common = {"d": size[degree], "directions": size[degree], "width": width, "degree": degree, "lr": 0.2}
            common |= {"steps": steps[degree], "per_decade": 30, "sigma_0": 1e-2}
            for beta in BETAS:
                arms[f"J = {degree}, beta = {beta:g}"] = additive(
                    beta=beta, plan=FAST, probes=("population-loss", "learned-count"), **common
                )
                arms[f"J = {degree}, beta = {beta:g}, theory"] = additive(
                    beta=beta, plan=IDEALISED, probes=(), **common
                )
        return arms

    def statements(self) -> list[Statement]:
        return [s for j in DEGREES for s in (*(_sloped(j, beta) for beta in BETAS), _like_idealised(j))]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        found = []
        for degree in DEGREES:
            ratios = []
            for beta in BETAS:
                measured, ideal = _pair(results, degree, beta)
                law, expected = _law(measured), time_exponent(beta)
                of = "log expected loss against steps"
                found.append(_sloped(degree, beta).slope(*at, law, expected, TOLERANCE * abs(expected), of))
                window = law.begins, law.ends
                both = [each_slope(arm.steps, expected_loss(arm), window) for arm in (measured, ideal)]
                ratios.append((both[0] - both[1]) / abs(expected))
            worst = int(np.argmax(np.abs(np.mean(ratios, 1))))
            what = f"difference of slopes over the exponent's size, the worst beta ({BETAS[worst]:g})"
            found.append(_like_idealised(degree).near(*at, ratios[worst], 0.0, 0.1, what))
        return found

    def figure(self, results: Results) -> Figure:
        panels = []
        for degree in DEGREES:
            lines = []
            for colour, beta in enumerate(BETAS):
                measured, ideal = _pair(results, degree, beta)
                law = _law(measured)
                mean = geometric_mean(expected_loss(measured))
                lines.append(over_members(f"beta = {beta:g}", measured.steps, expected_loss(measured), colour))
                lines.append(
                    theory("idealised", ideal.steps, geometric_mean(expected_loss(ideal)), colour, legend=False)
                )
                middle = float(np.sqrt(law.begins * law.ends))
                through = middle, 1.6 * float(np.interp(np.log(middle), np.log(measured.steps), mean))
                lines.append(
                    power_law(f"slope {time_exponent(beta):.2f}", (law.begins, law.ends), through, time_exponent(beta))
                )
            panels.append(Panel(f"J = {degree}", "steps", "expected loss", lines, log_x=True, log_y=True))
        return Figure("The strengths decide the exponent (coloured dashes: idealised)", panels)


def _pair(results: Results, degree: int, beta: float) -> tuple[Arm, Arm]:
    name = f"J = {degree}, beta = {beta:g}"
    return results[name], results[f"{name}, theory"]


def _law(arm: Arm) -> PowerLaw:
    """The power law between the first learned direction and the end of training."""
    loss = expected_loss(arm)
    return segmented(arm.steps, loss, (learned_from(arm.steps, loss), float(arm.steps[-1])))
