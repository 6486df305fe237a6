"""set-size: too small a set over-fits, too large a set is slow; a range in between is best.

Paper C, figure 18: full-batch training on sets of different sizes. Paper: a proper size speeds learning up without
over-fitting; smaller sets are fast at first and end worse.

    lopsided run set-size --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^8 ... 2^14 (all inputs). Rates are swept per arm; one seed in three chooses, the
others are judged.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import (
    RATES,
    SEEDS,
    SweptRecipe,
    chosen_rates,
    full_batch,
    panel,
    perceptron,
    swept,
    swept_names,
    tuned,
)
from lopsided.report.panels import Figure, Panel, over_members
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

POWERS = {"smoke": (5, 8), "laptop": (8, 9, 10, 11, 12, 13, 14), "paper": (10, 11, 12, 13, 14, 15, 16, 18, 20)}
BETWEEN = {"laptop": 11, "paper": 14}
STATEMENTS = [
    Statement("a set in between ends with a higher accuracy than the smallest", "small sets over-fit (fig. 18)"),
    Statement("a set in between needs fewer steps than all inputs", "a range in between is fastest (fig. 18)"),
    Statement("… and less compute", "a range in between is fastest (fig. 18)"),
]


class SetSize(SweptRecipe):
    name = "set-size"
    paper = "C: Less Data, Faster Training"
    figure_number = "18"
    question = "How small may a repeated set be?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 3, "2 CPU cores"),
        "laptop": Scale(SEEDS, 170, "2 CPU cores"),
        "paper": Scale(SEEDS, 500_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        def arm(power: int):
            return lambda lr: perceptron(scale, lr, **full_batch(scale, 2**power))

        return swept({_name(power): arm(power) for power in POWERS[scale]}, RATES[scale])

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        powers = POWERS[results.scale]
        least, between, most = (tuned(results, _name(p)) for p in (powers[0], BETWEEN[results.scale], powers[-1]))
        low, high = (t.curve("test/accuracy")[:, -1] for t in (least, between))
        return [
            STATEMENTS[0].higher(*at, low, high, "final test accuracy"),
            STATEMENTS[1].faster(*at, most.times(), between.times(), "steps"),
            STATEMENTS[2].faster(*at, most.times("samples"), between.times("samples"), "compute"),
        ]

    def figure(self, results: Results) -> Figure:
        names = swept_names(results)
        arms = [tuned(results, name) for name in names]
        sizes = np.array([float(t.arm.setting("plan.size")) for t in arms])
        panels = [panel(arms, "test/accuracy", "steps", "Gradient descent on N samples")]
        by_steps, by_samples = [t.times("steps") for t in arms], [t.times("samples") for t in arms]
        for found, label in ((by_steps, "steps to learn"), (by_samples, "compute to learn")):
            times = np.stack([t.ordinal for t in found], axis=1)
            line = over_members("at the best rate", sizes, times, 0, "points")
            panels.append(Panel(f"{label.capitalize()}, by N", "N", label, [line], log_x=True, log_y=True))
        return Figure("A set in between is best", [*panels, chosen_rates(results, names)])


def _name(power: int) -> str:
    return f"N = 2^{power}"
