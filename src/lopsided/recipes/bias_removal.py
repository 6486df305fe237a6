"""bias-removal: a small set still learns faster when its input bias is removed.

Paper C, figures 3 (a) and 16. A small sample's coordinates do not average to zero, and biased inputs make parities
easier; the paper removes that bias (mean input zero, or mean input and mean label zero in every class) and finds the
small set as fast as before.

    lopsided run bias-removal --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against the whole population of 2^14 inputs, full-batch gradient descent.
Balanced sets consist of pairs x, -x, or of two pairs with opposite labels, so all means are exactly zero; pairs carry
the second moments of half as many independent samples, a detail that the paper leaves open. Rates are swept per arm;
each third of the seeds is judged at what the others choose.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Ahead,
    AheadThroughout,
    Arms,
    Figure,
    NotAhead,
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
from lopsided.recipes._repetition import ADDED, RATES, SEEDS, SMALL, THROUGHOUT, full_batch, perceptron

REMOVE = {
    "small set": "none",
    "small, mean input 0": "balanced-inputs",
    "small, mean input and label 0": "balanced-labels",
}
PLAIN, INPUTS, LABELS = ({"data": data} for data in REMOVE)
FULL = {"data": "whole population"}


def arms(scale: ScaleName) -> Arms:
    plan = {"name": "full-batch", "size": SMALL[scale]}
    for data, remove in REMOVE.items():
        make = partial(perceptron, scale, plan=plan, training_set={"remove": remove})
        yield from swept(make, {"lr": RATES[scale]}, data=data)
    yield from swept(partial(perceptron, scale, **full_batch(scale)), {"lr": RATES[scale]}, **FULL)


def figure(r: Results) -> Figure:
    return Figure(
        "Removing the bias of the inputs does not remove the gap",
        [
            tuned_curves(bests(r), "test/accuracy", "steps", "Against steps"),
            tuned_curves(bests(r), "test/accuracy", "samples", "… against compute"),
            chosen_rates(r),
        ],
    )


recipe = Recipe(
    name="bias-removal",
    paper="C",
    figure_number="3 (a)",
    question="Does the gap between small and large sets come from the small set's input bias?",
    about=__doc__,
    scales={"smoke": (2, 3), "laptop": (SEEDS, 100), "paper": (SEEDS,)},
    assumptions=PERCEPTRONS,
    arms=arms,
    claims=[
        Statement(
            "the plain small set needs fewer steps than the whole population",
            Paper("ahead", "fig. 3a"),
            Ahead(PLAIN, of=FULL),
        ),
        Statement(
            "… also to test accuracies of .6, .7, .8 and .9",
            Paper("ahead throughout", "fig. 3a"),
            AheadThroughout(PLAIN, of=FULL, at=THROUGHOUT),
            history=ADDED,
        ),
        Statement(
            "a small set whose mean input is zero needs fewer steps than the whole population",
            Paper("ahead, as fast as the plain small set", "fig. 3a"),
            Ahead(INPUTS, of=FULL),
        ),
        Statement(
            "so does one whose mean label, and mean input of each label, are zero",
            Paper("ahead, as fast as the plain one", "fig. 3a"),
            Ahead(LABELS, of=FULL),
        ),
        Statement(
            "removing the input bias costs less than 25 % in steps",
            Paper("no visible difference", "fig. 3a"),
            NotAhead(PLAIN, of=INPUTS),
        ),
    ],
    figure=figure,
)
