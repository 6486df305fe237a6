"""random-labels: a first phase on a small set helps even if its labels are random.

Paper C, figure 4. The small set makes the second layer grow, whatever its labels say, and a larger second layer
speeds the first layer up. Paper: a first phase on random labels speeds learning up as true labels do, and ‖a‖ / ‖W‖
depends on the set's size, not on its labels.

    lopsided run random-labels --scale laptop

`laptop` changes: (14, 6)-parity; the first 100 steps of gradient descent on N = 2^11 samples with true or random
labels, then all 2^14 inputs, against all inputs from the start. Rates are swept per arm; one seed in three chooses,
the others are judged. Norm ratios are compared at one rate (2; .3 for the single-index model) at the end of the first
phase. The single-index model is that of `small-vs-large`: d = 40, 100 steps on 2^12 samples, labelled by another
direction, then 2^14.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import (
    PARITY,
    RATES,
    SEEDS,
    SMALL,
    STEPS,
    SweptRecipe,
    chosen_rates,
    panel,
    perceptron,
    swept,
    tuned,
)
from lopsided.recipes._single_index import RANDOM_FIRST, SMALL_FIRST, gradient_descent, gradient_descent_rates
from lopsided.report.panels import Figure, curves
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

RANDOM, TRUE, LARGE = "small set with random labels first", "small set with true labels first", "large set only"
INDEX = tuple(f"single-index, {name}" for name in (RANDOM_FIRST, SMALL_FIRST, "large"))
FIRST = {"smoke": 20, "laptop": 100, "paper": 100}
COMPARED = {"smoke": 0.5, "laptop": 2.0, "paper": 0.482}
STATEMENTS = [
    Statement("a first phase on a small set needs fewer steps in all", "well ahead of the large set (fig. 4a)"),
    Statement("so does a first phase on random labels", "as fast as with true labels (fig. 4a)"),
    Statement("after it, ‖a‖/‖W‖ is larger than on the large set", "grows faster on the small set (fig. 4b)"),
    Statement("… and that of random labels equals that of true labels, within 10 %", "the same curve (fig. 4b)"),
    Statement("single-index: a first phase on a random direction needs fewer steps", "well ahead (fig. 4c)"),
    Statement("single-index: after it, ‖a‖/‖W‖ is larger than on the large set", "grows faster (fig. 4d)"),
    Statement("single-index: … and equals that of the true direction, within 10 %", "the same curve (fig. 4d)"),
]
INDEX_D = {"smoke": 8, "laptop": 40, "paper": 40}
INDEX_COMPARED = {"smoke": 0.01, "laptop": 0.3, "paper": 0.1}


class RandomLabels(SweptRecipe):
    name = "random-labels"
    paper = "C: Less Data, Faster Training"
    figure_number = "4"
    question = "Does a small set help even when its labels mean nothing?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 3, "2 CPU cores"),
        "laptop": Scale(SEEDS, 760, "2 CPU cores"),
        "paper": Scale(SEEDS, 500_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        large, steps, first = 2 ** PARITY[scale][0], STEPS[scale], FIRST[scale]

        def arm(*phases: dict[str, Any]):
            plan = {"name": "full-batch-phases", "phases": phases}
            return lambda lr: perceptron(scale, lr, plan=plan, training_set={"remove": "repeats"})

        then = {"steps": steps - first, "size": large}
        small = {"steps": first, "size": SMALL[scale]}
        arms = {
            RANDOM: arm({**small, "labels": "random"}, then),
            TRUE: arm(small, then),
            LARGE: arm({"steps": steps, "size": large}),
        }
        index = {f"single-index, {n}": make for n, make in gradient_descent(scale, INDEX_D[scale], random=True).items()}
        return swept(arms, RATES[scale]) | swept(index, gradient_descent_rates(scale))

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        random, true, large = (tuned(results, name).times() for name in (RANDOM, TRUE, LARGE))
        ratios = [_ratio(results, name) for name in (RANDOM, TRUE, LARGE)]
        return [
            STATEMENTS[0].faster(*at, large, true, "steps"),
            STATEMENTS[1].faster(*at, large, random, "steps"),
            STATEMENTS[2].higher(*at, ratios[2], ratios[0], "‖a‖/‖W‖ after the first phase, random labels"),
            STATEMENTS[3].near(*at, ratios[0] / ratios[1], 1.0, 0.1, "‖a‖/‖W‖, random over true labels, by seed"),
            *self._index_claims(results),
        ]

    def _index_claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        random, large = (tuned(results, name).times() for name in (INDEX[0], INDEX[2]))
        ratios = [_ratio(results, name) for name in INDEX]
        return [
            STATEMENTS[4].faster(*at, large, random, "steps"),
            STATEMENTS[5].higher(*at, ratios[2], ratios[0], "‖a‖/‖W‖ after the first phase, random direction"),
            STATEMENTS[6].near(*at, ratios[0] / ratios[1], 1.0, 0.1, "‖a‖/‖W‖, random over true direction, by seed"),
        ]

    def figure(self, results: Results) -> Figure:
        names = (RANDOM, TRUE, LARGE)
        arms = [tuned(results, name) for name in names]
        index = [tuned(results, name) for name in INDEX]
        compared, index_compared = ([_compared(results, name) for name in group] for group in (names, INDEX))
        return Figure(
            "Labels do not matter for the head start",
            [
                panel(arms, "test/accuracy", "steps", "At each arm's best rate"),
                curves(results, "norm/ratio", "steps", "‖a‖ / ‖W‖ at one rate", arms=compared),
                chosen_rates(results, names),
                panel(index, "test/loss", "steps", "Single-index, at each arm's best rate"),
                curves(results, "norm/ratio", "steps", "Single-index, ‖a‖ / ‖W‖ at one rate", arms=index_compared),
            ],
        )


def _compared(results: Results, name: str) -> str:
    rate = (INDEX_COMPARED if name in INDEX else COMPARED)[results.scale]
    return f"{name}, lr {rate:g}"


def _ratio(results: Results, name: str) -> np.ndarray:
    """(M,) norm ratio of every member at the end of the first phase (nobody has left by then)."""
    arm = results[_compared(results, name)]
    at = int(np.searchsorted(arm.steps, FIRST[results.scale]))  # phase 1 has as many steps for both tasks
    return arm.metric("norm/ratio")[:, min(at, len(arm.steps) - 1)]
