"""auto-schedule: phases that end by themselves do as well as hand-made ones, and far better than fresh samples.

Paper C, figure 19: six nested subsets, sizes geometric from 1/320 to 1/50 of the data that an online run sees; the next
begins at 75 % training accuracy or after 50 epochs. Paper: comparable to the manual six phases, both much faster than
online training.

    lopsided run auto-schedule --scale laptop

`laptop` changes: (10, 4)-parity, a transformer of width 32 with 4 heads, an online run of 8,000 steps of 32 samples (so
that subsets have 800 to 5,120 samples; there are 1,024 different inputs, and larger subsets hold most of them several
times). Training accuracy is that of an epoch's batches. Learning rate and beta_2 are swept per arm; one seed in three
chooses, the others are judged. "Comparable" means that neither needs 25 % more steps.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, chosen_rates, panel, swept, tuned
from lopsided.recipes._transformers import BATCH, BETAS, RATES, SEEDS, STEPS, arm, online, six_phases
from lopsided.report.panels import Figure, Panel, over_members
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

AUTO, HAND, FRESH = "auto-schedule", "six phases by hand", "fresh samples"
STATEMENTS = [
    Statement("the auto-schedule needs fewer steps than fresh samples", "much faster (fig. 19)"),
    Statement("so do six phases made by hand", "much faster (fig. 19)"),
    Statement("the auto-schedule needs the same steps as the six phases, within 25 %", "comparable (fig. 19)"),
]


class AutoSchedule(SweptRecipe):
    name = "auto-schedule"
    paper = "C: Less Data, Faster Training"
    figure_number = "19"
    question = "Can the phases of repetition be found without trying schedules?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(SEEDS, 520, "2 CPU cores"),
        "paper": Scale(SEEDS, 5_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        auto: dict[str, Any] = {"name": "auto-schedule", "batch": BATCH[scale], "online_steps": STEPS[scale]}
        plans = {AUTO: auto, HAND: six_phases(scale), FRESH: online(scale)}
        arms = {name: arm(scale, plan=plan) for name, plan in plans.items()}
        return swept(arms, RATES[scale], b2=BETAS[scale])

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        auto, hand, fresh = (tuned(results, name).times() for name in (AUTO, HAND, FRESH))
        return [
            STATEMENTS[0].faster(*at, fresh, auto, "steps"),
            STATEMENTS[1].faster(*at, fresh, hand, "steps"),
            STATEMENTS[2].closed(*at, hand, auto, "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        names = (AUTO, HAND, FRESH)
        arms = [tuned(results, name) for name in names]
        auto = arms[0]
        phases = over_members("auto-schedule", auto.arm.steps, auto.curve("plan/phase"), 0)
        return Figure(
            "Schedules by hand and by themselves",
            [
                panel(arms, "test/accuracy", "steps", "At each arm's best settings", log_x=True),
                Panel("Which phase members are in", "steps", "phase", [phases], log_x=True),
                chosen_rates(results, names),
            ],
        )
