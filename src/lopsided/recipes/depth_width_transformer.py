"""depth-width-transformer: deeper transformers have a wider gap between repeated sets and fresh samples.

Paper C, figures 25 and 26: transformers on (10, 6)-parity, depths 2, 4, 6, 8, mini-batch Adam; the gap widens with
depth. (`paper` compares 2 with 8. Width is a perceptron's matter in the paper; here it is looked at, too.)

    lopsided run depth-width-transformer --scale laptop

`laptop` changes: (10, 4)-parity, depths 2 and 4 at width 32, width 16 and 32 at depth 2, 4 heads, six phases of an
online run of 8,000 steps. Learning rates are swept per arm; one seed in three chooses, the
others are judged. The gap is the ratio of median steps to learn.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, panel, swept, tuned
from lopsided.recipes._transformers import FEWER_BETAS, PARITY, RATES, SEEDS, arm, online, six_phases
from lopsided.report.panels import Figure
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

SHAPES = {
    "smoke": ((1, 8), (2, 8)),
    "laptop": ((2, 32), (4, 32), (2, 16)),
    "paper": ((2, 256), (8, 256), (2, 64)),
}
"""(depth, width): the default, a deeper one, a narrower one."""
TASKS = {**PARITY, "paper": (10, 6)}
SIX, FRESH = "six phases", "fresh samples"
GAP = Statement("default depth: six phases need fewer steps than fresh samples", "ahead (fig. 25)")
DEEP_GAP = Statement("deeper: six phases need fewer steps than fresh samples", "ahead (fig. 26)")
DEEPER = Statement("the gap in steps is wider in the deeper transformer", "wider with depth (fig. 26)")
NARROWER = Statement(
    "the gap in steps is wider in the narrower transformer", "for perceptrons: wider (fig. 11b); transformers not said"
)


class DepthWidthTransformer(SweptRecipe):
    name = "depth-width-transformer"
    paper = "C: Less Data, Faster Training"
    figure_number = "25, 26"
    question = "Do deeper and narrower transformers gain more from repetition?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 10, "2 CPU cores"),
        "laptop": Scale(SEEDS, 700, "2 CPU cores"),
        "paper": Scale(SEEDS, 20_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        specs, (d, k) = {}, TASKS[scale]
        task = {"name": "sparse-parity", "d": d, "k": k, "encoding": "tokens"}
        for layers, width in SHAPES[scale]:
            model = {"layers": layers, "width": width}
            arms = {
                _name(layers, width, SIX): arm(scale, task=task, plan=six_phases(scale), model=model),
                _name(layers, width, FRESH): arm(scale, task=task, plan=online(scale), model=model),
            }
            specs |= swept(arms, RATES[scale], b2=FEWER_BETAS[scale])
        return specs

    def statements(self) -> list[Statement]:
        return [GAP, DEEP_GAP, DEEPER, NARROWER]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        plain, deep, narrow = (_pair(results, *shape) for shape in SHAPES[results.scale])
        return [
            GAP.faster(*at, *plain, "steps"),
            DEEP_GAP.faster(*at, *deep, "steps"),
            DEEPER.wider(*at, plain, deep, "steps"),
            NARROWER.wider(*at, plain, narrow, "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        return Figure(
            "A transformer's gap, by depth and width",
            [
                panel(
                    [tuned(results, _name(layers, width, plan)) for plan in (SIX, FRESH)],
                    "test/accuracy",
                    "steps",
                    f"Depth {layers}, width {width}",
                    log_x=True,
                )
                for layers, width in SHAPES[results.scale]
            ],
        )


def _name(layers: int, width: int, plan: str) -> str:
    return f"depth {layers}, width {width}, {plan}"


def _pair(results: Results, layers: int, width: int) -> tuple[Times, Times]:
    """Steps to learn (fresh samples, six phases)."""
    fresh, six = (tuned(results, _name(layers, width, plan)).times() for plan in (FRESH, SIX))
    return fresh, six
