"""compute-frontier: the lowest loss that any width reaches with compute C = m t falls as C^((1-2 beta)/(1+beta)).

Paper B, figure 2: idealised and measured loss curves of students of several widths against compute, with their lower
envelope. Paper: the slope of the measured frontier roughly agrees with the predicted one and is slightly steeper, since
the teacher has finitely many directions.

    lopsided run compute-frontier --scale laptop

`laptop` changes: beta = 1 (predicted slope -1/2), P = d = 256, m = 4 ... 64, J = 4, steps of size 0.3 on the exact
gradient in float32: the members of `scaling-width` at beta = 1, trained once for both. The frontier is taken per
member and its slope is the middle piece of a three-piece fit, up to where the widest student nears its plateau; the
first claim allows 20 % of the predicted exponent, the second 10 % around the slope that the idealised runs of the
same members, with the same finite teacher, have on that window.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._strength import FAST, IDEALISED, expected_loss, geometric_mean, learned_from
from lopsided.recipes._widths import WIDTHS, student
from lopsided.report.panels import Figure, Line, Panel, over_members, power_law, theory
from lopsided.stats.slopes import PowerLaw, each_slope, segmented
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results
from lopsided.theory.scaling import frontier, frontier_exponent

BETA = 1.0
TOLERANCE = 0.2
POINTS = 120
NEAR_PLATEAU = 1.5
"""The law is looked for until the mean loss is this close to where the widest student ends: none is there to go on."""
SLOPE = Statement(
    f"the compute-optimal loss falls as compute to the power (1 - 2 beta) / (1 + beta) = {frontier_exponent(BETA):g}",
    "roughly that slope (figure 2)",
)
FINITE = Statement(
    "corrected for the finite teacher, the slope equals that of the idealised frontier", "slightly steeper (figure 2)"
)
WIDER = Statement("the compute-optimal width grows with compute", "m ~ C^(1/(1+beta)), from proposition 2.2")


class ComputeFrontier(Recipe):
    name = "compute-frontier"
    paper = "B: Emergence and scaling laws in SGD learning of shallow neural networks"
    figure_number = "2"
    question = "How wide should a student be for its compute, and what does that buy?"
    metric = "directions/learned"
    threshold = 0.02
    scales: ClassVar = {
        "smoke": Scale(2, 15, "2 CPU cores"),
        "laptop": Scale(16, 120, "2 CPU cores; less after scaling-width"),
        "paper": Scale(8, 30_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        probes = ("population-loss", "learned-count")
        measured = {f"m = {m}": student(scale, m, BETA, FAST, probes) for m in WIDTHS[scale]}
        return measured | {f"m = {m}, theory": student(scale, m, BETA, IDEALISED, ()) for m in WIDTHS[scale]}

    def statements(self) -> list[Statement]:
        return [SLOPE, FINITE, WIDER]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        grid, measured = _frontiers(results, "")
        _, ideal = _frontiers(results, ", theory")
        law, expected = _law(grid, measured), frontier_exponent(BETA)
        window = law.begins, law.ends
        difference = each_slope(grid, measured, window) - each_slope(grid, ideal, window)
        of = "log frontier loss against compute m t"
        learning = grid >= learned_from(grid, measured)
        grid, best = grid[learning], _best_width(results, grid)[:, learning]
        growth = each_slope(grid, best, (grid[0], grid[-1]))
        return [
            SLOPE.slope(*at, law, expected, TOLERANCE * abs(expected), of),
            FINITE.near(*at, difference / abs(expected), 0.0, 0.1, "difference of slopes over the exponent's size"),
            WIDER.above(*at, growth, 0.0, "slope of log best width against log compute"),
        ]

    def figure(self, results: Results) -> Figure:
        return Figure(
            "Loss against compute, and the frontier",
            [
                Panel("Against time", "steps t", "expected loss", _curves(results, "", 1.0), log_x=True, log_y=True),
                self._against_compute(results, "", "Measured, against compute"),
                self._against_compute(results, ", theory", "Idealised, against compute"),
            ],
        )

    def _against_compute(self, results: Results, suffix: str, title: str) -> Panel:
        grid, values = _frontiers(results, suffix)
        law = _law(grid, values)
        middle = geometric_mean(values)
        at = float(np.sqrt(law.begins * law.ends))
        through = at, float(np.interp(np.log(at), np.log(grid), middle))
        slope = frontier_exponent(BETA)
        lines = [
            *_curves(results, suffix, None),
            theory("frontier", grid, middle, "#000000"),
            power_law(f"predicted slope {slope:g}", (law.begins, law.ends), (through[0], 0.7 * through[1]), slope),
        ]
        return Panel(title, "compute m t", "expected loss", lines, log_x=True, log_y=True)


def _arms(results: Results, suffix: str) -> list:
    return [arm for name, arm in results.arms.items() if name.endswith(", theory") == bool(suffix)]


def _width(arm) -> int:
    return arm.spec.model.width


def _curves(results: Results, suffix: str, per_step: float | None) -> list[Line]:
    return [
        over_members(f"m = {_width(arm)}", arm.steps * (per_step or _width(arm)), expected_loss(arm), i)
        for i, arm in enumerate(_arms(results, suffix))
    ]


def _grid(results: Results) -> np.ndarray:
    """Computes at which the widest student is evaluated, first to last."""
    arms = _arms(results, "")
    return np.geomspace(arms[-1].steps[0] * _width(arms[-1]), arms[-1].steps[-1] * _width(arms[-1]), POINTS)


def _frontiers(results: Results, suffix: str) -> tuple[np.ndarray, np.ndarray]:
    """Compute (N,) and the frontier of every member (M, N), over the widths."""
    arms, grid = _arms(results, suffix), _grid(results)
    compute = np.stack([arm.steps * _width(arm) for arm in arms])
    members = range(len(arms[0].seeds))
    return grid, np.stack([frontier(compute, np.stack([expected_loss(arm)[i] for arm in arms]), grid) for i in members])


def _best_width(results: Results, grid: np.ndarray) -> np.ndarray:
    """(M, N) width of the curve that is lowest at each compute."""
    arms = _arms(results, "")
    each = []
    for i in range(len(arms[0].seeds)):
        reached = [frontier((a.steps * _width(a))[None], expected_loss(a)[i][None], grid) for a in arms]
        each.append(np.array([_width(a) for a in arms])[np.argmin(reached, 0)])
    return np.array(each, float)


def _law(grid: np.ndarray, values: np.ndarray) -> PowerLaw:
    """The power law between the first learned direction and the plateau of the widest student."""
    mean = geometric_mean(values)
    ends = grid[np.argmax(mean < NEAR_PLATEAU * mean[-1])]
    return segmented(grid, values, (learned_from(grid, values), float(ends)))
