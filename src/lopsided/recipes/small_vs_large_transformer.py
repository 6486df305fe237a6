"""small-vs-large-transformer: paper C says that transformers learn faster from repeated sets than from fresh ones.

Paper C, figure 1: two-layer transformers, mini-batch AdamW, on sparse parity (six phases of growing sets), a
single-index model (a small set first, then fresh samples), in-context linear regression and modular addition (four
phases each). Paper: in all four the repeated sets are ahead throughout.

    lopsided run small-vs-large-transformer --scale laptop

`laptop` changes: (16, 4)-parity, He_3 in d = 12, regression in 3 dimensions from 5 examples, sums modulo 7 of two
numbers below 100 (two decimal digits each); width 32 with 4 heads, batches of 32 (parity: 256). Schedules are the
paper's, as shares of an online run of 6,000 to 8,000 steps (parity: 400). Learned: 95 % accuracy (parity), 90 %
(addition), a loss of 1 (single-index: a third of answering 0; regression: that of least squares on one example).
Learning rates are swept per arm, beta_2 is 0.95; each third of the seeds is judged at what the others choose.
"""

from __future__ import annotations

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
from lopsided.recipes import _sequences as sequences
from lopsided.recipes._assumed import ADDITION_SIZES, INDEX_SIZE, TRANSFORMERS
from lopsided.recipes._transformers import (
    BATCH,
    BETAS,
    CHOOSING,
    FRESH_RATES,
    INDEX_BATCH,
    PARITY_RATES,
    RATES,
    SEEDS,
    SETTING,
    online,
    parity,
    phased,
    six_phases,
)
from lopsided.theory.in_context import least_squares_loss


def arms(scale: ScaleName) -> Arms:
    fresh, wider = online(scale, BATCH), online(scale, INDEX_BATCH)
    four = phased(scale, sequences.ADDITION_STEPS[scale], sequences.FOUR_SHARES, sequences.FOUR_EPOCHS, BATCH[scale])
    regression_rates = sequences.REGRESSION_RATES[scale]
    for task, make, repeated, own, repeated_rates, own_rates in (
        ("parity", parity, six_phases(scale), online(scale), PARITY_RATES[scale], FRESH_RATES[scale]),
        ("single-index", sequences.single_index, sequences.small_first(scale), wider, RATES[scale], RATES[scale]),
        (
            "regression",
            sequences.regression,
            sequences.regression_phases(scale),
            fresh,
            regression_rates,
            regression_rates,
        ),
        ("addition", sequences.addition, four, fresh, RATES[scale], RATES[scale]),
    ):
        for data, plan, rates in (("repeated", repeated, repeated_rates), ("fresh", own, own_rates)):
            yield from swept(make(scale, plan=plan), {"lr": rates, "b2": BETAS[scale]}, task=task, data=data)


def repeated_is_ahead(task):
    return Ahead({"task": task, "data": "repeated"}, of={"task": task, "data": "fresh"})


def figure(r: Results) -> Figure:
    dimension = sequences.REGRESSION[r.scale][0]
    marks = {
        f"least squares, {j} example{'s' * (j > 1)}": float(least_squares_loss(dimension, j))
        for j in range(1, dimension)
    }
    return Figure(
        "A small set first, or fresh samples: transformers",
        [
            tuned_curves(bests(r, task="parity"), "test/accuracy", "steps", "Sparse parity", log_x=True),
            tuned_curves(bests(r, task="single-index"), "test/loss", "steps", "Single-index model"),
            tuned_curves(
                bests(r, task="regression"), "test/loss", "steps", "In-context linear regression", marks=marks
            ),
            tuned_curves(bests(r, task="addition"), "test/accuracy", "steps", "Modular addition"),
        ],
    )


recipe = Recipe(
    name="small-vs-large-transformer",
    paper="C",
    figure_number="1",
    question="Does a transformer learn faster from fewer samples, repeated?",
    about=__doc__,
    scales={"smoke": (2, 20), "laptop": (CHOOSING, 1100), "overnight": (SEEDS,), "paper": (SEEDS,)},
    assumptions=[*TRANSFORMERS, *ADDITION_SIZES, INDEX_SIZE],
    arms=arms,
    claims=[
        Statement(
            "parity: six phases need fewer steps than fresh samples",
            Paper("ahead", "fig. 1a"),
            repeated_is_ahead("parity"),
            history=SETTING,
        ),
        Statement(
            "single-index: a small set first needs fewer steps",
            Paper("ahead", "fig. 1b"),
            repeated_is_ahead("single-index"),
        ),
        Statement(
            "in-context regression: four phases need fewer steps",
            Paper("ahead", "fig. 1c"),
            repeated_is_ahead("regression"),
        ),
        Statement(
            "modular addition: four phases need fewer steps", Paper("ahead", "fig. 1d"), repeated_is_ahead("addition")
        ),
    ],
    figure=figure,
)
