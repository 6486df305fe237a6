"""norm-growth: the second layer grows faster, relative to the first, on smaller sets.

Paper C, figure 12: ‖a‖₂ / ‖W‖_F during the first steps of gradient descent on (20, 6)-parity and on a single-index
model; figure 13: both norms on the latter. Paper: the ratio rises faster on the smaller set.

    lopsided run norm-growth --scale laptop

`laptop` changes: (14, 6)-parity with N = 2^9, 2^11 and all 2^14 inputs at learning rate 2; single-index with d = 20,
He_3 and N = 2^9, 2^11, 2^13 at learning rate 0.1. One rate per task, the same for every N: what is compared is growth,
not speed. The claims are about growth up to a stated early step, 100 for parity and 60 for the single-index model.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lopsided.recipe import Arms, Custom, Figure, Paper, Recipe, Results, ScaleName, Statement, arm, curves, decisions
from lopsided.recipes._assumed import PERCEPTRONS
from lopsided.recipes._repetition import full_batch, perceptron

PARITY_SIZES = {"smoke": (2**5, 2**8), "laptop": (2**9, 2**11, 2**14), "paper": (2**12, 2**14, 2**20)}
INDEX_SIZES = {"smoke": (2**6, 2**8), "laptop": (2**9, 2**11, 2**13), "paper": (8_000, 64_000, 256_000)}
INDEX_D = {"smoke": 8, "laptop": 20, "paper": 40}
RATES = {"smoke": (0.5, 0.01), "laptop": (2.0, 0.1), "paper": (0.5, 0.02)}
STEPS = {"smoke": (60, 60), "laptop": (400, 300), "paper": (2000, 1000)}
EARLY = {"smoke": (20, 20), "laptop": (100, 60), "paper": (200, 100)}
FROM_THE_START = "first by the growth since step 10, the first evaluation"


def arms(scale: ScaleName) -> Arms:
    (parity_rate, index_rate), (parity_steps, index_steps) = RATES[scale], STEPS[scale]
    evaluation = {"every": 10, "samples": 64 if scale == "smoke" else 1024}
    make = partial(perceptron, scale, until=None, evaluation=evaluation)
    for size in PARITY_SIZES[scale]:
        yield arm(make(parity_rate, **full_batch(scale, size), steps=parity_steps), task="parity", N=size)
    index = {"name": "single-index", "d": INDEX_D[scale]}
    for size in INDEX_SIZES[scale]:
        plan = {"name": "full-batch", "size": size}
        spec = make(index_rate, task=index, plan=plan, loss="square", steps=index_steps)
        yield arm(spec, task="single-index", N=size)


def ratio_at(each, early):
    """(M,) ‖a‖/‖W‖ at step `early`."""
    at = min(int(np.searchsorted(each.steps, early)), len(each.steps) - 1)
    return each.metric("norm/ratio")[:, at]


def rises_more(task, which):
    """Make the test of one claim: by step `early`, the ratio ‖a‖/‖W‖ of output to input weights has grown more on a
    smaller training set than on the largest one. `which` names the smaller set: 0 the smallest, 1 the middle one. All
    sets of a seed start from the same weights, so a larger ratio at `early` means more growth."""

    def test(r, level):
        early = EARLY[r.scale][0 if task == "parity" else 1]
        found = [ratio_at(each, early) for each in r.where(task=task)]
        return decisions.higher(found[-1], found[which], f"‖a‖/‖W‖ at step {early}", level=level)

    return Custom(test, of={"task": task})


def figure(r: Results) -> Figure:
    parity, index = ([a.name for a in r.where(task=task)] for task in ("parity", "single-index"))
    return Figure(
        "The second layer grows faster on smaller sets",
        [
            curves(r, "norm/ratio", "steps", "Parity: ‖a‖ / ‖W‖", arms=parity),
            curves(r, "norm/ratio", "steps", "Single-index: ‖a‖ / ‖W‖", arms=index),
            curves(r, "norm/layer2", "steps", "Single-index: second layer ‖a‖", arms=index),
            curves(r, "norm/layer1", "steps", "Single-index: first layer ‖W‖", arms=index),
        ],
    )


recipe = Recipe(
    name="norm-growth",
    paper="C",
    figure_number="12, 13",
    question="Does the second layer grow faster on smaller sets?",
    about=__doc__,
    metric="norm/ratio",
    scales={"smoke": (2, 3), "laptop": (16, 40), "paper": (16,)},
    assumptions=PERCEPTRONS,
    arms=arms,
    claims=[
        Statement(
            "parity: ‖a‖/‖W‖ has risen more on the smallest set than on all inputs",
            Paper("rises faster", "fig. 12"),
            rises_more("parity", 0),
            history=FROM_THE_START,
        ),
        Statement(
            "parity: … and more on the middle set than on all inputs",
            Paper("rises faster", "fig. 12"),
            rises_more("parity", 1),
            history=FROM_THE_START,
        ),
        Statement(
            "single-index: ‖a‖/‖W‖ has risen more on the smallest set than on the largest",
            Paper("rises faster", "fig. 12"),
            rises_more("single-index", 0),
            history=FROM_THE_START,
        ),
        Statement(
            "single-index: … and more on the middle set than on the largest",
            Paper("rises faster", "fig. 12"),
            rises_more("single-index", 1),
            history=FROM_THE_START,
        ),
    ],
    figure=figure,
)
