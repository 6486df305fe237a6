"""state-tracking: a power law of skills makes composition learnable where uniform data does not.

Paper A, figure 1 (right) and appendix C. The task is to name the product of k permutations without seeing intermediate
states. Paper: on S5 with k = 4, a power law of exponent 1.5 in random rank order is learned almost perfectly while
uniform data stays at chance. The third arm is ours: the exponent is annealed to 0 during training.

    lopsided run state-tracking --scale laptop

`laptop` changes: A5 with 3 hops, one token per element, 2 layers of width 64 instead of S5 with 4 hops in digits,
4 layers of width 256 and 200,000 steps.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._frequency import UNIFORM, power_law, tracking
from lopsided.report.panels import Figure, curves
from lopsided.stats.times import time_to_learn
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

LEARNS = Statement(
    "power-law skills end above uniform skills in uniform-test accuracy",
    "S5, k = 4: almost perfect under exponent 1.5 in random order, chance under uniform (fig. 1)",
)
CHANCE = Statement("under uniform skills accuracy stays within twice chance", "uniform cannot learn the task (fig. 1)")
ANNEALED = Statement(
    "annealing the exponent to 0 reaches 90 % uniform-test accuracy with less compute than the fixed exponent",
    "not in the paper",
)


class StateTracking(Recipe):
    name = "state-tracking"
    paper = "A: The Power of Power Law"
    figure_number = "1 (right)"
    question = "Can a transformer learn to compose permutations from uniform skills, or does it need a power law?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 5, "2 CPU cores"),
        "laptop": Scale(8, 530, "2 CPU cores"),
        "paper": Scale(4, 4e6, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        changes: dict[str, Any] = {"rank_order": "random"}
        if scale == "laptop":
            changes |= {"task": {"name": "state-tracking", "group": "A5", "hops": 3}, "steps": 4000}
            changes |= {"evaluation": {"every": 125, "samples": 2048}}
        laws = {
            "uniform": UNIFORM,
            "power law": power_law(1.5),
            "annealed": {"name": "annealed", "start": 1.5, "end": 0.0, "begin": 0.0, "finish": 0.35},
        }
        return {name: tracking(scale, law, **changes) for name, law in laws.items()}

    def statements(self) -> list[Statement]:
        return [LEARNS, CHANCE, ANNEALED]

    def claims(self, results: Results) -> list[Claim]:
        uniform, power, annealed = (results[a] for a in ("uniform", "power law", "annealed"))
        at = (self.name, results.scale)
        chance = uniform.setting("task.chance")
        time = {a.name: time_to_learn(a.samples, a.metric(self.metric), self.threshold) for a in (power, annealed)}
        return [
            LEARNS.higher(*at, uniform.final(self.metric), power.final(self.metric), "final accuracy"),
            CHANCE.below(*at, uniform.metric(self.metric).max(1) / chance, 2.0, "best accuracy / chance"),
            ANNEALED.faster(*at, time["power law"], time["annealed"], "compute"),
        ]

    def figure(self, results: Results) -> Figure:
        chance = {"chance": results["uniform"].setting("task.chance")}
        panels = [curves(results, "test/accuracy", "samples", "Uniform-test accuracy", marks=chance)]
        panels += [
            curves(results, [f"bin{b}/accuracy" for b in range(1, 6)], "samples", f"Per rank bin: {arm}", arms=[arm])
            for arm in ("power law", "annealed")
            if "bin1/accuracy" in results[arm].values
        ]
        return Figure("State tracking: who learns to compose?", panels)
