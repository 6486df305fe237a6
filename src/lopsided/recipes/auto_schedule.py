"""auto-schedule: phases that end by themselves do as well as hand-made ones, and far better than fresh samples.

Paper C, figure 19: six nested subsets, sizes geometric from 1/320 to 1/50 of the data that an online run sees; the next
begins at 75 % training accuracy or after 50 epochs. Paper: comparable to the manual six phases, both much faster than
online training.

    lopsided run auto-schedule --scale laptop

`laptop` changes: (16, 4)-parity, a transformer of width 32 with 4 heads, at most 3,000 steps of 256 samples, schedules
sized for an online run of 400 steps (by themselves: subsets of 320 to 2,048 samples; by hand: 104 to 10,240). Training
accuracy is that of an epoch's batches. Learning rates are swept per arm, beta_2 is 0.95; each third of the seeds is
judged at what the others choose. "Comparable" is read one-sided, as "not 25 % behind"; whether both need the same steps
within 25 % is our own question.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    Level,
    NotAhead,
    Own,
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
from lopsided.recipes._assumed import TRANSFORMERS
from lopsided.recipes._transformers import (
    CHOOSING,
    FRESH,
    PARITY_BATCH,
    SCHEDULE,
    SEEDS,
    SETTING,
    fresh_rates,
    online,
    rates,
    six_phases,
    transformer,
)

AUTO, HAND = "auto-schedule", "six phases by hand"
COMPARABLE = f"{SETTING}; one claim before, the same steps within 25 %, which had stayed open at 64 new seeds"


def arms(scale: ScaleName) -> Arms:
    auto = {"name": "auto-schedule", "batch": PARITY_BATCH[scale], "online_steps": SCHEDULE[scale]}
    for data, plan, grid in (
        (AUTO, auto, rates(scale)),
        (HAND, six_phases(scale), rates(scale)),
        (FRESH, online(scale), fresh_rates(scale)),
    ):
        yield from swept(partial(transformer, scale, plan=plan), grid, data=data)


def figure(r: Results) -> Figure:
    auto = best(r, data=AUTO)
    phases = over_members("auto-schedule", auto.arm.steps, auto.curve("plan/phase"), 0)
    return Figure(
        "Schedules by hand and by themselves",
        [
            tuned_curves(bests(r), "test/accuracy", "steps", "At each arm's best settings", log_x=True),
            Panel("Which phase members are in", "steps", "phase", [phases], log_x=True),
            chosen_rates(r),
        ],
    )


recipe = Recipe(
    name="auto-schedule",
    paper="C",
    figure_number="19",
    question="Can the phases of repetition be found without trying schedules?",
    about=__doc__,
    scales={"smoke": (2, 6), "laptop": (CHOOSING, 550), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "the auto-schedule needs fewer steps than fresh samples",
            Paper("much faster", "fig. 19"),
            Ahead({"data": AUTO}, of={"data": FRESH}),
            history=SETTING,
        ),
        Statement(
            "so do six phases made by hand",
            Paper("much faster", "fig. 19"),
            Ahead({"data": HAND}, of={"data": FRESH}),
            history=SETTING,
        ),
        Statement(
            "the auto-schedule needs at most 25 % more steps than the six phases",
            Paper("comparable", "fig. 19"),
            NotAhead({"data": HAND}, of={"data": AUTO}),
            history=COMPARABLE,
        ),
        Statement(
            "both need the same steps, within 25 %",
            Own("the paper says comparable, without a number (fig. 19)"),
            Level({"data": AUTO}, {"data": HAND}),
            history=COMPARABLE,
        ),
    ],
    figure=figure,
)
