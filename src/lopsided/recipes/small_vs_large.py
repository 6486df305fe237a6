"""small-vs-large: training on a smaller set, repeated more often, learns in fewer steps and far less compute.

Paper C, figures 1 and 2, multi-layer perceptron on (20, 6)-sparse parity and on a single-index model with link He_3 in
d = 40, full-batch gradient descent and mini-batch SGD. Paper: on parity, gradient descent on N = 2^14 samples converges
in 1,500 steps, on the full population (2^20) in more than 2,000, which is a 100-fold saving in compute; SGD on a small
set is ahead of fresh samples; on the single-index model a small set first and a larger one later is ahead throughout.

    lopsided run small-vs-large --scale laptop

`laptop` changes: parity by gradient descent compares N = 2^13 with 2^17; the single-index model compares 100 steps on
2^12 and the rest on 2^14 samples with 2^14 from the start, and, by SGD, 400 steps on a small set and fresh samples
after it with fresh samples alone; it counts as learned at a test loss of 0.6, a fifth of what answering 0 costs.
Learning rates are swept per arm, one seed in three chooses, the others are judged. The loss is logistic for parity (the
paper names none), square for the single-index model.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SEEDS, SweptRecipe, Tuned, panel, perceptron, swept, swept_names, tuned
from lopsided.recipes._single_index import gradient_descent, gradient_descent_rates, index_spec
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

GD_STEPS = Statement("full-batch GD: the small set needs fewer steps", "1,500 against more than 2,000 steps (fig. 2b)")
GD_COMPUTE = Statement(
    "full-batch GD: the small set needs less compute",
    "about 100 times less for 2^14 against 2^20 (fig. 2b)",
)
SGD_STEPS = Statement(
    "mini-batch SGD: a repeated small set needs fewer steps, and so less compute, than fresh samples",
    "the small set is ahead throughout training (fig. 2a)",
)
INDEX_STEPS = Statement("single-index, GD: a small set first needs fewer steps", "ahead throughout (fig. 2d)")
INDEX_COMPUTE = Statement("single-index, GD: a small set first needs less compute", "ahead throughout (fig. 2d)")
INDEX_SGD = Statement("single-index, SGD: a small set first needs fewer steps than fresh samples", "ahead (fig. 2c)")

PARITY = {"smoke": (8, 2, 2**5, 2**7, 16), "laptop": (20, 6, 2**13, 2**17, 128), "paper": (20, 6, 2**14, 2**20, 128)}
"""d, k, small set, large set, mini-batch."""
PARITY_STEPS = {"smoke": (60, 60), "laptop": (1200, 3000), "paper": (4000, 20_000)}
"""Gradient descent, SGD."""
PARITY_RATES = {
    "smoke": ((0.5, 1.0), (0.5, 1.0)),
    "laptop": ((2.0, 3.0), (3.0, 4.0, 5.0)),
    "paper": ((0.36, 0.43, 0.52, 0.62, 0.75), (0.36, 0.43, 0.52, 0.62, 0.75)),
}
INDEX_SGD_SIZES = {
    "smoke": (8, 2**6, 16, 60, 20),
    "laptop": (40, 2**12, 128, 6000, 400),
    "paper": (40, 25_600, 128, 20_000, 100),
}
"""d, N of the first phase, batch, steps, steps of the first phase."""
INDEX_SGD_RATES = {
    "smoke": (0.005, 0.01),
    "laptop": (0.02, 0.03, 0.04),
    "paper": (0.02, 0.024, 0.029, 0.035, 0.041, 0.05),
}


class SmallVsLarge(SweptRecipe):
    name = "small-vs-large"
    paper = "C: Less Data, Faster Training"
    figure_number = "1, 2 (perceptrons)"
    question = "Does a multi-layer perceptron learn faster from fewer samples?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(18, 810, "2 CPU cores"),
        "paper": Scale(SEEDS, 300_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        return self._parity(scale) | self._index(scale)

    def _parity(self, scale: ScaleName) -> dict[str, Spec]:
        d, k, small, large, batch = PARITY[scale]
        gd_steps, sgd_steps = PARITY_STEPS[scale]
        samples = 64 if scale == "smoke" else 4096

        def arm(steps: int, every: int, **plan: Any):
            evaluation = {"every": every, "samples": samples}
            task = {"name": "sparse-parity", "d": d, "k": k}
            return lambda lr: perceptron(scale, lr, task=task, plan=plan, steps=steps, evaluation=evaluation)

        gd = {
            f"GD, N = {_power(size)}": arm(gd_steps, 20 if scale == "smoke" else 25, name="full-batch", size=size)
            for size in (small, large)
        }
        every = 20 if scale == "smoke" else 50
        sgd = {
            f"SGD, N = {_power(small)}": arm(sgd_steps, every, name="fixed", size=small, batch=batch),
            "SGD, fresh samples": arm(sgd_steps, every, name="online", batch=batch),
        }
        return swept(gd, PARITY_RATES[scale][0]) | swept(sgd, PARITY_RATES[scale][1])

    def _index(self, scale: ScaleName) -> dict[str, Spec]:
        d, small, batch, steps, first = INDEX_SGD_SIZES[scale]
        every = 20 if scale == "smoke" else 50
        # Draws are with replacement: a set far larger than all that is drawn stands for fresh samples.
        phases = [{"steps": first, "size": small}, {"steps": steps - first, "size": 2**30}]
        plans: dict[str, dict[str, Any]] = {
            "small first": {"name": "phases", "batch": batch, "phases": phases},
            "fresh": {"name": "online", "batch": batch},
        }

        def arm(plan: dict[str, Any]):
            return lambda lr: index_spec(scale, lr, d, plan, steps, every)

        gd = {f"single-index GD, {name}": make for name, make in gradient_descent(scale, d).items()}
        sgd = {f"single-index SGD, {name}": arm(plan) for name, plan in plans.items()}
        return swept(gd, gradient_descent_rates(scale)) | swept(sgd, INDEX_SGD_RATES[scale])

    def statements(self) -> list[Statement]:
        return [GD_STEPS, GD_COMPUTE, SGD_STEPS, INDEX_STEPS, INDEX_COMPUTE, INDEX_SGD]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        (gd_small, gd_large), (sgd_small, sgd_fresh), (first, large), (sgd_first, fresh) = _pairs(results)
        return [
            GD_STEPS.faster(*at, gd_large.times(), gd_small.times(), "steps"),
            GD_COMPUTE.faster(*at, gd_large.times("samples"), gd_small.times("samples"), "compute"),
            SGD_STEPS.faster(*at, sgd_fresh.times(), sgd_small.times(), "steps"),
            INDEX_STEPS.faster(*at, large.times(), first.times(), "steps"),
            INDEX_COMPUTE.faster(*at, large.times("samples"), first.times("samples"), "compute"),
            INDEX_SGD.faster(*at, fresh.times(), sgd_first.times(), "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        gd, sgd, index, index_sgd = _pairs(results)
        accuracy, loss = "test/accuracy", "test/loss"
        return Figure(
            "Fewer samples, faster",
            [
                panel(gd, accuracy, "steps", "Parity, gradient descent, against steps"),
                panel(gd, accuracy, "samples", "… against compute"),
                panel(sgd, accuracy, "steps", "Parity, SGD"),
                panel(gd, "norm/ratio", "steps", "Parity, GD: ‖a‖ / ‖W‖"),
                panel(index, loss, "steps", "Single-index, gradient descent"),
                panel(index_sgd, loss, "steps", "Single-index, SGD"),
            ],
        )


def _pairs(results: Results) -> list[tuple[Tuned, Tuned]]:
    """(small, large) of the four comparisons, at their best rates."""
    names = swept_names(results)
    arms = [tuned(results, name) for name in names]
    return [(arms[i], arms[i + 1]) for i in range(0, 8, 2)]


def _power(n: int) -> str:
    return f"2^{n.bit_length() - 1}"
