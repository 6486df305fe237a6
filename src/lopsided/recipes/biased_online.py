"""biased-online: giving fresh samples the bias of a small set does not make them as good as the small set.

Paper C, figures 3 (b) and 17. Every coordinate of an online stream gets the mean that it has on 2^m samples drawn
beforehand. Paper: minor effects unless 2^m is tiny; the bias of 2^5 samples speeds learning up most.

    lopsided run biased-online --scale laptop

`laptop` changes: N = 2^13 for the small set, 3,000 steps. As in `paper`: (20, 6)-parity, mini-batches of 128, m in
{4, 5, 6, 8, 10, 12}. A biased stream is tested on unbiased inputs. Rates are swept per arm; each third of the seeds is
judged at what the others choose.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Ahead,
    AheadThroughout,
    Arms,
    Figure,
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
from lopsided.recipes._assumed import PERCEPTRONS
from lopsided.recipes._repetition import ADDED, SEEDS, THROUGHOUT, perceptron

SMALL, FRESH = {"data": "small set"}, {"data": "fresh samples"}
POWERS = {"smoke": (4, 6), "laptop": (4, 5, 6, 8, 10, 12), "paper": (4, 5, 6, 8, 10, 12, 14)}
SIZES = {"smoke": (8, 2, 2**6, 16, 60), "laptop": (20, 6, 2**13, 128, 3000), "paper": (20, 6, 2**14, 128, 20_000)}
"""d, k, N, batch, steps."""
RATES = {"smoke": (0.5, 1.0), "laptop": (2.0, 3.0, 4.0, 5.0), "paper": (2.0, 3.0, 4.0, 5.0)}

TINY = 5
"""The paper excepts fewer than 2^5 samples: with their bias fresh samples do catch up."""
CLOSED = Own("the paper says the opposite of fewer than 2^5 samples: their bias closes the gap (fig. 3b)")


def arms(scale: ScaleName) -> Arms:
    d, k, size, batch, steps = SIZES[scale]
    fixed, online = {"name": "fixed", "size": size, "batch": batch}, {"name": "online", "batch": batch}
    make = partial(perceptron, scale, task={"name": "sparse-parity", "d": d, "k": k}, steps=steps)
    yield from swept(partial(make, plan=fixed), {"lr": RATES[scale]}, **SMALL)
    yield from swept(partial(make, plan=online), {"lr": RATES[scale]}, **FRESH)
    for m in POWERS[scale]:
        biased = partial(make, plan=online, training_set={"biased_by": 2**m})
        yield from swept(biased, {"lr": RATES[scale]}, **FRESH, bias_of=2**m)


def figure(r: Results) -> Figure:
    return Figure(
        "A small set, and fresh samples with the bias of one",
        [
            tuned_curves(bests(r), "test/accuracy", "steps", "Mini-batch SGD"),
            tuned_curves(bests(r), "norm/ratio", "steps", "‖a‖ / ‖W‖"),
            chosen_rates(r),
        ],
    )


recipe = Recipe(
    name="biased-online",
    paper="C",
    figure_number="3 (b)",
    question="Is it enough to give fresh samples the bias of a small set?",
    about=__doc__,
    scales={"smoke": (2, 3), "laptop": (60, 75), "paper": (SEEDS,)},
    assumptions=PERCEPTRONS,
    arms=arms,
    claims=[
        Statement(
            "a repeated small set needs fewer steps than fresh samples",
            Paper("ahead", "fig. 2a, 3b"),
            Ahead(SMALL, of={**FRESH, "bias_of": None}),
            history="12 seeds were raised to 60 after they had decided little",
        ),
        Statement(
            "… also to test accuracies of .6, .7, .8 and .9",
            Paper("ahead throughout", "fig. 2a, 3b"),
            AheadThroughout(SMALL, of={**FRESH, "bias_of": None}, at=THROUGHOUT),
            history=ADDED,
        ),
        *(
            Statement(
                f"… and than fresh samples with the bias of 2^{m} samples",
                Paper("not closed", "fig. 3b") if m >= TINY else CLOSED,
                Ahead(SMALL, of={"bias_of": 2**m}),
            )
            for m in POWERS["laptop"]
        ),
        Statement(
            "fresh samples with the bias of 2^5 samples need fewer steps than those without",
            Paper("the bias that speeds learning up most", "fig. 3b"),
            Ahead({"bias_of": 2**5}, of={**FRESH, "bias_of": None}),
            history="added on 2026-11-24, with its arm, before any row of it",
        ),
    ],
    figure=figure,
)
