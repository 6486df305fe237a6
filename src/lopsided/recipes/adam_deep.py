"""adam-deep: an adaptive optimizer closes the gap between small and large sets at depth 6, too.

Paper C, figure 29 (c): AdamW on (20, 6)-parity with a perceptron of depth 6. (`adam` has depths 2 and 4.)

    lopsided run adam-deep --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against all 2^14 inputs, full batches. Rates are swept per arm; each third of
the seeds is judged at what the others choose. "The same steps" means that neither arm needs 25 % more.
"""

from __future__ import annotations

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
from lopsided.recipes._repetition import FEWER_SEEDS, SEEDS, small_and_all
from lopsided.recipes.adam import ADAM_RATES, adamw

DEPTH = {"smoke": 3, "laptop": 6, "paper": 6}
RATES = {**ADAM_RATES, "laptop": (0.003, 0.005, 0.01, 0.02)}
"""The learning rates of `adam` (depths 2 and 4) but the highest: the deeper the network, the lower its best rate. A
sweep whose best rate is its lowest or highest is extended."""
WORDED = "worded as in `adam`, after its rows at depths 2 and 4 had been seen; none at depth 6 had been"
SMALL, ALL = {"data": "small"}, {"data": "all"}


def arms(scale: ScaleName) -> Arms:
    for data, sets in small_and_all(scale).items():
        yield from swept(adamw(scale, DEPTH[scale], **sets), {"lr": RATES[scale]}, data=data)


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
            "AdamW: the small set is not ahead by more than 25 %",
            Paper("no gap", "fig. 29c"),
            NotAhead(SMALL, of=ALL),
            history=WORDED,
        ),
        Statement(
            "AdamW: small and large sets need the same steps, within 25 %",
            Own("stricter than the paper, which says that the small set is not ahead"),
            Level(SMALL, ALL),
            history=WORDED,
        ),
    ],
    figure=figure,
)
