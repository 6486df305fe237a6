"""complexity: paper C says that harder tasks have a wider gap between small and large sets.

Paper C, figure 10 (a): single-index models by full-batch gradient descent, the gap is wider in d = 80 than in d = 40.
(Its second panel, (20, 6)- against (10, 6)-parity, is about transformers.)

    lopsided run complexity --scale laptop

`laptop` changes: d = 20 against d = 40; a first phase of 100 steps on 2^11 (d = 20) or 2^12 (d = 40) samples, the rest
on 2^14, against 2^14 from the start. Learned: a test loss of 0.6, a fifth of what answering 0 costs. Rates are swept
per arm; each third of the seeds is judged at what the others choose. The gap is, seed by seed, the ratio of steps to
learn: large set over small set first. The arms at d = 40 are those of `small-vs-large`.
"""

from __future__ import annotations

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    WiderGap,
    bests,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import GRID, LARGER_SETS
from lopsided.recipes._single_index import INDEX_RATES, LARGE, SMALL_FIRST, gradient_descent

DIMENSIONS = {"smoke": (8,), "laptop": (20, 40), "paper": (40, 80)}
SMALLER, LARGER = {"which": "smaller"}, {"which": "larger"}
FIRST, FROM_START = {"data": SMALL_FIRST}, {"data": LARGE}


def arms(scale: ScaleName) -> Arms:
    for which, d in zip(("smaller", "larger"), DIMENSIONS[scale], strict=False):
        for data, make in gradient_descent(scale, d).items():
            yield from swept(make, {"lr": INDEX_RATES[scale]}, which=which, d=d, data=data)


def figure(r: Results) -> Figure:
    panels = [tuned_curves(bests(r, d=d), "test/loss", "steps", f"d = {d}") for d in DIMENSIONS[r.scale]]
    return Figure("The gap by dimension", panels)


recipe = Recipe(
    name="complexity",
    paper="C",
    figure_number="10 (a)",
    question="Do harder tasks gain more from a small set first?",
    about=__doc__,
    metric="test/loss",
    threshold=0.6,
    scales={"smoke": (2, 4), "laptop": (18, 150), "paper": (18,)},
    assumptions=[GRID, LARGER_SETS],
    arms=arms,
    claims=[
        Statement(
            "in the smaller dimension a small set first needs fewer steps",
            Paper("ahead", "fig. 10a"),
            Ahead(SMALLER | FIRST, of=SMALLER | FROM_START),
        ),
        Statement(
            "in the larger dimension a small set first needs fewer steps",
            Paper("ahead", "fig. 10a"),
            Ahead(LARGER | FIRST, of=LARGER | FROM_START),
        ),
        Statement(
            "the gap in steps is wider in the larger dimension",
            Paper("wider in d = 80 than in 40", "fig. 10a"),
            WiderGap(LARGER, SMALLER, slow=FROM_START, fast=FIRST),
        ),
    ],
    figure=figure,
)
