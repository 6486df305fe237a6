"""bias-removal: a small set still learns faster when its input bias is removed.

Paper C, figures 3 (a) and 16. A small sample's coordinates do not average to zero, and biased inputs make parities
easier; the paper removes that bias (mean input zero, or mean input and mean label zero in every class) and finds the
small set as fast as before.

    lopsided run bias-removal --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against the whole population of 2^14 inputs, full-batch gradient descent.
Balanced sets consist of pairs x, -x, or of two pairs with opposite labels, so all means are exactly zero; pairs carry
the second moments of half as many independent samples, a detail that the paper leaves open. Rates are swept per arm;
one seed in three chooses, the others are judged.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import (
    RATES,
    SEEDS,
    SMALL,
    SweptRecipe,
    chosen_rates,
    full_batch,
    panel,
    perceptron,
    swept,
    tuned,
)
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

PLAIN, INPUTS, LABELS, FULL = "small set", "small, mean input 0", "small, mean input and label 0", "whole population"
STATEMENTS = [
    Statement("the plain small set needs fewer steps than the whole population", "ahead throughout (fig. 3a)"),
    Statement("so does a small set whose mean input is zero", "as fast as the plain small set (fig. 3a)"),
    Statement("and one whose mean label, and mean input of each label, are zero", "as fast as the plain one (fig. 3a)"),
    Statement("removing the input bias costs less than 25 % in steps", "no visible difference (fig. 3a)"),
]


class BiasRemoval(SweptRecipe):
    name = "bias-removal"
    paper = "C: Less Data, Faster Training"
    figure_number = "3 (a)"
    question = "Does the gap between small and large sets come from the small set's input bias?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 3, "2 CPU cores"),
        "laptop": Scale(SEEDS, 100, "2 CPU cores"),
        "paper": Scale(SEEDS, 400_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        plan = {"name": "full-batch", "size": SMALL[scale]}

        def small(remove: str):
            return lambda lr: perceptron(scale, lr, plan=plan, training_set={"remove": remove})

        arms = {
            PLAIN: small("none"),
            INPUTS: small("balanced-inputs"),
            LABELS: small("balanced-labels"),
            FULL: lambda lr: perceptron(scale, lr, **full_batch(scale)),
        }
        return swept(arms, RATES[scale])

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        plain, inputs, labels, full = (tuned(results, name).times() for name in (PLAIN, INPUTS, LABELS, FULL))
        return [
            *(s.faster(*at, full, t, "steps") for s, t in zip(STATEMENTS, (plain, inputs, labels), strict=False)),
            STATEMENTS[3].not_ahead(*at, inputs, plain, "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        names = (PLAIN, INPUTS, LABELS, FULL)
        arms = [tuned(results, name) for name in names]
        return Figure(
            "Removing the bias of the inputs does not remove the gap",
            [
                panel(arms, "test/accuracy", "steps", "Against steps"),
                panel(arms, "test/accuracy", "samples", "… against compute"),
                chosen_rates(results, names),
            ],
        )
