"""biased-online-transformer: fresh samples with the bias of a small set, for a transformer.

Paper C, figure 17: (20, 6)-parity; every coordinate of an online stream gets the mean that it has on 2^m samples drawn
beforehand, m = 2, ..., 6. Paper: faster for certain m (best m = 3), but as fast as the phases only with the bias of an
extremely small set.

    lopsided run biased-online-transformer --scale laptop

`laptop` changes: (16, 4)-parity, a transformer of width 32 with 4 heads, at most 3,000 steps of 256 samples, six phases
sized for an online run of 400 steps. Tested on unbiased inputs. Learning rates are swept per arm, beta_2 is 0.95; each
third of the seeds is judged at what the others choose.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Ahead,
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
from lopsided.recipes._assumed import TRANSFORMERS
from lopsided.recipes._transformers import (
    CHOOSING,
    FRESH,
    SEEDS,
    SETTING,
    SIX,
    fresh_rates,
    online,
    rates,
    six_phases,
    transformer,
)

POWERS = (2, 3, 4, 5, 6)
TINY = 4
"""The paper excepts extremely small sets; its best is m = 3."""
CLOSED = Own("the paper says the opposite of extremely small sets: their bias closes the gap (fig. 17)")


def arms(scale: ScaleName) -> Arms:
    grid, make = fresh_rates(scale), partial(transformer, scale)
    yield from swept(partial(make, plan=six_phases(scale)), rates(scale), data=SIX)
    yield from swept(partial(make, plan=online(scale)), grid, data=FRESH)
    for m in POWERS:
        biased = partial(make, plan=online(scale), training_set={"biased_by": 2**m})
        yield from swept(biased, grid, data=FRESH, bias_of=2**m)


def figure(r: Results) -> Figure:
    return Figure(
        "Six phases, and fresh samples with the bias of a small set",
        [tuned_curves(bests(r), "test/accuracy", "steps", "Mini-batch AdamW", log_x=True), chosen_rates(r)],
    )


recipe = Recipe(
    name="biased-online-transformer",
    paper="C",
    figure_number="17",
    question="Is it enough for a transformer to give fresh samples the bias of a small set?",
    about=__doc__,
    scales={"smoke": (2, 6), "laptop": (CHOOSING, 1500), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "six phases need fewer steps than fresh samples",
            Paper("ahead", "fig. 17"),
            Ahead({"data": SIX}, of={"data": FRESH, "bias_of": None}),
            history=SETTING,
        ),
        *(
            Statement(
                f"… and than fresh samples with the bias of 2^{m} samples",
                Paper("not closed", "fig. 17") if m >= TINY else CLOSED,
                Ahead({"data": SIX}, of={"bias_of": 2**m}),
                history=SETTING,
            )
            for m in POWERS
        ),
    ],
    figure=figure,
)
