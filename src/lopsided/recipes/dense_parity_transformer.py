"""dense-parity-transformer: full batches and dense targets, for a transformer.

Paper C, figures 14 (right) and 15: full-batch AdamW on (10, 6)- and (10, 10)-parity. Paper: the small set is ahead,
though no batch is ever sampled and (10, 10)-parity has no sparse structure.

    lopsided run dense-parity-transformer --scale laptop

`laptop` changes: (8, 6)-parity ("sparse") and (8, 8)-parity ("dense"), 192 of the 256 inputs against all of them, and
tests draw from all; width 32 with 4 heads; a member counts as having learned at a test accuracy of 0.9. Learning rates
are swept per arm; each third of the seeds is judged at what the others choose.
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
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import DENSE_SET, TRANSFORMERS
from lopsided.recipes._transformers import RATES, SEEDS, rates, transformer

SMALL, ALL = {"data": "small set"}, {"data": "all inputs"}
TASKS = {"smoke": ((4, 2), (4, 4)), "laptop": ((8, 6), (8, 8)), "paper": ((10, 6), (10, 10))}
SIZES = {"smoke": (12, 60), "laptop": (192, 1200), "paper": (512, 20_000)}
"""N, steps."""
EVERY = {"smoke": 20, "laptop": 20, "paper": 50}
LEARNED = 0.9
FIGURES = {"sparse": "fig. 15, left", "dense": "fig. 14, right"}


def arms(scale: ScaleName) -> Arms:
    size, steps = SIZES[scale]
    for parity, (d, k) in zip(FIGURES, TASKS[scale], strict=True):
        for data, n in ((SMALL, size), (ALL, 2**d)):
            make = partial(
                transformer,
                scale,
                task={"name": "sparse-parity", "d": d, "k": k, "encoding": "tokens"},
                plan={"name": "full-batch", "size": n},
                training_set={"remove": "repeats"},
                until={"metric": "test/accuracy", "at_least": LEARNED},
                steps=steps,
                evaluation={"every": EVERY[scale], "samples": 1024},
            )
            yield from swept(make, rates(scale, RATES), parity=parity, d=d, k=k, **data)


def is_ahead(parity, axis, said):
    return Statement(
        f"full-batch AdamW, {parity}: the small set needs {said}",
        Paper("ahead", FIGURES[parity]),
        Ahead({"parity": parity, **SMALL}, of={"parity": parity, **ALL}, axis=axis),
        near_trivial="a step sees fewer samples" if axis == "samples" else "",
    )


def figure(r: Results) -> Figure:
    panels = [
        tuned_curves(
            bests(r, d=d, k=k)[::-1], "test/accuracy", "steps", f"({d}, {k})-parity, all of the set every step"
        )
        for d, k in TASKS[r.scale]
    ]
    return Figure("Full batches and dense parity", panels)


recipe = Recipe(
    name="dense-parity-transformer",
    paper="C",
    figure_number="14 (right), 15",
    question="Does a transformer gain from a small set with full batches and dense targets?",
    about=__doc__,
    threshold=LEARNED,
    scales={"smoke": (2, 8), "laptop": (SEEDS, 460), "paper": (SEEDS,)},
    assumptions=[*TRANSFORMERS, DENSE_SET],
    arms=arms,
    claims=[
        *(is_ahead(parity, "steps", "fewer steps") for parity in FIGURES),
        *(is_ahead(parity, "samples", "less compute") for parity in FIGURES),
    ],
    figure=figure,
)
