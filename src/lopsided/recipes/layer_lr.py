"""layer-lr: the first layer wants a much larger learning rate than the second; with it, the gap closes.

Paper C, figure 6: gradient descent on (20, 6)-parity over a grid of (first-layer rate, second-layer rate). Paper: the
best rates have η_first >> η_second and close the gap between the full population and N = 2^14.

    lopsided run layer-lr --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against all 2^14 inputs; second-layer rates 0.125 ... 4, ratios η_first /
η_second 1/4, 1, 4, 16, 64 and, where the best one is the largest, beyond. Each third of the seeds is judged at what the
others choose as the best pair. "Closed" means that neither arm needs 25 % more steps than the other, each at its best
pair.
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
    bests,
    swept,
    tuned_curves,
    tuned_times,
)
from lopsided.recipes._assumed import PERCEPTRONS
from lopsided.recipes._repetition import FEWER_SEEDS, SEEDS, perceptron, small_and_all

RATIOS = {
    "smoke": ((), (1.0,), (4.0,)),
    "laptop": ((0.25,), (1.0,), (4.0, 16.0, 64.0)),
    "paper": ((0.25, 0.5), (1,), (2, 4, 8, 16, 32, 64, 128)),
}
"""First-layer rate over second-layer rate: a slower first layer, one rate, a faster first layer."""
SECOND = {
    "smoke": (0.25, 0.5),
    "laptop": (0.125, 0.25, 0.5, 1.0, 2.0, 4.0),
    "paper": np.geomspace(0.01, 2, 30).round(4),
}
STEPS = {"smoke": 60, "laptop": 1000, "paper": 4000}
SMALL, ALL = {"data": "small"}, {"data": "all"}
SLOWER, ONE, FASTER = KINDS = tuple({"first layer": kind} for kind in ("slower first layer", "one rate", "faster"))
RATIO_OF_64 = "first without regard to the ratio of 64 being the largest one tried; ratios are swept as rates are now"


def arms(scale: ScaleName) -> Arms:
    for data, sets in small_and_all(scale).items():
        make = partial(apart, partial(perceptron, scale, steps=STEPS[scale], **sets))
        for kind, ratios in zip(KINDS, RATIOS[scale], strict=True):
            yield from swept(make, {"lr": SECOND[scale], "ratio": ratios}, data=data, **kind)


def apart(make, lr, ratio):
    """Two layers whose rates differ by a factor."""
    return make(lr=lr, groups=[{"match": "layers.0.*", "lr": ratio}])


def figure(r: Results) -> Figure:
    ratios = [ratio for some in RATIOS[r.scale] for ratio in some]
    times = {data: [best(r, data=data, ratio=ratio) for ratio in ratios] for data in ("small", "all")}
    return Figure(
        "A faster first layer closes the gap",
        [
            tuned_curves(bests(r, **ONE), "test/accuracy", "steps", "One rate for both layers"),
            tuned_curves(
                [best(r, **data, **FASTER) for data in (SMALL, ALL)], "test/accuracy", "steps", "Best pair of rates"
            ),
            tuned_times(times, ratios, "η_first / η_second", "By η_first / η_second"),
        ],
    )


recipe = Recipe(
    name="layer-lr",
    paper="C",
    figure_number="6",
    question="Do separate learning rates for the two layers close the gap?",
    about=__doc__,
    scales={"smoke": (2, 3), "laptop": (FEWER_SEEDS, 350), "paper": (SEEDS,)},
    assumptions=PERCEPTRONS,
    arms=arms,
    claims=[
        Statement(
            "one rate for both layers: the small set needs fewer steps",
            Paper("a gap", "fig. 6"),
            Ahead(SMALL | ONE, of=ALL | ONE),
        ),
        Statement(
            "whole population: η_first > η_second needs fewer steps than one rate",
            Paper("η_first >> η_second is best", "fig. 6"),
            Ahead(ALL | FASTER, of=ALL | ONE),
        ),
        Statement(
            "whole population: … and fewer than η_first < η_second",
            Paper("η_first >> η_second is best", "fig. 6"),
            Ahead(ALL | FASTER, of=ALL | SLOWER),
        ),
        Statement(
            "each at its best pair of rates, small and large sets need the same steps, within 25 %",
            Paper("no gap", "fig. 6"),
            Level(SMALL | FASTER, ALL | FASTER),
            history=RATIO_OF_64,
        ),
    ],
    figure=figure,
)
