"""emergence: every direction is learned in one sharp step, near its predicted time, by the predicted neuron.

Paper B, figure 1 and theorem 2.1 (lemma 3.1 for the selection). A 2-homogeneous student learns a sum of h_4 ridge
functions with weights a_p ∝ 1/p under exact gradient flow. Paper: direction p is learned at (1 ± o(1)) T_p with
T_p = 1 / (8 eta a_p c_p²), as the dimension grows; neurons and directions pair up by greedy maximum selection; unused
neurons stay small. No numbers are given: the claims ask for the trend in d, and for the values at the largest d.

    lopsided run emergence --scale laptop

`laptop` changes: P = 16 directions, m = 64 neurons (P log P = 44) and d up to 2,048 in place of the limit. T_p is the
sum of the escape time above and of ln(a_p / sigma_0²) / (4 eta a_p) for the growth of the norm, which vanishes
against the first only as d grows; the claim about the escape time alone is listed next to it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._strength import (
    FLOW,
    IDEALISED,
    additive,
    by_direction,
    learned_at,
    predicted,
    rank_correlation,
    relative_error,
)
from lopsided.report.panels import PALETTE, Figure, Heat, Panel, over_members, theory
from lopsided.stats.slopes import of_points
from lopsided.stats.transitions import sharpness
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results
from lopsided.theory.scaling import power_law_weights

ERROR = Statement("predicted transition times get more exact as d grows", "(1 ± o(1)) T_p (theorem 2.1 b, c)")
BARE = Statement("… also without the time that the norm takes to grow", "T_p = 1 / (8 η a_p c²) alone (theorem 2.1)")
CLOSE = Statement("at the largest d the median direction is learned within 10 % of its predicted time", "1 ± o(1)")
ORDER = Statement(
    "at the largest d directions are learned in the predicted order (rank correlation above 0.9)", "equal"
)
SHARP = Statement(
    "the transition of the median learned direction gets sharper as d grows", "o(T_p) wide (theorem 2.1 c)"
)
SHARPER = Statement(
    "at the largest d the median learned direction rises from 10 % to 90 % in less than a fifth of T_p", "o(T_p) wide"
)
ASSIGNED = Statement("at the largest d more than 90 % of directions are learned by the predicted neuron", "all (eq. 5)")
MORE = Statement("more directions are learned by the predicted neuron as d grows", "all, with high probability (eq. 5)")
UNUSED = Statement(
    "at the largest d unused neurons hold less than 1 % of the student's strength", "they stay small (theorem 2.1 a)"
)


class Emergence(Recipe):
    name = "emergence"
    paper = "B: Emergence and scaling laws in SGD learning of shallow neural networks"
    figure_number = "1 and 3"
    question = "Is every feature learned in one sharp step, at a time and by a neuron known in advance?"
    metric = "directions/learned"
    threshold = 0.999
    scales: ClassVar = {
        "smoke": Scale(2, 10, "2 CPU cores"),
        "laptop": Scale(12, 430, "2 CPU cores"),
        "paper": Scale(16, 20_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        if scale == "smoke":
            dims, directions, width, per_d = (32,), 4, 12, 20.0
        elif scale == "laptop":
            dims, directions, width, per_d = (128, 512, 2048), 16, 64, 12.0
        else:
            dims, directions, width, per_d = (256, 1024, 4096, 16384), 32, 160, 24.0
        probes = ["directions", "population-loss", {"name": "overlap-matrix", "size": min(12, directions)}]
        arms = {}
        for d in dims:
            common = {"d": d, "directions": directions, "width": width, "lr": 0.1, "steps": int(per_d * d) + 800}
            common |= {"per_decade": 60 if scale != "smoke" else 20}
            arms[f"gradient flow, d = {d}"] = additive(plan=FLOW, probes=probes, **common)
            arms[f"theory, d = {d}"] = additive(plan=IDEALISED, probes=(), **common)
        return arms

    def statements(self) -> list[Statement]:
        return [ERROR, BARE, CLOSE, ORDER, SHARP, SHARPER, ASSIGNED, MORE, UNUSED]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        flows, theories = list(results.arms.values())[::2], list(results.arms.values())[1::2]
        d = np.array([arm.setting("task.d") for arm in flows], float)
        error = np.stack([relative_error(learned_at(f), predicted(t)) for f, t in zip(flows, theories, strict=True)], 1)
        bare = [relative_error(learned_at(f), predicted(t, "bare-time")) for f, t in zip(flows, theories, strict=True)]
        width = np.stack([_sharpness(arm) for arm in flows], 1)
        share = np.stack([_as_predicted(f, t) for f, t in zip(flows, theories, strict=True)], 1)
        order = rank_correlation(learned_at(flows[-1]), predicted(theories[-1]))
        of = "median relative error of the times against d"
        return [
            ERROR.at_most(*at, of_points(d, error), 0.0, of),
            BARE.at_most(*at, of_points(d, np.stack(bare, 1)), 0.0, of),
            CLOSE.below(*at, error[:, -1], 0.1, "relative error"),
            ORDER.above(*at, order, 0.9, "rank correlation"),
            SHARP.at_most(*at, of_points(d, width), 0.0, "median (t90 - t10) / t50 against d"),
            SHARPER.below(*at, width[:, -1], 0.2, "(t90 - t10) / t50"),
            ASSIGNED.above(*at, share[:, -1], 0.9, "share of directions"),
            MORE.higher(*at, share[:, 0], share[:, -1], f"share, d = {d[-1]:.0f} against {d[0]:.0f}"),
            UNUSED.below(*at, flows[-1].final("norm/unused-share"), 0.01, "share of the student's strength"),
        ]

    def figure(self, results: Results) -> Figure:
        flows, theories = list(results.arms.values())[::2], list(results.arms.values())[1::2]
        flow, ideal = flows[-1], theories[-1]
        names = [f"d = {f.setting('task.d')}" for f in flows]
        times = [
            over_members(name, predicted(t)[i], learned_at(f)[i][None], j, "points", legend=i == 0)
            for j, (name, f, t) in enumerate(zip(names, flows, theories, strict=True))
            for i in range(min(4, len(f.seeds)))
        ]
        reach = np.array([min(x.x.min() for x in times), max(x.x.max() for x in times)])
        return Figure(
            "Many sharp steps",
            [
                self._staircase(flow, ideal),
                Panel(
                    "When each direction is learned",
                    "predicted step",
                    "measured step",
                    [*times, theory("equal", reach, reach)],
                    log_x=True,
                    log_y=True,
                ),
                _matrix(flow, 0, "Squared overlaps before training"),
                _matrix(flow, -1, "… and after"),
            ],
        )

    def _staircase(self, flow, ideal) -> Panel:
        """Individual losses of one member, their sum, and the idealised sum."""
        weights = power_law_weights(flow.spec.task.directions, flow.spec.task.beta)
        each = 0.5 * (weights[:, None] * (1 - by_direction(flow, "strength")[0])) ** 2
        loss = flow.metric("population/loss")
        floor = 0.05 * weights[-1] ** 2
        shown = [p for p in range(len(weights)) if p < 6 or p % 4 == 3]
        lines = [
            over_members(f"direction {p + 1}", flow.steps, np.maximum(each[p], floor)[None], PALETTE[6], legend=False)
            for p in shown
        ]
        lines.append(over_members("expected loss", flow.steps, np.maximum(loss[:1], floor), 0))
        predicted_loss = np.maximum(ideal.metric("population/loss")[0], floor)
        lines.append(theory("idealised: every step at its predicted time", ideal.steps, predicted_loss, 1))
        title = f"One member, d = {flow.spec.task.d}: steps (grey) and their sum"
        return Panel(title, "steps", "loss", lines, log_x=True, log_y=True, legend_at="lower left")


def _sharpness(arm) -> np.ndarray:
    """(M,) median over learned directions."""
    found = [sharpness(arm.steps, curves) for curves in by_direction(arm, "strength")]
    return np.array([np.median(each[np.isfinite(each)]) if np.isfinite(each).any() else np.nan for each in found])


def _as_predicted(flow, ideal) -> np.ndarray:
    """(M,) share of directions that are learned, and by the neuron that greedy selection assigns."""
    same = by_direction(flow, "neuron")[:, :, -1] == by_direction(ideal, "neuron")[:, :, -1]
    return (same & np.isfinite(learned_at(flow))).mean(1)


def _matrix(flow, when: int, title: str) -> Heat:
    values = flow.metric("matrix")[0, when]
    high = 1.0 if when else float(np.max(values))
    return Heat(title, "direction, in the order of selection", "neuron", values, "c²", high=high)
