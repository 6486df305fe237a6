"""norm-growth: the second layer grows faster, relative to the first, on smaller sets.

Paper C, figures 12 and 13: ‖a‖₂ / ‖W‖_F during the first steps of gradient descent on (20, 6)-parity and on a
single-index model. Paper: it rises faster on the smaller set.

    lopsided run norm-growth --scale laptop

`laptop` changes: (14, 6)-parity with N = 2^9, 2^11 and all 2^14 inputs at learning rate 2; single-index with d = 20,
He_3 and N = 2^9, 2^11, 2^13 at learning rate .1. One rate per task, the same for every N: what is compared is growth,
not speed. The claims are about growth up to a stated early step, 100 for parity and 60 for the single-index model.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import full_batch, perceptron
from lopsided.report.panels import Figure, curves
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

PARITY_SIZES = {"smoke": (2**5, 2**8), "laptop": (2**9, 2**11, 2**14), "paper": (2**12, 2**14, 2**20)}
INDEX_SIZES = {"smoke": (2**6, 2**8), "laptop": (2**9, 2**11, 2**13), "paper": (8_000, 64_000, 256_000)}
INDEX_D = {"smoke": 8, "laptop": 20, "paper": 40}
RATES = {"smoke": (0.5, 0.01), "laptop": (2.0, 0.1), "paper": (0.5, 0.02)}
STEPS = {"smoke": (60, 60), "laptop": (400, 300), "paper": (2000, 1000)}
EARLY = {"smoke": (20, 20), "laptop": (100, 60), "paper": (200, 100)}
STATEMENTS = [
    Statement("parity: ‖a‖/‖W‖ has risen more on the smallest set than on all inputs", "rises faster (fig. 12)"),
    Statement("parity: … and more on the middle set than on all inputs", "rises faster (fig. 12)"),
    Statement("single-index: ‖a‖/‖W‖ has risen more on the smallest set than on the largest", "rises faster (fig. 12)"),
    Statement("single-index: … and more on the middle set than on the largest", "rises faster (fig. 12)"),
]


class NormGrowth(Recipe):
    name = "norm-growth"
    paper = "C: Less Data, Faster Training"
    figure_number = "12, 13"
    question = "Does the second layer grow faster on smaller sets?"
    threshold = 0.95
    metric = "norm/ratio"
    scales: ClassVar = {
        "smoke": Scale(2, 3, "2 CPU cores"),
        "laptop": Scale(16, 40, "2 CPU cores"),
        "paper": Scale(16, 60_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        steps, rates = STEPS[scale], RATES[scale]
        parity = {
            _parity(size): perceptron(
                scale, rates[0], **full_batch(scale, size), steps=steps[0], until=None, evaluation=_evaluation(scale)
            )
            for size in PARITY_SIZES[scale]
        }
        index = {
            _index(size): perceptron(
                scale,
                rates[1],
                task={"name": "single-index", "d": INDEX_D[scale]},
                plan={"name": "full-batch", "size": size},
                loss="square",
                steps=steps[1],
                until=None,
                evaluation=_evaluation(scale),
            )
            for size in INDEX_SIZES[scale]
        }
        return parity | index

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at, scale = (self.name, results.scale), results.scale
        found = []
        for names, early in (
            ([_parity(n) for n in PARITY_SIZES[scale]], EARLY[scale][0]),
            ([_index(n) for n in INDEX_SIZES[scale]], EARLY[scale][1]),
        ):
            growth = [_growth(results, name, early) for name in names]
            what = f"growth of ‖a‖/‖W‖ from the first evaluation to step {early}"
            found += [(growth[-1], g, what) for g in growth[:2]]
        return [s.higher(*at, *f) for s, f in zip(STATEMENTS, found, strict=True)]

    def figure(self, results: Results) -> Figure:
        parity = [n for n in results.arms if n.startswith("parity")]
        index = [n for n in results.arms if n.startswith("single")]
        return Figure(
            "The second layer grows faster on smaller sets",
            [
                curves(results, "norm/ratio", "steps", "Parity: ‖a‖ / ‖W‖", arms=parity),
                curves(results, "norm/ratio", "steps", "Single-index: ‖a‖ / ‖W‖", arms=index),
                curves(results, "norm/layer2", "steps", "Parity: second layer ‖a‖", arms=parity),
                curves(results, "norm/layer1", "steps", "Parity: first layer ‖W‖", arms=parity),
            ],
        )


def _evaluation(scale: str) -> dict[str, int]:
    return {"every": 10, "samples": 64 if scale == "smoke" else 1024}


def _parity(size: int) -> str:
    return f"parity, N = {size:,}"


def _index(size: int) -> str:
    return f"single-index, N = {size:,}"


def _growth(results: Results, name: str, early: int) -> np.ndarray:
    """(M,) growth of the norm ratio from the first evaluation to step `early`."""
    arm = results[name]
    at = min(int(np.searchsorted(arm.steps, early)), len(arm.steps) - 1)
    ratio = arm.metric("norm/ratio")
    return ratio[:, at] - ratio[:, 0]
