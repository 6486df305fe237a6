"""mup-single-index: on single-index models muP leaves a gap between small and large sets, and alpha closes it.

Paper C, figures 7 and 22: full-batch gradient descent on He_3 in d = 40. Paper: unlike for parity, muP does not close
the gap, up to the largest width tried; dividing the first layer's initial scale by alpha and multiplying the second's
does.

    lopsided run mup-single-index --scale laptop

`laptop` changes: width 64; a first phase of 100 steps on 2^12 samples, then 2^14, against 2^14 from the start; learned
at a test loss of 0.6, a fifth of what answering 0 costs; alpha in {1, 2, 4}. Rates are swept per arm; one seed in
three chooses, the others are judged. A gap counts as closed if neither arm needs 25 % more steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import FEWER_SEEDS, SweptRecipe, panel, swept, tuned
from lopsided.recipes._single_index import LARGE, SMALL_FIRST, gradient_descent
from lopsided.recipes.mup import alpha_groups
from lopsided.report.panels import Figure
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

D = {"smoke": 8, "laptop": 40, "paper": 40}
ALPHAS = {"smoke": (2.0,), "laptop": (2.0, 4.0), "paper": (1.5, 2.0, 3.0, 4.0, 6.0)}
RATES = {"smoke": (0.01, 0.02), "laptop": (0.1, 0.2, 0.3), "paper": (0.07, 0.083, 0.1, 0.12, 0.144, 0.173, 0.207)}
MUP_RATES = {
    "smoke": (0.001, 0.002),
    "laptop": (0.0156, 0.0312, 0.0625, 0.125),
    "paper": (0.01, 0.012, 0.0144, 0.0173, 0.0207, 0.0249, 0.0299, 0.0358, 0.043, 0.0516, 0.0619),
}
PLAIN = "standard"
STATEMENTS = [
    Statement("standard parameterization: a small set first needs fewer steps", "a gap (fig. 7)"),
    Statement("muP: a small set first still needs fewer steps", "muP does not close the gap (fig. 22)"),
    Statement("best alpha: small first and large need the same steps, within 25 %", "alpha closes the gap (fig. 7)"),
    Statement("large set: the best alpha needs fewer steps than alpha = 1", "alpha closes the gap (fig. 7)"),
]


class MaximalUpdateSingleIndex(SweptRecipe):
    name = "mup-single-index"
    paper = "C: Less Data, Faster Training"
    figure_number = "7, 22 (single-index)"
    question = "Which parameterization closes the gap for single-index models?"
    metric = "test/loss"
    threshold = 0.6
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(FEWER_SEEDS, 1400, "2 CPU cores, with other work"),
        "paper": Scale(FEWER_SEEDS, 1_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        plain = gradient_descent(scale, D[scale])

        def changed(make: Callable[[float], Spec], **changes: object) -> Callable[[float], Spec]:
            return lambda lr: Spec.parse({**make(lr).model_dump(mode="json"), **changes})

        arms = {_arm(PLAIN, name): make for name, make in plain.items()}
        for alpha in ALPHAS[scale]:
            arms |= {_arm(f"alpha = {alpha:g}", n): changed(m, groups=alpha_groups(alpha)) for n, m in plain.items()}
        mup = {}
        for name, make in plain.items():
            model = {**make(0.1).model.model_dump(mode="json"), "parameterization": "mup"}
            mup[_arm("muP", name)] = changed(make, model=model)
        return swept(arms, RATES[scale]) | swept(mup, MUP_RATES[scale])

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        best = {size: _best(results, size) for size in (LARGE, SMALL_FIRST)}
        plain = tuned(results, _arm(PLAIN, LARGE)).times()
        scaled = [tuned(results, _arm(best[size], size)).times() for size in (LARGE, SMALL_FIRST)]
        gaps = {kind: _pair(results, kind) for kind in (PLAIN, "muP")}
        return [
            STATEMENTS[0].faster(*at, gaps[PLAIN][0], gaps[PLAIN][1], "steps"),
            STATEMENTS[1].faster(*at, gaps["muP"][0], gaps["muP"][1], "steps"),
            STATEMENTS[2].closed(*at, scaled[0], scaled[1], "steps"),
            STATEMENTS[3].faster(*at, plain, scaled[0], "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        kinds = [PLAIN, "muP", _best(results, LARGE)]
        return Figure(
            "Single-index models: muP is not enough",
            [
                panel([tuned(results, _arm(kind, s)) for s in (SMALL_FIRST, LARGE)], "test/loss", "steps", kind)
                for kind in kinds
            ],
        )


def _arm(kind: str, size: str) -> str:
    return f"{kind}, {size}"


def _best(results: Results, size: str) -> str:
    """The alpha that the choosing members like best (alpha = 1 is the standard parameterization)."""
    kinds = [PLAIN, *(f"alpha = {alpha:g}" for alpha in ALPHAS[results.scale])]
    return min(kinds, key=lambda kind: tuned(results, _arm(kind, size)).cost)


def _pair(results: Results, kind: str) -> tuple[Times, Times]:
    """Steps to learn (large, small first)."""
    return tuned(results, _arm(kind, LARGE)).times(), tuned(results, _arm(kind, SMALL_FIRST)).times()
