"""adam: an adaptive optimizer closes the gap between small and large sets, at depths 2 and 4.

Paper C, figure 29: AdamW on (20, 6)-parity with perceptrons of depth 2, 4, 6. If the gap comes from how fast layers
grow relative to one another, an optimizer whose steps do not depend on the gradient's size should not have it.

    lopsided run adam --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against all 2^14 inputs, full batches, depths 2 and 4. Rates are swept per
arm; one seed in three chooses, the others are judged. AdamW is so fast that it is looked at every 4 steps. "The same
steps" means that neither arm needs 25 % more.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import (
    EVERY,
    FEWER_SEEDS,
    SAMPLES,
    SEEDS,
    SMALL,
    SweptRecipe,
    chosen_rates,
    full_batch,
    panel,
    perceptron,
    swept,
    tuned,
    unswept,
)
from lopsided.report.panels import Figure
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

DEPTHS = {"smoke": (2,), "laptop": (2, 4), "paper": (2, 4, 6)}
ADAM_RATES = {
    "smoke": (0.003, 0.01),
    "laptop": (0.003, 0.005, 0.01, 0.02, 0.03),
    "paper": tuple(float(r) for r in (0.0005 * 1.2 ** np.arange(12)).round(5)),
}
SGD_RATES = {"smoke": (0.5, 1.0), "laptop": (1.0, 1.5, 2.0, 3.0, 4.0), "paper": (0.3, 0.36, 0.43, 0.52, 0.62, 0.75)}
STEPS = {"smoke": 60, "laptop": 400, "paper": 4000}
SGD_STEPS = {"smoke": 60, "laptop": 2000, "paper": 6000}
WITH_SGD = Statement("depth 2, SGD: the small set needs fewer steps", "a gap without Adam (fig. 2)")


def _not_ahead(depth: int) -> Statement:
    return Statement(f"depth {depth}, AdamW: the small set is not ahead by more than 25 %", "no gap (fig. 29)")


def _closed(depth: int) -> Statement:
    return Statement(f"depth {depth}, AdamW: small and large sets need the same steps, within 25 %", "no gap (fig. 29)")


class Adam(SweptRecipe):
    name = "adam"
    paper = "C: Less Data, Faster Training"
    figure_number = "29 (a, b, c)"
    question = "Does an adaptive optimizer close the gap between small and large sets?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 5, "2 CPU cores"),
        "laptop": Scale(FEWER_SEEDS, 160, "2 CPU cores"),
        "paper": Scale(SEEDS, 500_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        def arm(optimizer: str, depth: int, size: int | None, steps: int):
            def make(lr: float) -> Spec:
                chosen: dict[str, Any] = {"optimizer": {"name": optimizer, "lr": lr}, "model": {"depth": depth}}
                every = 4 if optimizer == "adamw" and scale == "laptop" else EVERY
                evaluation = {"every": every, "samples": SAMPLES[scale]}
                return perceptron(scale, lr, steps=steps, evaluation=evaluation, **full_batch(scale, size), **chosen)

            return make

        steps = STEPS[scale]
        sgd = {
            _arm("SGD", 2, small): arm("sgd", 2, SMALL[scale] if small else None, SGD_STEPS[scale])
            for small in (True, False)
        }
        adam = {
            _arm("AdamW", depth, small): arm("adamw", depth, SMALL[scale] if small else None, steps)
            for depth in DEPTHS[scale]
            for small in (True, False)
        }
        return swept(sgd, SGD_RATES[scale]) | swept(adam, ADAM_RATES[scale])

    def statements(self) -> list[Statement]:
        return [WITH_SGD, *(s for d in DEPTHS["laptop"] for s in (_not_ahead(d), _closed(d)))]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)

        def times(optimizer: str, depth: int, small: bool) -> Times:
            return tuned(results, _arm(optimizer, depth, small)).times()

        closed = []
        for d in DEPTHS["laptop"]:
            pair = times("AdamW", d, False), times("AdamW", d, True)
            closed += [_not_ahead(d).not_ahead(*at, *pair, "steps"), _closed(d).closed(*at, *pair, "steps")]
        return [WITH_SGD.faster(*at, times("SGD", 2, False), times("SGD", 2, True), "steps"), *closed]

    def figure(self, results: Results) -> Figure:
        kinds = list(dict.fromkeys(unswept(n).rpartition(", ")[0] for n in results.arms))
        panels = [
            panel([tuned(results, f"{kind}, {size}") for size in ("small", "all")], "test/accuracy", "steps", kind)
            for kind in kinds
        ]
        names = [f"{kinds[1]}, {size}" for size in ("small", "all")]
        return Figure("Adam does not need the small set", [*panels, chosen_rates(results, names)])


def _arm(optimizer: str, depth: int, small: bool) -> str:
    return f"{optimizer}, depth {depth}, {'small' if small else 'all'}"
