"""mup-single-index: paper C says that muP leaves the gap between small and large sets open, and alpha closes it.

Paper C, figures 7 and 22: full-batch gradient descent on He_3 in d = 40. Paper: unlike for parity, muP does not close
the gap, up to the largest width tried; dividing the first layer's initial scale by alpha and multiplying the second's
does.

    lopsided run mup-single-index --scale laptop

`laptop` changes: widths 64 and 256 (the latter with muP alone) for 64 and 1,024; a first phase of 100 steps on 2^12
samples, then 2^14, against 2^14 from the start; learned at a test loss of 0.6, a fifth of what answering 0 costs; alpha
in {2, 4}, and beyond where 4 is best. Rates are swept per arm; each third of the seeds is judged at what the others
choose. A gap counts as closed if neither arm needs 25 % more steps.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    Level,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    best,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import GRID
from lopsided.recipes._repetition import FEWER_SEEDS
from lopsided.recipes._single_index import LARGE, SMALL_FIRST, gradient_descent
from lopsided.recipes.mup import LARGEST, scaled


def _grid(least: float, points: int) -> tuple[float, ...]:
    """Rates from `least` on, 1.2 times apart, as the paper's sweeps are. At laptop scale 0.3 and 0.28 are best."""
    return tuple((least * 1.2 ** np.arange(points)).round(4))


D = {"smoke": 8, "laptop": 40, "paper": 40}
ALPHAS = {"smoke": (2.0,), "laptop": (2.0, 4.0), "paper": (1.5, 2.0, 3.0, 4.0, 6.0)}
RATES = {"smoke": (0.01, 0.02), "laptop": (0.1, 0.2, 0.3), "paper": _grid(0.07, 11)}
MUP_RATES = {
    "smoke": (0.001, 0.002),
    "laptop": (0.0156, 0.0312, 0.0625, 0.125),
    "paper": _grid(0.03, 15),
}
WIDEST = {"smoke": 32, "laptop": 256, "paper": 1024}
"""Width of the network for which muP is tried again. (`laptop`: narrower than the paper's, for time.)"""
FIRST, FROM_START = {"data": SMALL_FIRST}, {"data": LARGE}
STANDARD, SCALED, MUP = ({"scaling": scaling} for scaling in ("standard", "alpha", "muP"))
WIDE = {"scaling": "muP, widest"}


def arms(scale: ScaleName) -> Arms:
    for data, make in gradient_descent(scale, D[scale]).items():
        yield from swept(make, {"lr": RATES[scale]}, **STANDARD, data=data)
        yield from swept(partial(scaled, make), {"lr": RATES[scale], "alpha": ALPHAS[scale]}, **SCALED, data=data)
    for data, make in gradient_descent(scale, D[scale], model={"parameterization": "mup"}).items():
        yield from swept(make, {"lr": MUP_RATES[scale]}, **MUP, data=data)
    wide = {"parameterization": "mup", "width": WIDEST[scale]}
    for data, make in gradient_descent(scale, D[scale], model=wide).items():
        yield from swept(make, {"lr": MUP_RATES[scale]}, **WIDE, width=WIDEST[scale], data=data)


def figure(r: Results) -> Figure:
    panels = [
        tuned_curves([best(r, **kind, **data) for data in (FIRST, FROM_START)], "test/loss", "steps", title)
        for title, kind in (("standard", STANDARD), ("muP", MUP), ("muP, widest", WIDE), ("best alpha", SCALED))
    ]
    return Figure("Single-index models, by parameterization", panels)


recipe = Recipe(
    name="mup-single-index",
    paper="C",
    figure_number="7, 22 (single-index)",
    question="Which parameterization closes the gap for single-index models?",
    about=__doc__,
    metric="test/loss",
    threshold=0.6,
    scales={
        "smoke": (2, 6),
        "laptop": (FEWER_SEEDS, 460),
        "paper": (FEWER_SEEDS, 1_000_000),
    },
    assumptions=[GRID],
    arms=arms,
    claims=[
        Statement(
            "standard parameterization: a small set first needs fewer steps",
            Paper("a gap", "fig. 7"),
            Ahead(STANDARD | FIRST, of=STANDARD | FROM_START),
        ),
        Statement(
            "muP: a small set first still needs fewer steps",
            Paper("muP does not close the gap", "fig. 22"),
            Ahead(MUP | FIRST, of=MUP | FROM_START),
        ),
        Statement(
            "muP, in the widest network: a small set first still needs fewer steps",
            Paper("muP does not close the gap", "fig. 22"),
            Ahead(WIDE | FIRST, of=WIDE | FROM_START),
            history="added on 2026-11-29, with its arms, before any row of them",
        ),
        Statement(
            "best alpha: small first and large need the same steps, within 25 %",
            Paper("alpha closes the gap", "fig. 7"),
            Level(SCALED | FIRST, SCALED | FROM_START),
            history=LARGEST,
        ),
        Statement(
            "large set: the best alpha needs fewer steps than alpha = 1",
            Paper("alpha closes the gap", "fig. 7"),
            Ahead(SCALED | FROM_START, of=STANDARD | FROM_START),
        ),
    ],
    figure=figure,
)
