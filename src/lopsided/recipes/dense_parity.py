"""dense-parity: the gap does not need a sparse target.

Paper C, figure 14: full-batch gradient descent on (20, 20)-parity, the product of all coordinates, which biased inputs
and queries of few coordinates do not make easier. Paper: the small set is still ahead.

    lopsided run dense-parity --scale laptop

`laptop` changes: (12, 12)-parity, N = 2^11 against all 2^12 inputs (half of them: with fewer the perceptron
over-fits), a member counts as having learned at a test accuracy of 0.9. Rates are swept per arm; one seed in three
chooses, the others are judged.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SEEDS, SweptRecipe, chosen_rates, panel, perceptron, swept, tuned
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

SMALL, FULL = "small set", "whole population"
SIZES = {"smoke": (6, 2**5, 60), "laptop": (12, 2**11, 3000), "paper": (20, 2**14, 20_000)}
"""d, N, steps."""
RATES = {
    "smoke": (0.25, 0.5),
    "laptop": (0.18, 0.25, 0.35, 0.5, 0.7),
    "paper": (0.05, 0.06, 0.072, 0.086, 0.1, 0.12, 0.15, 0.18, 0.21, 0.26, 0.31),
}
LEARNED = 0.9
STEPS_CLAIM = Statement("dense parity, GD: the small set needs fewer steps", "ahead (fig. 14, left)")
COMPUTE_CLAIM = Statement("dense parity, GD: the small set needs less compute", "ahead (fig. 14, left)")


class DenseParity(SweptRecipe):
    name = "dense-parity"
    paper = "C: Less Data, Faster Training"
    figure_number = "14 (left)"
    question = "Is there a gap between small and large sets without a sparse target?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 3, "2 CPU cores"),
        "laptop": Scale(SEEDS, 120, "2 CPU cores"),
        "paper": Scale(SEEDS, 2_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        d, size, steps = SIZES[scale]

        def arm(n: int):
            changes: dict[str, Any] = {
                "task": {"name": "sparse-parity", "d": d, "k": d},
                "plan": {"name": "full-batch", "size": n},
                "training_set": {"remove": "repeats"},
                "until": {"metric": "test/accuracy", "at_least": LEARNED},
            }
            return lambda lr: perceptron(scale, lr, steps=steps, **changes)

        return swept({SMALL: arm(size), FULL: arm(2**d)}, RATES[scale])

    def statements(self) -> list[Statement]:
        return [STEPS_CLAIM, COMPUTE_CLAIM]

    def claims(self, results: Results) -> list[Claim]:
        at, small, full = (self.name, results.scale), tuned(results, SMALL), tuned(results, FULL)
        return [
            STEPS_CLAIM.faster(*at, full.times(), small.times(), "steps"),
            COMPUTE_CLAIM.faster(*at, full.times("samples"), small.times("samples"), "compute"),
        ]

    def figure(self, results: Results) -> Figure:
        arms = [tuned(results, name) for name in (SMALL, FULL)]
        return Figure(
            "Dense parity",
            [
                panel(arms, "test/accuracy", "steps", "Against steps"),
                panel(arms, "test/accuracy", "samples", "… against compute"),
                panel(arms, "norm/ratio", "steps", "‖a‖ / ‖W‖"),
                chosen_rates(results, (SMALL, FULL)),
            ],
        )
