"""bias-removal-single-index: a small set first helps a single-index model, too, when its inputs are whitened.

Paper C, figure 16 (b): d = 50, a transformer, mini-batches. Paper: where the inputs of the small set have mean zero and
covariance one exactly, the set stays ahead.

    lopsided run bias-removal-single-index --scale laptop

A transformer has no gap to lose on small single-index models (`docs/repetition-transformers.md`), so this is the
perceptron of figure 2 (d), by full-batch gradient descent on He_3 in d = 50. Every phase's set is moved and rotated by
its own moments and labelled afterwards. `laptop` changes: width 64; a first phase of 100 steps on 2^12 samples, then
2^14, against 2^14 from the start; learned at a test loss of 0.6, a fifth of what answering 0 costs. Rates are swept per
arm; each third of the seeds is judged at what the others choose.
"""

from __future__ import annotations

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    NotAhead,
    Own,
    Recipe,
    Results,
    ScaleName,
    Statement,
    bests,
    chosen_rates,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import GRID
from lopsided.recipes._repetition import FEWER_SEEDS
from lopsided.recipes._single_index import INDEX_RATES, LARGE, LEARNED, SMALL_FIRST, gradient_descent

D = {"smoke": 8, "laptop": 50, "paper": 50}
REMOVE = {"as drawn": "none", "whitened": "whitened"}
FIRST, FROM_START = {"data": SMALL_FIRST}, {"data": LARGE}
DRAWN, WHITENED = ({"inputs": inputs} for inputs in REMOVE)
PERCEPTRON = Own("the figure is of a transformer and mini-batches")


def arms(scale: ScaleName) -> Arms:
    for inputs, remove in REMOVE.items():
        makes = gradient_descent(scale, D[scale], training_set={"remove": remove})
        for data, make in makes.items():
            yield from swept(make, {"lr": INDEX_RATES[scale]}, inputs=inputs, data=data)


def figure(r: Results) -> Figure:
    return Figure(
        "A small set whose inputs have the population's moments",
        [tuned_curves(bests(r), "test/loss", "steps", "Single-index model, full batches"), chosen_rates(r)],
    )


recipe = Recipe(
    name="bias-removal-single-index",
    paper="C",
    figure_number="16 (b)",
    question="Does a single-index model's gap come from the small set's input bias?",
    about=__doc__,
    metric="test/loss",
    threshold=LEARNED,
    scales={"smoke": (2, 6), "laptop": (FEWER_SEEDS, 600), "paper": (FEWER_SEEDS,)},
    assumptions=[GRID],
    arms=arms,
    claims=[
        Statement(
            "inputs as drawn: a small set first needs fewer steps than a large one",
            PERCEPTRON,
            Ahead(DRAWN | FIRST, of=DRAWN | FROM_START),
        ),
        Statement(
            "whitened inputs: a small set first needs fewer steps than a large one",
            PERCEPTRON,
            Ahead(WHITENED | FIRST, of=WHITENED | FROM_START),
        ),
        Statement(
            "whitening costs the small set first less than 25 % in steps",
            PERCEPTRON,
            NotAhead(DRAWN | FIRST, of=WHITENED | FIRST),
        ),
    ],
    figure=figure,
)
