"""random-labels-transformer: a first phase on random labels speeds up modular addition.

Paper C, figure 20: two-layer causal transformers, AdamW, mini-batches. First a small set with random labels, half a
percent of the samples seen afterwards, for 50 epochs (a fifth of all training), then fresh samples with true labels.
Paper: in all it learns faster than fresh samples with true labels from the start.

    lopsided run random-labels-transformer --scale laptop

`laptop` changes: numbers below 100 in two decimal digits each, p = 7, width 32 with 4 heads, 8,000 steps of 32 fresh
samples after 2,000 on 1,280 samples (the paper does not name its numbers). A third arm has the true labels in the first
phase. Steps count both phases. Learned: a test accuracy of 0.9. Learning rates are swept per arm, beta_2 is .95; one
seed in three chooses, the others are judged.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, chosen_rates, panel, swept, tuned
from lopsided.recipes._sequences import ADDITION_STEPS, addition
from lopsided.recipes._transformers import BATCH, FEWER_BETAS, RATES, SEEDS, Arm, online
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

RANDOM, TRUE, FRESH = "random labels first", "true labels first", "fresh samples only"
SHARE, EPOCHS = 0.005, 50
"""Of the first phase: its size, as a share of the samples that follow."""
STATEMENTS = [
    Statement("random labels first need fewer steps in all than fresh samples", "faster (fig. 20)"),
    Statement("… counted from the end of the first phase, they need fewer steps, too", "follows from fig. 20"),
    Statement("true labels first need fewer steps in all than fresh samples", "ahead (fig. 1d, four phases)"),
]


class RandomLabelsTransformer(SweptRecipe):
    name = "random-labels-transformer"
    paper = "C: Less Data, Faster Training"
    figure_number = "20"
    question = "Does a first phase on random labels help a transformer to add modulo p?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(SEEDS, 270, "2 CPU cores"),
        "paper": Scale(SEEDS, 6_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        after, batch = ADDITION_STEPS[scale], BATCH[scale]
        size = max(4, round(SHARE * after * batch))
        first = 20 * max(1, round(EPOCHS * size / batch / 20))  # a multiple of the steps between evaluations

        def phases(labels: str) -> Arm:
            plan: dict[str, Any] = {
                "name": "phases",
                "batch": batch,
                "phases": [
                    {"steps": first, "size": size, "labels": labels},
                    {"steps": after, "size": 2**30},  # so many that hardly any comes twice
                ],
            }
            return addition(scale, plan=plan, steps=first + after)

        arms = {RANDOM: phases("random"), TRUE: phases("true"), FRESH: addition(scale, plan=online(scale))}
        return swept(arms, RATES[scale], b2=FEWER_BETAS[scale])

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        random, true, fresh = (tuned(results, name).times() for name in (RANDOM, TRUE, FRESH))
        first = next(iter(tuned(results, RANDOM).arm.setting("plan.phases"))).steps
        later = random._replace(time=random.time - first)
        return [
            STATEMENTS[0].faster(*at, fresh, random, "steps"),
            STATEMENTS[1].faster(*at, fresh, later, "steps"),
            STATEMENTS[2].faster(*at, fresh, true, "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        names = (RANDOM, TRUE, FRESH)
        arms = [tuned(results, name) for name in names]
        first = float(arms[0].arm.setting("plan.phases")[0].steps)
        return Figure(
            "Random labels first, modular addition",
            [
                panel(arms, "test/accuracy", "steps", "At each arm's best settings", moments={"phase 2": first}),
                chosen_rates(results, names),
            ],
        )
