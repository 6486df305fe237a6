"""small-vs-large: training on a smaller set, repeated more often, learns in fewer steps and far less compute.

Paper C, figure 2 (a, b), multi-layer perceptron on (20, 6)-sparse parity, full-batch gradient descent and mini-batch
SGD. Paper: gradient descent on N = 2^14 samples converges in 1,500 steps, on the full population (2^20) in more than
2,000, which is a 100-fold saving in compute; SGD on a small set is ahead of fresh samples.

    lopsided run small-vs-large --scale laptop

`laptop` changes: gradient descent compares N = 2^13 with 2^17, at one learning rate for both arms of a pair (GD 3,
SGD 4): the best of those at which all members of both arms learned, on seeds 100 and up, which no verdict uses. `paper`
compares 2^14 with 2^20 samples at learning rate 0.5. The loss is logistic throughout: the paper names none.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.report.panels import Figure, curves
from lopsided.stats.times import time_to_learn
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

GD_STEPS = Statement("full-batch GD: the small set needs fewer steps", "1,500 against more than 2,000 steps (fig. 2b)")
GD_COMPUTE = Statement(
    "full-batch GD: the small set needs less compute",
    "about 100 times less for 2^14 against 2^20 (fig. 2b)",
)
SGD_STEPS = Statement(
    "mini-batch SGD: a repeated small set needs fewer steps, and so less compute, than fresh samples",
    "the small set is ahead throughout training (fig. 2a)",
)


class SmallVsLarge(Recipe):
    name = "small-vs-large"
    paper = "C: Less Data, Faster Training"
    figure_number = "2 (a, b)"
    question = "Does a multi-layer perceptron learn sparse parity faster from fewer samples?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 3, "2 CPU cores"),
        "laptop": Scale(16, 280, "2 CPU cores"),
        "paper": Scale(16, 20_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        if scale == "smoke":
            d, k, width, small, large, rates, steps, every = 8, 2, 16, 2**5, 2**7, (1.0, 1.0), (60, 60), 20
        elif scale == "laptop":
            d, k, width, small, large, rates, steps, every = 20, 6, 64, 2**13, 2**17, (3.0, 4.0), (1200, 3000), 25
        else:
            d, k, width, small, large, rates, steps, every = 20, 6, 64, 2**14, 2**20, (0.5, 0.5), (4000, 20_000), 50

        def spec(plan: dict, lr: float, steps: int) -> Spec:
            return Spec.parse(
                {
                    "task": {"name": "sparse-parity", "d": d, "k": k},
                    "model": {"name": "mlp", "width": width},
                    "plan": plan,
                    "optimizer": {"name": "sgd", "lr": lr},
                    "loss": "logistic",
                    "steps": steps,
                    "evaluation": {"every": every, "samples": 4096 if scale != "smoke" else 64},
                    "probes": [{"name": "weight-norms"}],
                }
            )

        batch = 128 if scale != "smoke" else 16
        return {
            f"GD, N = {_power(small)}": spec({"name": "full-batch", "size": small}, rates[0], steps[0]),
            f"GD, N = {_power(large)}": spec({"name": "full-batch", "size": large}, rates[0], steps[0]),
            f"SGD, N = {_power(small)}": spec({"name": "fixed", "size": small, "batch": batch}, rates[1], steps[1]),
            "SGD, fresh samples": spec({"name": "online", "batch": batch}, rates[1], steps[1]),
        }

    def statements(self) -> list[Statement]:
        return [GD_STEPS, GD_COMPUTE, SGD_STEPS]

    def claims(self, results: Results) -> list[Claim]:
        gd_small, gd_large, sgd_small, sgd_fresh = results.arms.values()
        at = (self.name, results.scale)

        def times(arm, axis):  # type: ignore[no-untyped-def]
            return time_to_learn(getattr(arm, axis), arm.metric(self.metric), self.threshold)

        return [
            GD_STEPS.faster(*at, times(gd_large, "steps"), times(gd_small, "steps"), "steps"),
            GD_COMPUTE.faster(*at, times(gd_large, "samples"), times(gd_small, "samples"), "compute"),
            SGD_STEPS.faster(*at, times(sgd_fresh, "steps"), times(sgd_small, "steps"), "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        gd, sgd = list(results.arms)[:2], list(results.arms)[2:]
        chance = {"chance": results[gd[0]].spec.task.chance}
        accuracy = "test/accuracy"
        panels = [
            curves(results, accuracy, "steps", "Gradient descent, against steps", arms=gd, marks=chance),
            curves(results, accuracy, "samples", "… against compute", arms=gd, log_x=True, marks=chance),
            curves(results, accuracy, "steps", "SGD, against steps", arms=sgd, marks=chance),
        ]
        if "norm/ratio" in results[gd[0]].values:
            panels.append(curves(results, "norm/ratio", "steps", "Second layer grows first: ‖a‖ / ‖W‖", arms=gd))
        return Figure("Sparse parity: fewer samples, faster", panels)


def _power(n: int) -> str:
    return f"2^{n.bit_length() - 1}"
