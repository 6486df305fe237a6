"""complexity-transformer: a harder parity has a wider gap between repeated sets and fresh samples.

Paper C, figure 10 (b): transformers with mini-batches; the gap is bigger on (20, 6)- than on (10, 6)-parity.

    lopsided run complexity-transformer --scale laptop

`laptop` changes: (16, 4)- against (8, 4)-parity, so that the number of relevant coordinates stays and others go, as in
the paper; a transformer of width 32 with 4 heads, batches of 256, six phases of an online run of 400 steps, so that all
of them are entered before most members learn the harder task. (Of the easier one the sets from the third on have more
samples than there are inputs; in the paper all six have.) Learning rates are
swept per arm, beta_2 is 0.95; each third of the seeds is judged at what the others choose. The gap is, seed by
seed, the ratio of steps to learn: fresh samples over six phases.
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
    WiderGap,
    bests,
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
    of_tokens,
    online,
    rates,
    six_phases,
    transformer,
)

TASKS = {"smoke": ((4, 2), (6, 2)), "laptop": ((8, 4), (16, 4)), "paper": ((10, 6), (20, 6))}
"""(d, k), the easier one first."""
EASIER_SETTING = (
    "until 2026-11-29 with phases sized for 3,000 steps; they changed for the harder task's sake, and this followed"
)
EASIER, HARDER = {"parity": "easier"}, {"parity": "harder"}
PHASES, ONLINE = {"data": SIX}, {"data": FRESH}


def arms(scale: ScaleName) -> Arms:
    for parity, (d, k) in zip(("easier", "harder"), TASKS[scale], strict=True):
        make = partial(transformer, scale, task=of_tokens(d, k))
        for data, plan, grid in (
            (SIX, six_phases(scale), rates(scale)),
            (FRESH, online(scale), fresh_rates(scale)),
        ):
            yield from swept(partial(make, plan=plan), grid, parity=parity, d=d, k=k, data=data)


def figure(r: Results) -> Figure:
    panels = [
        tuned_curves(bests(r, d=d, k=k), "test/accuracy", "steps", f"({d}, {k})-parity", log_x=True)
        for d, k in TASKS[r.scale]
    ]
    return Figure("A transformer's gap by task", panels)


recipe = Recipe(
    name="complexity-transformer",
    paper="C",
    figure_number="10 (b)",
    question="Does a transformer gain more from repetition on a harder task?",
    about=__doc__,
    scales={"smoke": (2, 6), "laptop": (CHOOSING, 600), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "easier parity: six phases need fewer steps than fresh samples",
            Paper("ahead", "fig. 10b"),
            Ahead(EASIER | PHASES, of=EASIER | ONLINE),
            history=EASIER_SETTING,
        ),
        Statement(
            "harder parity: six phases need fewer steps than fresh samples",
            Paper("ahead", "fig. 10b"),
            Ahead(HARDER | PHASES, of=HARDER | ONLINE),
            history=SETTING,
        ),
        Statement(
            "the gap in steps is wider on the harder parity",
            Paper("wider on (20, 6) than on (10, 6)", "fig. 10b"),
            WiderGap(HARDER, EASIER, slow=ONLINE, fast=PHASES),
            history=SETTING,
        ),
    ],
    figure=figure,
)
