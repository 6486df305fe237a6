"""complexity: harder tasks have a wider gap between small and large sets.

Paper C, figure 10 (a): single-index models by full-batch gradient descent, the gap is wider in d = 80 than in d = 40.
(Its second panel, (20, 6)- against (10, 6)-parity, is about transformers.)

    lopsided run complexity --scale laptop

`laptop` changes: d = 20 against d = 40; a first phase of 100 steps on 2^11 (d = 20) or 2^12 (d = 40) samples, the rest
on 2^14, against 2^14 from the start. Learned: a test loss of 0.6, a fifth of what answering 0 costs. Rates are swept
per arm; one seed in three chooses, the others are judged. The gap is the ratio of median steps to learn. The arms at d
= 40 are those of `small-vs-large`.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, panel, swept, tuned
from lopsided.recipes._single_index import LARGE, SMALL_FIRST, gradient_descent, gradient_descent_rates
from lopsided.report.panels import Figure
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

DIMENSIONS = {"smoke": (8,), "laptop": (20, 40), "paper": (40, 80)}
GAP = {
    d: Statement(f"in the {d} dimension a small set first needs fewer steps", "ahead (fig. 10a)")
    for d in ("smaller", "larger")
}
WIDER = Statement("the gap in steps is wider in the larger dimension", "wider in d = 80 than in 40 (fig. 10a)")


class Complexity(SweptRecipe):
    name = "complexity"
    paper = "C: Less Data, Faster Training"
    figure_number = "10 (a)"
    question = "Do harder tasks gain more from a small set first?"
    metric = "test/loss"
    threshold = 0.6
    scales: ClassVar = {
        "smoke": Scale(2, 4, "2 CPU cores"),
        "laptop": Scale(18, 410, "2 CPU cores"),
        "paper": Scale(18, 500_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        arms = {}
        for d in DIMENSIONS[scale]:
            arms |= {f"d = {d}, {name}": make for name, make in gradient_descent(scale, d).items()}
        return swept(arms, gradient_descent_rates(scale))

    def statements(self) -> list[Statement]:
        return [*GAP.values(), WIDER]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        easy, hard = (_pair(results, d) for d in DIMENSIONS[results.scale])
        return [
            GAP["smaller"].faster(*at, *easy, "steps"),
            GAP["larger"].faster(*at, *hard, "steps"),
            WIDER.wider(*at, easy, hard, "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        return Figure(
            "The gap by dimension",
            [
                panel(
                    [tuned(results, f"d = {d}, {name}") for name in (SMALL_FIRST, LARGE)],
                    "test/loss",
                    "steps",
                    f"d = {d}",
                )
                for d in DIMENSIONS[results.scale]
            ],
        )


def _pair(results: Results, d: int) -> tuple[Times, Times]:
    """Steps to learn (large, small first)."""
    large, small = (tuned(results, f"d = {d}, {name}").times() for name in (LARGE, SMALL_FIRST))
    return large, small
