"""complexity-transformer: a harder parity has a wider gap between repeated sets and fresh samples.

Paper C, figure 10 (b): transformers with mini-batches; the gap is bigger on (20, 6)- than on (10, 6)-parity.

    lopsided run complexity-transformer --scale laptop

`laptop` changes: (10, 4)- against (6, 4)-parity, so that the number of relevant coordinates stays and the others go, as
in the paper; a transformer of width 32 with 4 heads, six phases of an online run of 8,000 steps. Learning rate and
beta_2 are swept per arm; one seed in three chooses, the others are judged. The gap is the ratio of median steps to
learn.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, panel, swept, tuned
from lopsided.recipes._transformers import BETAS, RATES, SEEDS, arm, online, six_phases
from lopsided.report.panels import Figure
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

TASKS = {"smoke": ((4, 2), (6, 2)), "laptop": ((6, 4), (10, 4)), "paper": ((10, 6), (20, 6))}
"""(d, k), the easier one first."""
SIX, FRESH = "six phases", "fresh samples"
GAP = {
    which: Statement(f"{which} parity: six phases need fewer steps than fresh samples", "ahead (fig. 10b)")
    for which in ("easier", "harder")
}
WIDER = Statement("the gap in steps is wider on the harder parity", "wider on (20, 6) than on (10, 6) (fig. 10b)")


class ComplexityTransformer(SweptRecipe):
    name = "complexity-transformer"
    paper = "C: Less Data, Faster Training"
    figure_number = "10 (b)"
    question = "Does a transformer gain more from repetition on a harder task?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(SEEDS, 400, "2 CPU cores"),
        "paper": Scale(SEEDS, 6_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        arms = {}
        for d, k in TASKS[scale]:
            task = {"name": "sparse-parity", "d": d, "k": k, "encoding": "tokens"}
            arms[_name(d, k, SIX)] = arm(scale, task=task, plan=six_phases(scale))
            arms[_name(d, k, FRESH)] = arm(scale, task=task, plan=online(scale))
        return swept(arms, RATES[scale], b2=BETAS[scale])

    def statements(self) -> list[Statement]:
        return [*GAP.values(), WIDER]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        easy, hard = (_pair(results, *task) for task in TASKS[results.scale])
        return [
            GAP["easier"].faster(*at, *easy, "steps"),
            GAP["harder"].faster(*at, *hard, "steps"),
            WIDER.wider(*at, easy, hard, "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        return Figure(
            "A transformer's gap by task",
            [
                panel(
                    [tuned(results, _name(d, k, plan)) for plan in (SIX, FRESH)],
                    "test/accuracy",
                    "steps",
                    f"({d}, {k})-parity",
                    log_x=True,
                )
                for d, k in TASKS[results.scale]
            ],
        )


def _name(d: int, k: int, plan: str) -> str:
    return f"({d}, {k}), {plan}"


def _pair(results: Results, d: int, k: int) -> tuple[Times, Times]:
    """Steps to learn (fresh samples, six phases)."""
    fresh, six = (tuned(results, _name(d, k, plan)).times() for plan in (FRESH, SIX))
    return fresh, six
