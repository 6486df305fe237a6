"""bias-removal-transformer: a transformer, too, learns faster from repeated sets whose input bias is removed.

Paper C, figure 16 (a): mini-batches, (20, 6)-parity. Paper: repetition stays ahead of fresh samples when every subset
has mean input zero, also when mean label and mean input of each label are zero.

    lopsided run bias-removal-transformer --scale laptop

`laptop` changes: (16, 4)-parity, a transformer of width 32 with 4 heads, at most 3,000 steps of 256 samples, six phases
sized for an online run of 400 steps, so that all of them are entered before most members learn. Balanced subsets
consist of pairs x, -x, or of two pairs with opposite labels, as in `bias-removal`. Learning rates are swept per arm,
beta_2 is 0.95; each third of the seeds is judged at what the others choose.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    NotAhead,
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
    online,
    rates,
    six_phases,
    transformer,
)

REMOVE = {
    SIX: "none",
    "six phases, mean input 0": "balanced-inputs",
    "six phases, mean input and label 0": "balanced-labels",
}
PLAIN, INPUTS, LABELS = ({"data": data} for data in REMOVE)


def arms(scale: ScaleName) -> Arms:
    for data, remove in REMOVE.items():
        make = partial(transformer, scale, plan=six_phases(scale), training_set={"remove": remove})
        yield from swept(make, rates(scale), data=data)
    yield from swept(partial(transformer, scale, plan=online(scale)), rates(scale), data=FRESH)


def figure(r: Results) -> Figure:
    return Figure(
        "Phases without the bias of their inputs: transformers",
        [tuned_curves(bests(r), "test/accuracy", "steps", "Mini-batch AdamW", log_x=True), chosen_rates(r)],
    )


recipe = Recipe(
    name="bias-removal-transformer",
    paper="C",
    figure_number="16 (a)",
    question="Does a transformer's gap come from the small sets' input bias?",
    about=__doc__,
    scales={"smoke": (2, 6), "laptop": (CHOOSING, 650), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "plain six phases need fewer steps than fresh samples",
            Paper("ahead", "fig. 16a"),
            Ahead(PLAIN, of={"data": FRESH}),
            history=SETTING,
        ),
        Statement(
            "so do six phases whose mean input is zero",
            Paper("ahead", "fig. 16a"),
            Ahead(INPUTS, of={"data": FRESH}),
            history=SETTING,
        ),
        Statement(
            "and those whose mean label, and mean input of each label, are zero",
            Paper("ahead", "fig. 16a"),
            Ahead(LABELS, of={"data": FRESH}),
            history=SETTING,
        ),
        Statement(
            "removing the input bias costs less than 25 % in steps",
            Paper("no visible difference", "fig. 16a"),
            NotAhead(PLAIN, of=INPUTS),
            history=SETTING,
        ),
    ],
    figure=figure,
)
