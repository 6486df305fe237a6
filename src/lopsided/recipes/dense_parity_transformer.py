"""dense-parity-transformer: full batches and dense targets, for a transformer.

Paper C, figures 14 (right) and 15: full-batch AdamW on (10, 6)- and (10, 10)-parity. Paper: the small set is ahead,
though no batch is ever sampled and (10, 10)-parity has no sparse structure.

    lopsided run dense-parity-transformer --scale laptop

`laptop` changes: (8, 6)- and (8, 8)-parity, 192 of all 256 inputs (which tests draw from) against all; width 32 with 4
heads; a member counts as having learned at a test accuracy of 0.9. Learning rates are swept per arm; one seed in three
chooses, the others are judged.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, Tuned, panel, swept, tuned
from lopsided.recipes._transformers import FEWER_BETAS, RATES, SEEDS, arm
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

SMALL, ALL = "small set", "all inputs"
TASKS = {"smoke": ((4, 2), (4, 4)), "laptop": ((8, 6), (8, 8)), "paper": ((10, 6), (10, 10))}
SIZES = {"smoke": (12, 60), "laptop": (192, 1200), "paper": (512, 20_000)}
"""N, steps."""
EVERY = {"smoke": 20, "laptop": 20, "paper": 50}
LEARNED = 0.9
STEPS = [
    Statement(f"full-batch AdamW, {kind}: the small set needs fewer steps", f"ahead ({figure})")
    for kind, figure in (("sparse", "fig. 15, left"), ("dense", "fig. 14, right"))
]
COMPUTE = [
    Statement(f"full-batch AdamW, {kind}: the small set needs less compute", f"ahead ({figure})")
    for kind, figure in (("sparse", "fig. 15, left"), ("dense", "fig. 14, right"))
]


class DenseParityTransformer(SweptRecipe):
    name = "dense-parity-transformer"
    paper = "C: Less Data, Faster Training"
    figure_number = "14 (right), 15"
    question = "Does a transformer gain from a small set with full batches and dense targets?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 8, "2 CPU cores"),
        "laptop": Scale(SEEDS, 460, "2 CPU cores"),
        "paper": Scale(SEEDS, 5_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        size, steps = SIZES[scale]
        specs = {}
        for d, k in TASKS[scale]:
            changes = {
                "task": {"name": "sparse-parity", "d": d, "k": k, "encoding": "tokens"},
                "training_set": {"remove": "repeats"},
                "until": {"metric": "test/accuracy", "at_least": LEARNED},
                "steps": steps,
                "evaluation": {"every": EVERY[scale], "samples": 1024},
            }
            sets = {SMALL: size, ALL: 2**d}
            arms = {
                _name(d, k, name): arm(scale, plan={"name": "full-batch", "size": n}, **changes)
                for name, n in sets.items()
            }
            specs |= swept(arms, RATES[scale], b2=FEWER_BETAS[scale])
        return specs

    def statements(self) -> list[Statement]:
        return [*STEPS, *COMPUTE]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        pairs = [_pair(results, *task) for task in TASKS[results.scale]]
        return [
            *(
                s.faster(*at, full.times(), small.times(), "steps")
                for s, (full, small) in zip(STEPS, pairs, strict=True)
            ),
            *(
                s.faster(*at, full.times("samples"), small.times("samples"), "compute")
                for s, (full, small) in zip(COMPUTE, pairs, strict=True)
            ),
        ]

    def figure(self, results: Results) -> Figure:
        return Figure(
            "Full batches and dense parity",
            [
                panel(_pair(results, d, k), "test/accuracy", "steps", f"({d}, {k})-parity, all of the set every step")
                for d, k in TASKS[results.scale]
            ],
        )


def _name(d: int, k: int, which: str) -> str:
    return f"({d}, {k}), {which}"


def _pair(results: Results, d: int, k: int) -> tuple[Tuned, Tuned]:
    """(all inputs, small set) at their best rates."""
    return tuned(results, _name(d, k, ALL)), tuned(results, _name(d, k, SMALL))
