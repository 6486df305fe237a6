"""mup: the maximal-update parameterization closes the gap for parity; one number alpha closes it too, at every width.

Paper C, figures 7, 21 and 23: full-batch gradient descent on (20, 6)-parity. Paper: muP has no gap from width 64 on;
dividing the first layer's initial scale by alpha and multiplying the second's by alpha closes it as well, and the best
alpha is the same at every width. (Single-index models: `mup-single-index`.)

    lopsided run mup --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against all 2^14 inputs, width 64, and widths 32 and 128 for alpha on the
whole population; alpha in {1, 2, 4}; parity only. Rates are swept per arm; one seed in three chooses, the others are
judged. A gap counts as closed if neither arm needs 25 % more steps. alpha scales weights and biases of its layer.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import (
    FEWER_SEEDS,
    SEEDS,
    SMALL,
    SweptRecipe,
    full_batch,
    panel,
    perceptron,
    swept,
    tuned,
)
from lopsided.report.panels import Figure, Panel, over_members
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

ALPHAS = {"smoke": (1.0, 2.0), "laptop": (1.0, 2.0, 4.0), "paper": (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)}
WIDTHS = {"smoke": (16,), "laptop": (32, 64, 128), "paper": (32, 64, 256, 1024)}
MAIN = {"smoke": 16, "laptop": 64, "paper": 64}
RATES = {
    "smoke": (0.5, 1.0),
    "laptop": (0.25, 0.5, 1.0, 2.0, 3.0),
    "paper": tuple(np.round(1.2 ** np.arange(-12, 8), 3)),
}
MUP_RATES = {
    "smoke": (0.05, 0.1),
    "laptop": (0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0),
    "paper": tuple(np.round(1.2 ** np.arange(-24, 2), 4)),
}
STATEMENTS = [
    Statement("standard parameterization: the small set needs fewer steps", "a gap (fig. 7)"),
    Statement("muP: small and large sets need the same steps, within 25 %", "no gap at width 64 (fig. 7, 21)"),
    Statement("best alpha: small and large sets need the same steps, within 25 %", "no gap (fig. 7)"),
    Statement("whole population: the best alpha needs fewer steps than alpha = 1", "alpha closes the gap (fig. 7)"),
    Statement(
        "the best alpha differs by at most a factor 2 between the narrowest and the widest network",
        "constant across widths (fig. 23)",
    ),
]


class MaximalUpdate(SweptRecipe):
    name = "mup"
    paper = "C: Less Data, Faster Training"
    figure_number = "7, 21, 23 (parity)"
    question = "Is there a parameterization without a gap between small and large sets?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(FEWER_SEEDS, 590, "2 CPU cores"),
        "paper": Scale(SEEDS, 3_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        steps = {"smoke": 60, "laptop": 1200, "paper": 4000}[scale]

        def arm(size: int | None, **changes: Any):
            return lambda lr: perceptron(scale, lr, steps=steps, **full_batch(scale, size), **changes)

        sets = {"small": SMALL[scale], "all": None}
        mup = {f"muP, {s}": arm(n, model={"parameterization": "mup"}) for s, n in sets.items()}
        main = MAIN[scale]
        arms = {
            _arm(alpha, main, s): arm(n, groups=alpha_groups(alpha), model={"width": main})
            for alpha in ALPHAS[scale]
            for s, n in sets.items()
        }
        arms |= {
            _arm(alpha, width, "all"): arm(None, groups=alpha_groups(alpha), model={"width": width})
            for alpha in ALPHAS[scale]
            for width in WIDTHS[scale]
            if width != main
        }
        return swept(mup, MUP_RATES[scale]) | swept(arms, RATES[scale])

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at, main = (self.name, results.scale), MAIN[results.scale]

        def pair(make) -> tuple[Times, Times]:
            return tuned(results, make("all")).times(), tuned(results, make("small")).times()

        alpha = {s: _best_alpha(results, main, s) for s in ("all", "small")}
        best, plain = (tuned(results, _arm(a, main, "all")).times() for a in (alpha["all"], 1.0))
        widths = WIDTHS[results.scale]
        ratio = np.log2(_alphas_by_member(results, widths[-1]) / _alphas_by_member(results, widths[0]))
        what = "|log2| of the best alpha, widest over narrowest, by judged member"
        return [
            STATEMENTS[0].faster(*at, *pair(lambda s: _arm(1.0, main, s)), "steps"),
            STATEMENTS[1].closed(*at, *pair(lambda s: f"muP, {s}"), "steps"),
            STATEMENTS[2].closed(*at, *pair(lambda s: _arm(alpha[s], main, s)), "steps"),
            STATEMENTS[3].faster(*at, plain, best, "steps"),
            STATEMENTS[4].below(*at, np.abs(ratio), 1.0, what),
        ]

    def figure(self, results: Results) -> Figure:
        main, alphas = MAIN[results.scale], ALPHAS[results.scale]
        panels = [
            panel([tuned(results, make(s)) for s in ("small", "all")], "test/accuracy", "steps", title)
            for title, make in (
                ("Standard parameterization", lambda s: _arm(1.0, main, s)),
                ("muP", lambda s: f"muP, {s}"),
                ("Best alpha", lambda s: _arm(_best_alpha(results, main, s), main, s)),
            )
        ]
        lines = []
        for i, width in enumerate(WIDTHS[results.scale]):
            steps = np.stack([tuned(results, _arm(a, width, "all")).times().ordinal for a in alphas], axis=1)
            lines.append(over_members(f"width {width}", np.array(alphas), steps, i, "points"))
        by_alpha = Panel("All inputs, by alpha", "alpha", "steps to learn", lines, log_x=True, log_y=True)
        return Figure("Scaled right, the gap is gone", [*panels, by_alpha])


def alpha_groups(alpha: float) -> list[dict[str, Any]]:
    """Parameter groups of alpha-scaling for two layers."""
    return [{"match": "layers.0.*", "init": 1 / alpha}, {"match": "layers.1.*", "init": alpha}]


def _arm(alpha: float, width: int, size: str) -> str:
    return f"alpha = {alpha:g}, width {width}, {size}"


def _best_alpha(results: Results, width: int, size: str) -> float:
    """The alpha that the choosing members like best, each alpha at its best rate."""
    return min(ALPHAS[results.scale], key=lambda a: tuned(results, _arm(a, width, size)).cost)


def _alphas_by_member(results: Results, width: int) -> np.ndarray:
    """(V,) the alpha at which each judged member learns first, on the whole population, each alpha at its best rate."""
    alphas = ALPHAS[results.scale]
    steps = np.stack([tuned(results, _arm(a, width, "all")).times().ordinal for a in alphas])
    return np.where(np.isinf(steps).all(0), np.nan, np.array(alphas)[steps.argmin(0)])
