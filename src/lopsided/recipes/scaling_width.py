"""scaling-width: a student of m neurons stops at a plateau that falls as m^(1-2 beta).

Paper B, proposition 2.2 (the approximation bottleneck). Paper: a student of width m learns the m / log m largest
directions or more, so its loss ends at ~ m^(1-2 beta).

    lopsided run scaling-width --scale laptop

`laptop` changes: P = d = 256 directions in place of infinitely many, m = 4 ... 64, J = 4, steps of size 0.3 on the
exact gradient in float32. A tail that ends at P falls more steeply than an infinite one: each beta has a second
claim, about the slope of the finite tail at the same widths. A claim allows 20 % of the exponent.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._strength import FAST, expected_loss
from lopsided.recipes._widths import WIDTHS, student
from lopsided.report.panels import Figure, Panel, curves, over_members, power_law, theory
from lopsided.stats.slopes import of_points
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results
from lopsided.theory.scaling import finite_width_exponent, power_law_weights, tail, width_exponent

BETAS = (0.75, 1.0, 1.5)
TOLERANCE = 0.2
COUNT = Statement("a student of width m learns more than m / ln m directions", "Ω(m / log m) directions (theorem 2.1)")


def _plateau(beta: float) -> Statement:
    return Statement(
        f"beta = {beta:g}: the plateau falls as m^(1-2 beta)", f"slope {width_exponent(beta):g} (prop. 2.2)"
    )


def _corrected(beta: float) -> Statement:
    return Statement(
        f"beta = {beta:g}: the plateau falls as predicted for finitely many directions",
        "finite-width truncation (§2.4)",
    )


class ScalingWidth(Recipe):
    name = "scaling-width"
    paper = "B: Emergence and scaling laws in SGD learning of shallow neural networks"
    figure_number = "proposition 2.2"
    question = "How does the best loss of a student fall with its width?"
    metric = "directions/count"
    threshold = 4.0
    scales: ClassVar = {
        "smoke": Scale(2, 15, "2 CPU cores"),
        "laptop": Scale(16, 210, "2 CPU cores"),
        "paper": Scale(8, 100_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        probes = ("population-loss", "learned-count")
        return {
            f"beta = {beta:g}, m = {m}": student(scale, m, beta, FAST, probes) for beta in BETAS for m in WIDTHS[scale]
        }

    def statements(self) -> list[Statement]:
        return [*(s for beta in BETAS for s in (_plateau(beta), _corrected(beta))), COUNT]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        found = []
        widths = _widths(results)
        for beta in BETAS:
            law = of_points(widths, _final(results, beta))
            exponent = width_exponent(beta)
            finite = finite_width_exponent(beta, _directions(results), widths)
            of = "median final loss against m"
            found.append(_plateau(beta).slope(*at, law, exponent, TOLERANCE * abs(exponent), of))
            found.append(_corrected(beta).slope(*at, law, finite, TOLERANCE * abs(finite), of))
        counts = np.stack([arm.final("directions/count") for arm in results.arms.values()], 1)
        each = np.array([arm.setting("model.width") for arm in results.arms.values()], float)
        fewest = (counts / (each / np.log(each))).min(1)
        return [*found, COUNT.above(*at, fewest, 1.0, "learned / (m / ln m), the worst arm of each member")]

    def figure(self, results: Results) -> Figure:
        widths = _widths(results)
        arms = [name for name in results.arms if name.startswith("beta = 1,")]
        lines = []
        for colour, beta in enumerate(BETAS):
            values = _final(results, beta)
            lines.append(over_members(f"beta = {beta:g}", widths, values, colour, "points"))
            best = tail(power_law_weights(_directions(results), beta))[widths.astype(int)]
            lines.append(theory("best possible at that width", widths, best, colour, legend=colour == 0))
            through = float(widths[0]), float(np.median(values[:, 0]))
            lines.append(
                power_law(f"slope {width_exponent(beta):g}", (widths[0], widths[-1]), through, width_exponent(beta))
            )
        counts = [
            over_members(
                "learned directions",
                widths,
                np.stack([results[a].final("directions/count") for a in arms], 1),
                0,
                "points",
            ),
            theory("m", widths, widths),
            theory("m / ln m", widths, widths / np.log(widths), 1),
        ]
        return Figure(
            "Width sets the plateau",
            [
                curves(results, "population/loss", "steps", "beta = 1", arms, log_x=True, log_y=True),
                Panel("Loss at the end of training", "width m", "expected loss", lines, log_x=True, log_y=True),
                Panel("beta = 1: directions learned", "width m", "directions", counts, log_x=True, log_y=True),
            ],
        )


def _widths(results: Results) -> np.ndarray:
    return np.array(sorted({arm.setting("model.width") for arm in results.arms.values()}), float)


def _directions(results: Results) -> int:
    return next(iter(results.arms.values())).setting("task.directions")


def _final(results: Results, beta: float) -> np.ndarray:
    """(M, W) final loss at every width."""
    names = [name for name in results.arms if name.startswith(f"beta = {beta:g},")]
    return np.stack([expected_loss(results[name])[:, -1] for name in names], 1)
