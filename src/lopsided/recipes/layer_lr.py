"""layer-lr: the first layer wants a much larger learning rate than the second; with it, the gap closes.

Paper C, figure 6: gradient descent on (20, 6)-parity over a grid of (first-layer rate, second-layer rate). Paper: the
best rates have η_first >> η_second and close the gap between the full population and N = 2^14.

    lopsided run layer-lr --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against all 2^14 inputs; second-layer rates .125 ... 4, ratios η_first /
η_second 1/4, 1, 4, 16, 64. One seed in three chooses the best pair per arm, the others are judged. "Closed" means that
neither arm needs 25 % more steps than the other, each at its best pair.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import (
    FEWER_SEEDS,
    SEEDS,
    SMALL,
    SweptRecipe,
    Tuned,
    full_batch,
    panel,
    perceptron,
    swept,
    tuned,
)
from lopsided.report.panels import Figure, Panel, over_members
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

RATIOS = {
    "smoke": (1.0, 4.0),
    "laptop": (0.25, 1.0, 4.0, 16.0, 64.0),
    "paper": (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128),
}
SECOND = {
    "smoke": (0.25, 0.5),
    "laptop": (0.125, 0.25, 0.5, 1.0, 2.0, 4.0),
    "paper": tuple(float(r) for r in np.geomspace(0.01, 2, 30).round(4)),
}
STATEMENTS = [
    Statement("one rate for both layers: the small set needs fewer steps", "a gap (fig. 6)"),
    Statement(
        "whole population: η_first > η_second needs fewer steps than one rate", "η_first >> η_second is best (fig. 6)"
    ),
    Statement("whole population: … and fewer than η_first < η_second", "η_first >> η_second is best (fig. 6)"),
    Statement(
        "each at its best pair of rates, small and large sets need the same steps, within 25 %", "no gap (fig. 6)"
    ),
]


class LayerLearningRate(SweptRecipe):
    name = "layer-lr"
    paper = "C: Less Data, Faster Training"
    figure_number = "6"
    question = "Do separate learning rates for the two layers close the gap?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 3, "2 CPU cores"),
        "laptop": Scale(FEWER_SEEDS, 350, "2 CPU cores"),
        "paper": Scale(SEEDS, 10_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        def arm(size: int | None, ratio: float):
            groups = [{"match": "layers.0.*", "lr": ratio}]
            return lambda lr: perceptron(scale, lr, **full_batch(scale, size), groups=groups, steps=_steps(scale))

        arms = {
            _arm(small, r): arm(SMALL[scale] if small else None, r) for small in (True, False) for r in RATIOS[scale]
        }
        return swept(arms, SECOND[scale])

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at, ratios = (self.name, results.scale), RATIOS[results.scale]
        small_one, large_one = (tuned(results, _arm(small, 1.0)) for small in (True, False))
        small, large = _best(results, True, ratios), _best(results, False, ratios)
        above = _best(results, False, [r for r in ratios if r > 1])
        below = _best(results, False, [r for r in ratios if r < 1] or ratios[:1])
        return [
            STATEMENTS[0].faster(*at, large_one.times(), small_one.times(), "steps"),
            STATEMENTS[1].faster(*at, large_one.times(), above.times(), "steps"),
            STATEMENTS[2].faster(*at, below.times(), above.times(), "steps"),
            STATEMENTS[3].closed(*at, large.times(), small.times(), "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        ratios = RATIOS[results.scale]
        one = [tuned(results, _arm(small, 1.0)) for small in (True, False)]
        best = [_best(results, small, ratios) for small in (True, False)]
        lines = []
        for i, small in enumerate((True, False)):
            steps = np.stack([tuned(results, _arm(small, r)).times().ordinal for r in ratios], axis=1)
            lines.append(over_members("small" if small else "all", np.array(ratios), steps, i, "points"))
        by_ratio = Panel("By η_first / η_second", "η_first / η_second", "steps to learn", lines, log_x=True, log_y=True)
        return Figure(
            "A faster first layer closes the gap",
            [
                panel(one, "test/accuracy", "steps", "One rate for both layers"),
                panel(best, "test/accuracy", "steps", "Best pair of rates"),
                by_ratio,
            ],
        )


def _steps(scale: str) -> int:
    return {"smoke": 60, "laptop": 1000, "paper": 4000}[scale]


def _arm(small: bool, ratio: float) -> str:
    return f"{'small' if small else 'all'}, η1/η2 = {ratio:g}"


def _best(results: Results, small: bool, ratios) -> Tuned:
    """The pair of rates that the choosing members like best."""
    arms = [tuned(results, _arm(small, r)) for r in ratios]
    return min(arms, key=lambda t: t.cost)
