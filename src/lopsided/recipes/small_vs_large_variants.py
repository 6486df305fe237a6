"""small-vs-large-variants: the gap of small and large sets where paper C says, in words, that nothing changes.

Paper C, appendix B.1 and footnotes 2 and 8, without figures. Paper: the results are similar with sigmoid units on
parity and with GELU on single-index models, from a Gaussian start, whether batches are drawn with or without
replacement, and whether the sets of several phases are nested or independent.

    lopsided run small-vs-large-variants --scale laptop

`laptop` changes: sigmoid and Gaussian by gradient descent on (14, 6)-parity, N = 2^11 against all 2^14 inputs; GELU by
gradient descent on He_3 in d = 20, 2^11 samples first, then 2^14; batches of 128 from 2^13 samples of (20, 6)-parity;
six phases of the transformer on (16, 4)-parity. Rates are swept per arm; each third of the seeds is judged at what the
others choose.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    Level,
    NotAhead,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    bests,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import DECAY, PERCEPTRONS
from lopsided.recipes._repetition import FEWER_SEEDS, STEPS, perceptron, small_and_all
from lopsided.recipes._single_index import LARGE, SMALL_FIRST, gradient_descent
from lopsided.recipes._transformers import rates, six_phases, transformer

GAUSSIAN, SIGMOID, GELU = {"variant": "Gaussian start"}, {"variant": "sigmoid"}, {"variant": "GELU, single-index"}
DRAWS, SETS = {"variant": "batches"}, {"variant": "six phases"}
SMALL, ALL = {"data": "small"}, {"data": "all"}
FIRST, FROM_START = {"data": SMALL_FIRST}, {"data": LARGE}
WITH, WITHOUT, FRESH = ({"data": data} for data in ("with replacement", "without replacement", "fresh samples"))
NESTED, INDEPENDENT = {"data": "nested"}, {"data": "independent"}
RATES = {
    "Gaussian start": {"smoke": (0.5, 1.0), "laptop": (0.5, 1.0, 2.0, 4.0), "paper": (0.2, 0.5, 1.0, 2.0, 4.0)},
    "sigmoid": {"smoke": (4.0, 8.0), "laptop": (4.0, 8.0, 16.0), "paper": (4.0, 8.0, 16.0, 32.0)},
    "GELU, single-index": {"smoke": (0.1, 0.2), "laptop": (0.1, 0.2, 0.3), "paper": (0.07, 0.1, 0.15, 0.2, 0.3)},
    "batches": {"smoke": (0.5, 1.0), "laptop": (2.0, 3.0, 4.0, 5.0), "paper": (2.0, 3.0, 4.0, 5.0)},
}
"""Learning rates by variant and scale: around the best of trials with seeds 100 to 103; for "batches" those of
`biased-online`, whose task and network they share."""
LONGER = {**STEPS, "laptop": 4000, "paper": 20_000}
"""With sigmoid units: no member of the trial learned from all inputs within 2,000 steps."""
D = {"smoke": 6, "laptop": 20, "paper": 40}
BATCHES = {"smoke": (8, 2, 2**6, 16, 60), "laptop": (20, 6, 2**13, 128, 3000), "paper": (20, 6, 2**14, 128, 20_000)}
"""d, k, N, batch, steps."""


def arms(scale: ScaleName) -> Arms:
    grids = {variant: {"lr": of[scale]} for variant, of in RATES.items()}
    for data, sets in small_and_all(scale).items():
        gaussian = partial(perceptron, scale, model={"initialisation": "gaussian"}, **sets)
        yield from swept(gaussian, grids["Gaussian start"], **GAUSSIAN, data=data)
        sigmoid = partial(perceptron, scale, model={"activation": "sigmoid"}, steps=LONGER[scale], **sets)
        yield from swept(sigmoid, grids["sigmoid"], **SIGMOID, data=data)
    for data, make in gradient_descent(scale, D[scale], model={"activation": "gelu"}).items():
        yield from swept(make, grids["GELU, single-index"], **GELU, data=data)
    d, k, size, batch, steps = BATCHES[scale]
    fixed = {"name": "fixed", "size": size, "batch": batch}
    plans = ((WITH, fixed), (WITHOUT, {**fixed, "replacement": False}), (FRESH, {"name": "online", "batch": batch}))
    for data, plan in plans:
        make = partial(perceptron, scale, task={"name": "sparse-parity", "d": d, "k": k}, steps=steps, plan=plan)
        yield from swept(make, grids["batches"], **DRAWS, **data)
    nested = six_phases(scale)
    for data, plan in ((NESTED, nested), (INDEPENDENT, {**nested, "name": "independent-phases"})):
        yield from swept(partial(transformer, scale, plan=plan), rates(scale), **SETS, **data)


def figure(r: Results) -> Figure:
    accuracy = "test/accuracy"
    return Figure(
        "Where nothing is said to change",
        [
            tuned_curves(bests(r, **GAUSSIAN), accuracy, "steps", "Gaussian start"),
            tuned_curves(bests(r, **SIGMOID), accuracy, "steps", "Sigmoid"),
            tuned_curves(bests(r, **GELU), "test/loss", "steps", "GELU, single-index model"),
            tuned_curves(bests(r, **DRAWS), accuracy, "steps", "Batches of a repeated set"),
            tuned_curves(bests(r, **SETS), accuracy, "steps", "Six phases, transformer", log_x=True),
        ],
    )


recipe = Recipe(
    name="small-vs-large-variants",
    paper="C",
    figure_number="none: appendix B.1, footnotes 2, 8",
    question="Does the gap depend on the activation, the start, or how batches and sets are drawn?",
    about=__doc__,
    scales={"smoke": (2, 12), "laptop": (FEWER_SEEDS, 600), "paper": (FEWER_SEEDS,)},
    assumptions=[*PERCEPTRONS, DECAY],
    arms=arms,
    claims=[
        Statement(
            "Gaussian start: the small set needs fewer steps",
            Paper("the same conclusions", "appendix B.1"),
            Ahead(GAUSSIAN | SMALL, of=GAUSSIAN | ALL),
        ),
        Statement(
            "sigmoid: the small set needs fewer steps",
            Paper("similar results", "footnote 8"),
            Ahead(SIGMOID | SMALL, of=SIGMOID | ALL),
        ),
        Statement(
            "GELU, single-index: a small set first needs fewer steps",
            Paper("similar results", "footnote 8"),
            Ahead(GELU | FIRST, of=GELU | FROM_START),
        ),
        Statement(
            "a set drawn without replacement needs fewer steps than fresh samples",
            Paper("used interchangeably", "appendix B.1"),
            Ahead(DRAWS | WITHOUT, of=DRAWS | FRESH),
        ),
        Statement(
            "with and without replacement a set needs the same steps, within 25 %",
            Paper("no difference noticed", "appendix B.1"),
            Level(DRAWS | WITH, DRAWS | WITHOUT),
        ),
        Statement(
            "six phases: nested sets are less than 25 % ahead of independent ones",
            Paper("similar results", "footnote 2"),
            NotAhead(SETS | NESTED, of=SETS | INDEPENDENT),
        ),
        Statement(
            "six phases: independent sets are less than 25 % ahead of nested ones",
            Paper("similar results", "footnote 2"),
            NotAhead(SETS | INDEPENDENT, of=SETS | NESTED),
        ),
    ],
    figure=figure,
)
