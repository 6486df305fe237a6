"""exponent: a larger exponent learns the head sooner and the tail later.

Paper A, figures 7 and 8: S5 with 4 hops, lexicographic order. Paper: exponents .5 and .75 fail; of 1, 1.25 and 1.5 the
largest is fastest early, and falls behind on the tail in the end. The last two arms are ours: the exponent moves from
1.5, or from 1, to 0 between a fifth and three fifths of training.

    lopsided run exponent --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 2,500 steps; the longest task on which
this machine sees a fixed exponent learn the tail within its time. Uniform skills stall there where they know the
permutation up to a quotient of the group; on 4 hops they stay at chance (`curriculum`).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._frequency import BINS, LEARNED, UNIFORM, annealed, power_law, reaches, tracking
from lopsided.report.panels import Figure, curves
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

ALPHAS = (0.5, 0.75, 1.0, 1.25, 1.5)
ANNEALED = {start: f"annealed {start:g} to 0" for start in (1.5, 1.0)}
TAIL = f"bin{BINS}/accuracy"
OF_BEST = 0.95
"""Share of the best fixed exponent's final tail accuracy that the annealed one has to reach."""

SMALL = {
    alpha: Statement(
        f"exponent {alpha:g} is too small: it ends below exponent 1 in uniform-test accuracy",
        f"exponent {alpha:g} fails on S5, exponent 1 learns (fig. 7, 8)",
    )
    for alpha in (0.5, 0.75)
}
LEARNS = Statement("exponent 1 ends above uniform skills in uniform-test accuracy", "exponent 1 learns S5 (fig. 8)")
HEAD = {
    pair: Statement(
        f"the head: exponent {pair[1]:g} learns rank bin 1 with less compute than exponent {pair[0]:g}",
        "a larger exponent descends faster at first (fig. 8)",
    )
    for pair in ((0.5, 1.0), (1.0, 1.5))
}
LATE = Statement(
    "the tail: exponent 1.5 ends below exponent 1 in the accuracy of the last rank bin",
    "exponent 1.5 falls behind in the end (fig. 8)",
)
BETTER = {
    start: Statement(
        f"annealing from {start:g} to 0 reaches 95 % of the best fixed exponent's final accuracy on the last rank bin "
        "with less compute than that exponent",
        "not in the paper",
    )
    for start in ANNEALED
}


def _name(alpha: float) -> str:
    return f"alpha {alpha:g}"


class Exponent(Recipe):
    name = "exponent"
    paper = "A: The Power of Power Law"
    figure_number = "7, 8"
    question = "Which exponent of the skills' power law learns first, and which learns everything?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 7, "2 CPU cores"),
        "laptop": Scale(8, 850, "2 CPU cores"),
        "paper": Scale(3, 9e6, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        arms = {"uniform": UNIFORM} | {_name(a): power_law(a) for a in ALPHAS}
        arms |= {name: annealed(start, 0.2, 0.6) for start, name in ANNEALED.items()}
        return {name: tracking(scale, skills) for name, skills in arms.items()}

    def statements(self) -> list[Statement]:
        return [LEARNS, *SMALL.values(), *HEAD.values(), LATE, *BETTER.values()]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        arm = {alpha: results[_name(alpha)] for alpha in ALPHAS}
        final = {alpha: a.final(self.metric) for alpha, a in arm.items()}
        tail = {alpha: a.final(TAIL) for alpha, a in arm.items()}
        best = max(ALPHAS, key=lambda alpha: (np.median(tail[alpha]), tail[alpha].mean()))
        goal = OF_BEST * float(np.median(tail[best]))
        head = {alpha: reaches(a, "bin1/accuracy", LEARNED) for alpha, a in arm.items()}
        fixed = reaches(arm[best], TAIL, goal)
        return [
            LEARNS.higher(*at, results["uniform"].final(self.metric), final[1.0], "final accuracy"),
            *(s.higher(*at, final[alpha], final[1.0], "final accuracy") for alpha, s in SMALL.items()),
            *(s.faster(*at, head[slow], head[fast], "compute") for (slow, fast), s in HEAD.items()),
            LATE.higher(*at, tail[1.5], tail[1.0], "final accuracy of the last bin"),
            *(
                s.faster(
                    *at,
                    fixed,
                    reaches(results[ANNEALED[start]], TAIL, goal),
                    f"compute to {goal:.2f} (fixed: {best:g})",
                )
                for start, s in BETTER.items()
            ),
        ]

    def figure(self, results: Results) -> Figure:
        chance = {"chance": results["uniform"].setting("task.chance")}
        panels = [
            curves(results, self.metric, "samples", "All skills", marks=chance),
            curves(results, "bin1/accuracy", "samples", "Head (ranks 0–20 %)"),
            curves(results, TAIL, "samples", "Tail (ranks 80–100 %)"),
        ]
        return Figure("The exponent: fast on the head or fair to the tail", panels)
