"""curriculum: a mixture of easier compositions helps, and a power law removes the plateaus that it leaves.

Paper A, figure 11: S5, a mixture of 1, 2, 3 and 4 hops. Paper: under uniform skills the loss still rests on plateaus;
under a power law they are much shorter, and training is faster.

    lopsided run curriculum --scale laptop

`laptop` changes: S4 with 4 hops, one token per element, 2 layers of width 64, 2,000 steps, exponent 1, lexicographic
order. A network that knows only the quotient by a normal subgroup N has the loss log |N| (for S4: chance log 24, log 12
once the sign is known, log 4 once the quotient S3 is); a plateau is time within 5 % of such a loss, on the uniform test
loss of all 4 hops.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._frequency import BATCH, STEPS, UNIFORM, power_law, tracking
from lopsided.report.panels import Figure, curves
from lopsided.stats.plateaus import plateau_length
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Arm, Results

LENGTH = {**STEPS, "laptop": 2000}
MIXED = ("uniform, mixture", "power law, mixture")
PLAIN = ("uniform", "power law")
SHORTER = Statement(
    "with a mixture of hops, a power law spends fewer steps on plateaus than uniform skills",
    "plateaus remain under uniform skills and shrink under a power law (fig. 11)",
)
FASTER = Statement(
    "with a mixture of hops, a power law ends above uniform skills in uniform-test accuracy",
    "the power law accelerates training under a curriculum (fig. 11)",
)
HELPS = Statement(
    "under uniform skills the mixture ends above training on 4 hops only",
    "uniform skills learn with the curriculum, not without (fig. 11, fig. 1)",
)
WITHOUT = Statement(
    "without a mixture, a power law spends fewer steps on plateaus than uniform skills",
    "uniform skills stay at chance (fig. 1)",
)


class Curriculum(Recipe):
    name = "curriculum"
    paper = "A: The Power of Power Law"
    figure_number = "11"
    question = "Is a curriculum over the number of hops enough, or does the power law still help?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 9, "2 CPU cores"),
        "laptop": Scale(8, 380, "2 CPU cores"),
        "paper": Scale(3, 5e6, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        hops, steps = {"smoke": 2, "laptop": 4, "paper": 4}[scale], LENGTH[scale]
        stage = {"steps": steps, "weights": [1.0] * hops}
        mixture = {"name": "curriculum", "batch": BATCH[scale], "stages": [stage]}

        def arm(skills: dict[str, Any], **changes: Any) -> Spec:
            return tracking(scale, skills, hops=hops, steps=steps, **changes)

        laws = (UNIFORM, power_law(1.0))
        plain = {name: arm(law) for name, law in zip(PLAIN, laws, strict=True)}
        return plain | {name: arm(law, plan=mixture) for name, law in zip(MIXED, laws, strict=True)}

    def statements(self) -> list[Statement]:
        return [SHORTER, FASTER, HELPS, WITHOUT]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        rest = {name: _plateau(arm) for name, arm in results.arms.items()}
        final = {name: arm.final(self.metric) for name, arm in results.arms.items()}
        what = "steps on plateaus, uniform minus power law"
        return [
            SHORTER.higher(*at, rest[MIXED[1]], rest[MIXED[0]], what),
            FASTER.higher(*at, final[MIXED[0]], final[MIXED[1]], "final accuracy"),
            HELPS.higher(*at, final[PLAIN[0]], final[MIXED[0]], "final accuracy"),
            WITHOUT.higher(*at, rest[PLAIN[1]], rest[PLAIN[0]], what),
        ]

    def figure(self, results: Results) -> Figure:
        entropies = results[PLAIN[0]].setting("task.plateaus")
        marks = {f"log {np.exp(e):.3g}": e for e in entropies}
        panels = [
            curves(results, "test/loss", "steps", title, arms=arms, marks=marks)
            for title, arms in (("With a mixture of hops", MIXED), ("All hops from the start", PLAIN))
        ]
        panels.append(curves(results, self.metric, "steps", "Uniform-test accuracy"))
        return Figure("Curriculum and power law", panels)


def _plateau(arm: Arm) -> np.ndarray:
    """(M,) steps on plateaus."""
    return plateau_length(arm.steps, arm.metric("test/loss"), arm.setting("task.plateaus"))
