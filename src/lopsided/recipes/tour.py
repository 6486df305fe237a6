"""tour: one look at each side of the shape of data, in a minute.

Paper A (frequency), paper B (strength) and paper C (repetition), each at a size that two cores train in seconds:

- frequency: products of three elements of D4, skills drawn uniformly, from a power law, and from one that is annealed;
- strength: eight features of strengths 1/p under exact gradient flow, against the steps that theory predicts;
- repetition: (20, 6)-parity from 8,192 samples, again and again, against fresh samples at the same learning rate.

    lopsided run tour

`laptop` changes: everything is small, and learning rates are not tuned. What a finding is worth, its own recipe says:
`state-tracking`, `emergence`, `small-vs-large`. `paper` is the same with more seeds.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._frequency import UNIFORM, annealed, power_law, tracking
from lopsided.recipes._strength import FLOW, IDEALISED, additive, by_direction, learned_at, predicted, relative_error
from lopsided.report.panels import PALETTE, Figure, Panel, curves, over_members, theory
from lopsided.stats.times import time_to_learn
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Arm, Results
from lopsided.theory.scaling import power_law_weights

LAWS = {"uniform skills": UNIFORM, "power law": power_law(1.0), "annealed law": annealed(1.5, 0.0, 0.5)}
FLOWS, PREDICTED = "features of strength 1/p", "prediction"
FRESH, REPEATED = "fresh samples", "8,192 samples, repeated"
REPEATED_SIZE = 8192

POWER = Statement("frequency: power-law skills end above uniform skills", "learned against chance (A, fig. 1)")
ANNEALED = Statement("frequency: an annealed law reaches 90 % with less compute than a fixed one", "not in the paper")
IN_TIME = Statement(
    "strength: the median feature is learned within 10 % of its predicted step", "1 ± o(1) (B, th. 2.1)"
)
IN_ORDER = Statement("strength: a feature twice as strong is learned in less than two thirds of the steps", "T_p ∝ p")
STEPS = Statement("repetition: a repeated small set needs fewer steps than fresh samples", "ahead (C, fig. 1)")
DATA = Statement("repetition: … and fewer distinct samples", "near-trivial: the set is small")


class Tour(Recipe):
    name = "tour"
    paper = "A, B and C"
    figure_number = "1 of each"
    question = "Does the shape of training data decide what a network learns, and when?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 15, "2 CPU cores"),
        "laptop": Scale(8, 50, "2 CPU cores"),
        "paper": Scale(32, 200, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        small = scale == "smoke"
        tracked = {
            "task": {"name": "state-tracking", "group": "D4", "hops": 3},
            "model": {"name": "transformer", "layers": 2, "width": 32, "heads": 4},
            "plan": {"name": "online", "batch": 128},
            "optimizer": {"name": "adamw", "lr": 3e-3, "weight_decay": 1e-6, "schedule": "cosine", "warmup": 50},
            "rank_order": "random",
            "steps": 60 if small else 800,
            "evaluation": {"every": 20, "samples": 1024},
            "probes": [],
        }
        d, features, width = (32, 4, 12) if small else (256, 8, 32)
        sizes = {"d": d, "directions": features, "width": width, "lr": 0.1, "steps": 12 * d + 200}
        parity = {
            "task": {"name": "sparse-parity", "d": 20, "k": 6},
            "model": {"name": "mlp", "width": 64},
            "optimizer": {"name": "sgd", "lr": 3.0},
            "loss": "logistic",
            "steps": 80 if small else 2000,
            "evaluation": {"every": 20, "samples": 1024},
        }
        plans = {
            FRESH: {"name": "online", "batch": 128},
            REPEATED: {"name": "fixed", "size": REPEATED_SIZE, "batch": 128},
        }
        return {
            **{name: tracking("smoke", law, **tracked) for name, law in LAWS.items()},
            FLOWS: additive(plan=FLOW, **sizes),
            PREDICTED: additive(plan=IDEALISED, probes=(), **sizes),
            **{name: Spec.parse({**parity, "plan": plan}) for name, plan in plans.items()},
        }

    def statements(self) -> list[Statement]:
        return [POWER, ANNEALED, IN_TIME, IN_ORDER, STEPS, DATA]

    def shown(self, results: Results) -> list[str]:
        return [*LAWS, FRESH, REPEATED]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        uniform, power, falling = (results[name] for name in LAWS)
        flow, ideal = results[FLOWS], results[PREDICTED]
        fresh, repeated = results[FRESH], results[REPEATED]
        learned = learned_at(flow)
        ratios = learned[:, : learned.shape[1] // 2] / learned[:, 1::2]
        ratio = np.median(np.where(np.isnan(ratios), np.inf, ratios), axis=1)
        return [
            POWER.higher(*at, uniform.final(self.metric), power.final(self.metric), "final accuracy"),
            ANNEALED.faster(*at, self._times(power), self._times(falling), "compute"),
            IN_TIME.below(*at, relative_error(learned, predicted(ideal)), 0.1, "relative error"),
            IN_ORDER.below(*at, ratio, 2 / 3, "steps of feature p / steps of feature 2p"),
            STEPS.faster(*at, self._times(fresh, "steps"), self._times(repeated, "steps"), "steps"),
            DATA.faster(*at, self._times(fresh, "distinct"), self._times(repeated, "distinct"), "distinct samples"),
        ]

    def figure(self, results: Results) -> Figure:
        accuracy = "test/accuracy"
        return Figure(
            "Three sides of the shape of data",
            [
                curves(results, accuracy, "samples", "Frequency: products of three elements of D4", arms=list(LAWS)),
                _staircase(results[FLOWS], results[PREDICTED]),
                curves(results, accuracy, "steps", "Repetition: (20, 6)-parity", arms=[FRESH, REPEATED]),
            ],
        )

    def _times(self, arm: Arm, axis: str = "samples"):
        return time_to_learn(getattr(arm, axis), arm.metric(self.metric), self.threshold)


def _staircase(flow: Arm, ideal: Arm) -> Panel:
    """Losses of one member's single features, their sum, and the sum that theory predicts."""
    weights = power_law_weights(flow.setting("task.directions"), flow.setting("task.beta"))
    each = 0.5 * (weights[:, None] * (1 - by_direction(flow, "strength")[0])) ** 2
    floor = 0.05 * weights[-1] ** 2
    lines = [
        over_members(f"feature {p + 1}", flow.steps, np.maximum(loss, floor)[None], PALETTE[6], legend=False)
        for p, loss in enumerate(each)
    ]
    sums = (arm.metric("population/loss")[:1] for arm in (flow, ideal))
    measured, expected = (np.maximum(loss, floor) for loss in sums)
    lines.append(over_members("all features", flow.steps, measured, 0))
    lines.append(theory("predicted", ideal.steps, expected[0], 1))
    title = "Strength: steps (grey) and their sum"
    return Panel(title, "steps", "loss", lines, log_x=True, log_y=True, legend_at="lower left")
