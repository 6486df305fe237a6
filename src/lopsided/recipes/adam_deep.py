"""adam-deep: an adaptive optimizer closes the gap between small and large sets at depth 6, too.

Paper C, figure 29 (c): AdamW on (20, 6)-parity with a perceptron of depth 6. (`adam` has depths 2 and 4.)

    lopsided run adam-deep --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against all 2^14 inputs, full batches. Rates are swept per arm; each third of
the seeds is judged at what the others choose. "The same steps" means that neither arm needs 25 % more.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Arms,
    Figure,
    Level,
    NotAhead,
    Own,
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
from lopsided.recipes._assumed import TRANSFORMERS
from lopsided.recipes._repetition import EVERY, FEWER_SEEDS, SAMPLES, SEEDS, perceptron, small_and_all
from lopsided.recipes.adam import ADAM_RATES, STEPS

DEPTH = {"smoke": 3, "laptop": 6, "paper": 6}
RATES = {**ADAM_RATES, "laptop": (0.003, 0.005, 0.01, 0.02)}
"""Rates of depth 4 in `adam` without the highest: the best falls with depth. A sweep whose best is at an end goes
on."""
SMALL, ALL = {"data": "small"}, {"data": "all"}


def arms(scale: ScaleName) -> Arms:
    every = 4 if scale == "laptop" else EVERY  # as in `adam`: AdamW learns within some hundred steps
    for data, sets in small_and_all(scale).items():
        make = partial(
            perceptron,
            scale,
            optimizer="adamw",
            model={"depth": DEPTH[scale]},
            steps=STEPS[scale],
            evaluation={"every": every, "samples": SAMPLES[scale]},
            **sets,
        )
        yield from swept(make, {"lr": RATES[scale]}, data=data)


def figure(r: Results) -> Figure:
    curves = tuned_curves(bests(r), "test/accuracy", "steps", f"AdamW, depth {DEPTH[r.scale]}")
    return Figure("Adam does not need the small set in a deep network", [curves, chosen_rates(r)])


recipe = Recipe(
    name="adam-deep",
    paper="C",
    figure_number="29 (c)",
    question="Does an adaptive optimizer close the gap in a network of depth 6?",
    about=__doc__,
    scales={"smoke": (2, 5), "laptop": (FEWER_SEEDS, 120), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "AdamW: the small set is not ahead by more than 25 %", Paper("no gap", "fig. 29c"), NotAhead(SMALL, of=ALL)
        ),
        Statement(
            "AdamW: small and large sets need the same steps, within 25 %",
            Own("stricter than the paper, which says that the small set is not ahead"),
            Level(SMALL, ALL),
        ),
    ],
    figure=figure,
)
