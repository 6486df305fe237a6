"""qk-overfitting: with QK norm a transformer memorises a repeated set sooner and generalises worse.

Paper C, figure 28: (20, 6)-parity, six phases, mini-batches. Paper: QK norm reaches a high training accuracy sooner in
the first two phases while test accuracy stays low.

    lopsided run qk-overfitting --scale laptop

`laptop` changes: (10, 4)-parity, a transformer of width 32 with 4 heads; the first subset alone (256 samples, which
are about 230 of the 1,024 inputs) for 2,000 steps, so that nothing but this set can be learned; learning rate .0015,
beta_2 .95 for both arms. Training accuracy is measured on the set itself.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._transformers import BATCH, RATES, SEEDS, transformer
from lopsided.report.panels import Figure, curves
from lopsided.stats.times import Times, time_to_learn
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

PLAIN, NORM = "default", "QK norm"
SIZES = {"smoke": (16, 60), "laptop": (256, 2000), "paper": (3200, 10_000)}
"""N, steps: of the first of the paper's six subsets, which its statement is about."""
BETA = 0.95
FITTED = 0.95
STATEMENTS = [
    Statement("QK norm fits the small set in fewer steps", "sooner in the first phases (fig. 28, left)"),
    Statement("… and ends with a lower test accuracy", "test accuracy stays low (fig. 28, right)"),
    Statement("… so that training and test accuracy lie further apart", "over-fits (fig. 28)"),
]


class QKOverfitting(Recipe):
    name = "qk-overfitting"
    paper = "C: Less Data, Faster Training"
    figure_number = "28"
    question = "Does QK norm make a transformer over-fit a set that it repeats?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 5, "2 CPU cores"),
        "laptop": Scale(2 * SEEDS, 125, "2 CPU cores"),
        "paper": Scale(SEEDS, 500_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        size, steps = SIZES[scale]
        changes: dict[str, Any] = {
            "plan": {"name": "fixed", "size": size, "batch": BATCH[scale]},
            "steps": steps,
            "probes": [{"name": "train-metrics", "samples": size}],
            "until": None,
        }
        rate = RATES[scale][0]
        return {
            name: transformer(scale, rate, BETA, **changes, model={"qk_norm": name == NORM}) for name in (PLAIN, NORM)
        }

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        plain, norm = (results[name] for name in (PLAIN, NORM))

        def apart(arm: Any) -> np.ndarray:
            return arm.final("train-set/accuracy") - arm.final("test/accuracy")

        test = plain.final("test/accuracy"), norm.final("test/accuracy")
        return [
            STATEMENTS[0].faster(*at, _fitted(plain), _fitted(norm), "steps"),
            STATEMENTS[1].higher(*at, test[1], test[0], "final test accuracy, default minus QK norm"),
            STATEMENTS[2].higher(*at, apart(plain), apart(norm), "training minus test accuracy at the end"),
        ]

    def figure(self, results: Results) -> Figure:
        return Figure(
            "QK norm and a repeated set",
            [
                curves(results, "train-set/accuracy", "steps", "On the set itself", log_x=True),
                curves(results, "test/accuracy", "steps", "On fresh samples", log_x=True),
            ],
        )


def _fitted(arm: Any) -> Times:
    """Steps until the set itself is known."""
    return time_to_learn(arm.steps, arm.metric("train-set/accuracy"), FITTED)
