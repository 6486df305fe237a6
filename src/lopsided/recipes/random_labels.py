"""random-labels: a first phase on a small set helps even if its labels are random.

Paper C, figure 4. The small set makes the second layer grow, whatever its labels say, and a larger second layer
speeds the first layer up. Paper: a first phase on random labels speeds learning up as true labels do, and ‖a‖ / ‖W‖
depends on the set's size, not on its labels.

    lopsided run random-labels --scale laptop

`laptop` changes: (14, 6)-parity; the first 100 steps of gradient descent on N = 2^11 samples with true or random
labels, then all 2^14 inputs, against all inputs from the start. Rates are swept per arm; each third of the seeds is
judged at what the others choose. Norm ratios are compared at one rate (2; 0.3 for the single-index model) at the end of
the first phase. The single-index model is that of `small-vs-large`: d = 40, 100 steps on 2^12 samples, labelled by
another direction, then 2^14.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lopsided.recipe import (
    Ahead,
    Arms,
    At,
    Custom,
    Figure,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    bests,
    chosen_rates,
    curves,
    decisions,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import PERCEPTRONS
from lopsided.recipes._repetition import PARITY, RATES, SEEDS, SMALL, STEPS, perceptron
from lopsided.recipes._single_index import INDEX_RATES, LARGE, RANDOM_FIRST, SMALL_FIRST, gradient_descent

FIRST = {"smoke": 20, "laptop": 100, "paper": 100}
"""Steps of the first phase, of both tasks."""
COMPARED = {
    "parity": {"smoke": 0.5, "laptop": 2.0, "paper": 0.482},
    "single-index": {"smoke": 0.01, "laptop": 0.3, "paper": 0.1},
}
"""The rate at which norm ratios are compared."""
INDEX_D = {"smoke": 8, "laptop": 40, "paper": 40}
GEOMETRIC = "first the mean of the ratios of 64 seeds, which is above 1 for equal quantities; now their geometric mean"
RANDOM, TRUE, NONE = ({"first": f"{labels} first"} for labels in ("random labels", "true labels", "nothing small"))
PARITY_ARMS, INDEX_ARMS = {"task": "parity"}, {"task": "single-index"}


def arms(scale: ScaleName) -> Arms:
    large, steps, first = 2 ** PARITY[scale][0], STEPS[scale], FIRST[scale]
    then, small = {"steps": steps - first, "size": large}, {"steps": first, "size": SMALL[scale]}
    for which, phases in (
        (RANDOM, [{**small, "labels": "random"}, then]),
        (TRUE, [small, then]),
        (NONE, [{"steps": steps, "size": large}]),
    ):
        plan = {"name": "full-batch-phases", "phases": phases}
        make = partial(perceptron, scale, plan=plan, training_set={"remove": "repeats"})
        yield from swept(make, {"lr": RATES[scale]}, **PARITY_ARMS, **which)
    index = gradient_descent(scale, INDEX_D[scale], random=True)
    for which, data in ((TRUE, SMALL_FIRST), (NONE, LARGE), (RANDOM, RANDOM_FIRST)):
        yield from swept(index[data], {"lr": INDEX_RATES[scale]}, **INDEX_ARMS, **which)


def compared(r, task):
    """The arms with random labels, true labels and nothing first, at the one rate."""
    at = {"task": task, "lr": COMPARED[task][r.scale]}
    return [r.arm(**at, **which) for which in (RANDOM, TRUE, NONE)]


def ratios(r, task):
    """(M,) norm ratio of every member at the end of the first phase (nobody has left by then), of the same arms."""
    found = []
    for each in compared(r, task):
        at = int(np.searchsorted(each.steps, FIRST[r.scale]))
        found.append(each.metric("norm/ratio")[:, min(at, len(each.steps) - 1)])
    return found


def grows(task, said):
    def test(r, level):
        random, _, none = ratios(r, task)
        return decisions.higher(none, random, f"‖a‖/‖W‖ after the first phase, random {said}", level=level)

    return Custom(test, of=at_the_one_rate(task))


def same_growth(task, said):
    def test(r, level):
        random, true, _ = ratios(r, task)
        what = f"‖a‖/‖W‖, random over true {said}, by seed"
        return decisions.near(random / true, 1.0, 0.1, what, ratio=True, level=level)

    return Custom(test, of=at_the_one_rate(task))


def at_the_one_rate(task) -> At:
    """Coordinates of the arms of `compared`, at any scale."""
    return {"task": task, "lr": lambda lr: lr in COMPARED[task].values()}


def figure(r: Results) -> Figure:
    parity = bests(r, **PARITY_ARMS)
    index = [t for which in (RANDOM, TRUE, NONE) for t in bests(r, **INDEX_ARMS, **which)]
    at_one_rate = [[each.name for each in compared(r, task)] for task in COMPARED]
    return Figure(
        "Labels do not matter for the head start",
        [
            tuned_curves(parity, "test/accuracy", "steps", "At each arm's best rate"),
            curves(r, "norm/ratio", "steps", "‖a‖ / ‖W‖ at one rate", arms=at_one_rate[0]),
            chosen_rates(r, **PARITY_ARMS),
            tuned_curves(index, "test/loss", "steps", "Single-index, at each arm's best rate"),
            curves(r, "norm/ratio", "steps", "Single-index, ‖a‖ / ‖W‖ at one rate", arms=at_one_rate[1]),
        ],
    )


recipe = Recipe(
    name="random-labels",
    paper="C",
    figure_number="4",
    question="Does a small set help even when its labels mean nothing?",
    about=__doc__,
    scales={"smoke": (2, 3), "laptop": (SEEDS, 310), "paper": (SEEDS,)},
    assumptions=PERCEPTRONS,
    arms=arms,
    claims=[
        Statement(
            "a first phase on a small set needs fewer steps in all",
            Paper("well ahead of the large set", "fig. 4a"),
            Ahead(PARITY_ARMS | TRUE, of=PARITY_ARMS | NONE),
        ),
        Statement(
            "so does a first phase on random labels",
            Paper("as fast as with true labels", "fig. 4a"),
            Ahead(PARITY_ARMS | RANDOM, of=PARITY_ARMS | NONE),
        ),
        Statement(
            "after it, ‖a‖/‖W‖ is larger than on the large set",
            Paper("grows faster on the small set", "fig. 4b"),
            grows("parity", "labels"),
        ),
        Statement(
            "… and that of random labels equals that of true labels, within 10 %",
            Paper("the same curve", "fig. 4b"),
            same_growth("parity", "labels"),
            history=GEOMETRIC,
        ),
        Statement(
            "single-index: a first phase on a random direction needs fewer steps",
            Paper("well ahead", "fig. 4c"),
            Ahead(INDEX_ARMS | RANDOM, of=INDEX_ARMS | NONE),
        ),
        Statement(
            "single-index: after it, ‖a‖/‖W‖ is larger than on the large set",
            Paper("grows faster", "fig. 4d"),
            grows("single-index", "direction"),
        ),
        Statement(
            "single-index: … and equals that of the true direction, within 10 %",
            Paper("the same curve", "fig. 4d"),
            same_growth("single-index", "direction"),
            history=GEOMETRIC,
        ),
    ],
    figure=figure,
)
