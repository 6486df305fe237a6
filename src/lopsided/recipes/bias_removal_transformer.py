"""bias-removal-transformer: a transformer, too, learns faster from repeated sets whose input bias is removed.

Paper C, figure 16 (a): mini-batches, (20, 6)-parity. Paper: repetition stays ahead of fresh samples when every subset
has mean input zero, also when mean label and mean input of each label are zero.

    lopsided run bias-removal-transformer --scale laptop

`laptop` changes: (10, 4)-parity, a transformer of width 32 with 4 heads, six phases of an online run of 8,000 steps.
Balanced subsets consist of pairs x, -x, or of two pairs with opposite labels, as in `bias-removal`. Learning rate and
beta_2 are swept per arm; one seed in three chooses, the others are judged.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, chosen_rates, panel, swept, tuned
from lopsided.recipes._transformers import BETAS, RATES, SEEDS, arm, online, six_phases
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

PLAIN, INPUTS, LABELS = "six phases", "six phases, mean input 0", "six phases, mean input and label 0"
FRESH = "fresh samples"
REMOVE = {PLAIN: "none", INPUTS: "balanced-inputs", LABELS: "balanced-labels"}
STATEMENTS = [
    Statement("plain six phases need fewer steps than fresh samples", "ahead (fig. 16a)"),
    Statement("so do six phases whose mean input is zero", "ahead (fig. 16a)"),
    Statement("and those whose mean label, and mean input of each label, are zero", "ahead (fig. 16a)"),
    Statement("removing the input bias costs less than 25 % in steps", "no visible difference (fig. 16a)"),
]


class BiasRemovalTransformer(SweptRecipe):
    name = "bias-removal-transformer"
    paper = "C: Less Data, Faster Training"
    figure_number = "16 (a)"
    question = "Does a transformer's gap come from the small sets' input bias?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(SEEDS, 500, "2 CPU cores"),
        "paper": Scale(SEEDS, 8_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        arms = {
            name: arm(scale, plan=six_phases(scale), training_set={"remove": remove}) for name, remove in REMOVE.items()
        }
        arms[FRESH] = arm(scale, plan=online(scale))
        return swept(arms, RATES[scale], b2=BETAS[scale])

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        plain, inputs, labels, fresh = (tuned(results, name).times() for name in (*REMOVE, FRESH))
        return [
            *(s.faster(*at, fresh, t, "steps") for s, t in zip(STATEMENTS, (plain, inputs, labels), strict=False)),
            STATEMENTS[3].not_ahead(*at, inputs, plain, "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        names = (*REMOVE, FRESH)
        return Figure(
            "Removing the bias of the inputs does not remove a transformer's gap",
            [
                panel([tuned(results, n) for n in names], "test/accuracy", "steps", "Mini-batch AdamW", log_x=True),
                chosen_rates(results, names),
            ],
        )
