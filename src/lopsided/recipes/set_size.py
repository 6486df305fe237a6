"""set-size: too small a set over-fits, too large a set is slow; a range in between is best.

Paper C, figure 18: full-batch training on sets of different sizes. Paper: a proper size speeds learning up without
over-fitting; smaller sets are fast at first and end worse.

    lopsided run set-size --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^8 ... 2^14 (all inputs). Rates are swept per arm; each third of the seeds is
judged at what the others choose.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lopsided.recipe import (
    FIVE_POINTS,
    Ahead,
    Arms,
    Figure,
    Higher,
    Measured,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    best,
    bests,
    chosen_rates,
    over_members,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import PERCEPTRONS
from lopsided.recipes._repetition import RATES, SEEDS, full_batch, perceptron

POWERS = {"smoke": (5, 8), "laptop": (8, 9, 10, 11, 12, 13, 14), "paper": (10, 11, 12, 13, 14, 15, 16, 18, 20)}
BETWEEN = {"smoke": 5, "laptop": 11, "paper": 14}
SMALLEST, MIDDLE, LARGEST = ({"is": which} for which in ("the smallest", "in between", "all inputs"))


def arms(scale: ScaleName) -> Arms:
    powers = POWERS[scale]
    special = {powers[0]: SMALLEST, powers[-1]: LARGEST} | ({BETWEEN[scale]: MIDDLE} if scale != "smoke" else {})
    for power in powers:
        make = partial(perceptron, scale, **full_batch(scale, 2**power))
        yield from swept(make, {"lr": RATES[scale]}, N=2**power, **special.get(power, {}))


def figure(r: Results) -> Figure:
    every = bests(r)
    sizes = np.array([float(t.arm.setting("plan.size")) for t in every])
    panels = [tuned_curves(every, "test/accuracy", "steps", "Gradient descent on N samples")]
    steps, samples = [t.times("steps") for t in every], [t.times("samples") for t in every]
    for times, label in ((steps, "steps to learn"), (samples, "compute to learn")):
        line = over_members("at the best rate", sizes, np.stack([t.ordinal for t in times], axis=1), 0, "points")
        panels.append(Panel(f"{label.capitalize()}, by N", "N", label, [line], log_x=True, log_y=True))
    return Figure("A set in between is best", [*panels, chosen_rates(r)])


def end(which) -> Measured:
    """(V,) final test accuracy of the judged members at their best rates."""
    return Measured(lambda r: best(r, **which).curve("test/accuracy")[:, -1], which, level_of="test/accuracy")


recipe = Recipe(
    name="set-size",
    paper="C",
    figure_number="18",
    question="How small may a repeated set be?",
    about=__doc__,
    scales={"smoke": (2, 3), "laptop": (SEEDS, 170), "paper": (SEEDS,)},
    assumptions=PERCEPTRONS,
    arms=arms,
    claims=[
        Statement(
            "a set in between ends with a higher accuracy than the smallest",
            Paper("small sets over-fit", "fig. 18"),
            Higher(end(MIDDLE), end(SMALLEST), "final test accuracy", FIVE_POINTS),
        ),
        Statement(
            "a set in between needs fewer steps than all inputs",
            Paper("a range in between is fastest", "fig. 18"),
            Ahead(MIDDLE, of=LARGEST),
        ),
        Statement(
            "… and less compute",
            Paper("a range in between is fastest", "fig. 18"),
            Ahead(MIDDLE, of=LARGEST, axis="samples"),
            near_trivial="each of its steps sees an eighth of the samples",
        ),
    ],
    figure=figure,
)
