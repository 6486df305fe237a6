"""small-vs-large-transformer: transformers learn faster from small sets, repeated, than from fresh samples.

Paper C, figure 1: two-layer transformers, mini-batch AdamW, on sparse parity (six phases of growing sets), a
single-index model (a small set first, then fresh samples), in-context linear regression and modular addition (four
phases each). Paper: in all four the repeated sets are ahead throughout.

    lopsided run small-vs-large-transformer --scale laptop

`laptop` changes: (10, 4)-parity, He_3 in d = 12, regression in 3 dimensions from 5 examples, numbers below 100 in two
decimal digits each modulo 7; width 32 with 4 heads, batches of 32. Schedules are the paper's, as shares of an online
run of 6,000 to 8,000 steps. Learned: 95 % accuracy (parity), 90 % (addition), a loss of 1 (single-index: a third of
answering 0; regression: that of least squares on one example). Learning rate and, for parity, beta_2 are swept per arm;
one seed in three chooses, the others are judged.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes import _sequences as sequences
from lopsided.recipes._repetition import SweptRecipe, panel, swept, tuned
from lopsided.recipes._transformers import (
    BETAS,
    FEWER_BETAS,
    LARGER_BATCH,
    RATES,
    SEEDS,
    arm,
    online,
    phased,
    six_phases,
)
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results
from lopsided.theory.in_context import least_squares_loss

REPEATED, FRESH = "repeated", "fresh"
PARITY, INDEX, REGRESSION, ADDITION = "parity", "single-index", "regression", "addition"
TASKS = (PARITY, INDEX, REGRESSION, ADDITION)
STATEMENTS = {
    PARITY: Statement("parity: six phases need fewer steps than fresh samples", "ahead (fig. 1a)"),
    INDEX: Statement("single-index: a small set first needs fewer steps", "ahead (fig. 1b)"),
    REGRESSION: Statement("in-context regression: four phases need fewer steps", "ahead (fig. 1c)"),
    ADDITION: Statement("modular addition: four phases need fewer steps", "ahead (fig. 1d)"),
}


class SmallVsLargeTransformer(SweptRecipe):
    name = "small-vs-large-transformer"
    paper = "C: Less Data, Faster Training"
    figure_number = "1"
    question = "Does a transformer learn faster from fewer samples, repeated?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 20, "2 CPU cores"),
        "laptop": Scale(SEEDS, 700, "2 CPU cores"),
        "paper": Scale(SEEDS, 20_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        fresh, wider = online(scale), online(scale, LARGER_BATCH)
        four = phased(scale, sequences.ADDITION_STEPS[scale], sequences.FOUR_SHARES, sequences.FOUR_EPOCHS)
        pairs = {
            PARITY: (arm, six_phases(scale), fresh),
            INDEX: (sequences.single_index, sequences.small_first(scale), wider),
            REGRESSION: (sequences.regression, sequences.regression_phases(scale), wider),
            ADDITION: (sequences.addition, four, fresh),
        }
        specs = {}
        for name, (make, repeated, own) in pairs.items():
            arms = {_name(name, REPEATED): make(scale, plan=repeated), _name(name, FRESH): make(scale, plan=own)}
            rates = sequences.REGRESSION_RATES if name == REGRESSION else RATES
            specs |= swept(arms, rates[scale], b2=BETAS[scale] if name == PARITY else FEWER_BETAS[scale])
        return specs

    def statements(self) -> list[Statement]:
        return [STATEMENTS[task] for task in TASKS]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        found = []
        for task in TASKS:
            repeated, fresh = (tuned(results, _name(task, plan)).times() for plan in (REPEATED, FRESH))
            found.append(STATEMENTS[task].faster(*at, fresh, repeated, "steps"))
        return found

    def figure(self, results: Results) -> Figure:
        titles = {
            PARITY: "Sparse parity",
            INDEX: "Single-index model",
            REGRESSION: "In-context linear regression",
            ADDITION: "Modular addition",
        }
        dimension = sequences.REGRESSION[results.scale][0]
        reference = {
            f"least squares, {j} example{'s' * (j > 1)}": float(least_squares_loss(dimension, j))
            for j in range(1, dimension)
        }
        panels = []
        for task, title in titles.items():
            arms = [tuned(results, _name(task, plan)) for plan in (REPEATED, FRESH)]
            metric = "test/loss" if task in (INDEX, REGRESSION) else "test/accuracy"
            marks = reference if task == REGRESSION else None
            panels.append(panel(arms, metric, "steps", title, log_x=task == PARITY, marks=marks))
        return Figure("Fewer samples, faster: transformers", panels)


def _name(task: str, plan: str) -> str:
    return f"{task}, {plan}"
