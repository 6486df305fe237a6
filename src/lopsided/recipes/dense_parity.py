"""dense-parity: paper C says that a small set is ahead of a large one even if the target is not sparse.

Paper C, figure 14: full-batch gradient descent on (20, 20)-parity, the product of all coordinates, which biased inputs
and queries of few coordinates do not make easier. Paper: the small set is still ahead.

    lopsided run dense-parity --scale laptop

`laptop` changes: (12, 12)-parity, N = 2^11 against all 2^12 inputs (half of them: with fewer the perceptron over-fits),
a member counts as having learned at a test accuracy of 0.9. Rates are swept per arm; each third of the seeds is judged
at what the others choose.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    bests,
    chosen_rates,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import PERCEPTRONS
from lopsided.recipes._repetition import SEEDS, perceptron

SMALL, FULL = {"data": "small set"}, {"data": "whole population"}
SIZES = {"smoke": (6, 2**5, 60), "laptop": (12, 2**11, 3000), "paper": (20, 2**14, 20_000)}
"""d, N, steps."""
RATES = {
    "smoke": (0.25, 0.5),
    "laptop": (0.18, 0.25, 0.35, 0.5, 0.7),
    "paper": (0.05, 0.06, 0.072, 0.086, 0.1, 0.12, 0.15, 0.18, 0.21, 0.26, 0.31),
}
LEARNED = 0.9


def arms(scale: ScaleName) -> Arms:
    d, small, steps = SIZES[scale]
    for data, size in ((SMALL, small), (FULL, 2**d)):
        make = partial(
            perceptron,
            scale,
            task={"name": "sparse-parity", "d": d, "k": d},
            plan={"name": "full-batch", "size": size},
            training_set={"remove": "repeats"},
            until={"metric": "test/accuracy", "at_least": LEARNED},
            steps=steps,
        )
        yield from swept(make, {"lr": RATES[scale]}, **data)


def figure(r: Results) -> Figure:
    return Figure(
        "Dense parity",
        [
            tuned_curves(bests(r), "test/accuracy", "steps", "Against steps"),
            tuned_curves(bests(r), "test/accuracy", "samples", "… against compute"),
            tuned_curves(bests(r), "norm/ratio", "steps", "‖a‖ / ‖W‖"),
            chosen_rates(r),
        ],
    )


recipe = Recipe(
    name="dense-parity",
    paper="C",
    figure_number="14 (left)",
    question="Is there a gap between small and large sets without a sparse target?",
    about=__doc__,
    threshold=LEARNED,
    scales={"smoke": (2, 3), "laptop": (SEEDS, 120), "paper": (SEEDS,)},
    assumptions=PERCEPTRONS,
    arms=arms,
    claims=[
        Statement(
            "dense parity, GD: the small set needs fewer steps", Paper("ahead", "fig. 14, left"), Ahead(SMALL, of=FULL)
        ),
        Statement(
            "dense parity, GD: the small set needs less compute",
            Paper("ahead", "fig. 14, left"),
            Ahead(SMALL, of=FULL, axis="samples"),
            near_trivial="each of its steps sees half as many samples",
        ),
    ],
    figure=figure,
)
