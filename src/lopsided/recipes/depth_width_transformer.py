"""depth-width-transformer: deeper transformers have a wider gap between repeated sets and fresh samples.

Paper C, figures 25 and 26: transformers on (10, 6)-parity, depths 1, 2, 4 and 8 by the figures' files, mini-batch Adam;
the gap widens with depth.

    lopsided run depth-width-transformer --scale laptop

`laptop` changes: (16, 4)-parity, depths 1, 2 and 4 at width 32, 4 heads, at most 3,000 steps of 256 samples, six phases
sized for an online run of 400 steps. Learning rates are swept per arm; each third of the seeds is judged at what the
others choose. The gap is, seed by seed, the ratio of steps to learn: fresh samples over six phases. (Width is a
perceptron's matter in the paper; `depth-width` has it.)
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
    MODEL,
    PARITY,
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

DEPTHS = {"smoke": (1, 2), "laptop": (1, 2, 4), "paper": (1, 2, 4, 8)}
DEFAULT = 2
TASKS = {**PARITY, "paper": (10, 6)}
CHANGED = f"{SETTING}; depths were 2 and 4 then, and a claim of ours on width was left out"
PHASES, ONLINE = {"data": SIX}, {"data": FRESH}


def arms(scale: ScaleName) -> Arms:
    for depth in DEPTHS[scale]:
        make = partial(transformer, scale, task=of_tokens(*TASKS[scale]), model={**MODEL[scale], "layers": depth})
        yield from swept(partial(make, plan=six_phases(scale)), rates(scale), depth=depth, data=SIX)
        yield from swept(partial(make, plan=online(scale)), fresh_rates(scale), depth=depth, data=FRESH)


def figure(r: Results) -> Figure:
    panels = [
        tuned_curves(bests(r, depth=depth), "test/accuracy", "steps", f"Depth {depth}", log_x=True)
        for depth in DEPTHS[r.scale]
    ]
    return Figure("A transformer's gap, by depth", panels)


recipe = Recipe(
    name="depth-width-transformer",
    paper="C",
    figure_number="25, 26",
    question="Do deeper transformers gain more from repetition?",
    about=__doc__,
    scales={"smoke": (2, 10), "laptop": (CHOOSING, 1500), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        *(
            Statement(
                f"depth {depth}: six phases need fewer steps than fresh samples",
                Paper("ahead", figure_of),
                Ahead({"depth": depth} | PHASES, of={"depth": depth} | ONLINE),
                history=CHANGED,
            )
            for depth, figure_of in ((1, "fig. 26"), (2, "fig. 25"), (4, "fig. 26"))
        ),
        *(
            Statement(
                f"the gap in steps is wider at depth {deep} than at depth {shallow}",
                Paper("wider with depth", "fig. 26"),
                WiderGap({"depth": deep}, {"depth": shallow}, slow=ONLINE, fast=PHASES),
                history=CHANGED,
            )
            for deep, shallow in ((DEFAULT, 1), (4, DEFAULT))
        ),
    ],
    figure=figure,
)
