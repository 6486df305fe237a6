"""depth-width-transformer: deeper transformers have a wider gap between repeated sets and fresh samples.

Paper C, figures 25 and 26: transformers on (10, 6)-parity, depths 1, 2, 4 and 8 by the figures' files, mini-batch Adam;
the gap widens with depth. (`paper` compares 2 with 8 alone. Width is a perceptron's matter in the paper; here it is
looked at, too.)

    lopsided run depth-width-transformer --scale laptop

`laptop` changes: (12, 4)-parity, depths 2 and 4 at width 32, width 16 and 32 at depth 2, 4 heads, at most 1,000 steps
of 256 samples, six phases of an online run of 3,000 steps. Learning rates are swept per arm; each third of the seeds is
judged at what the others choose. The gap is, seed by seed, the ratio of steps to learn: fresh samples
over six phases.
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
    WiderGap,
    bests,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import TRANSFORMERS
from lopsided.recipes._transformers import (
    BUDGET,
    BUDGET_SETTING,
    FRESH,
    PARITY,
    SEEDS,
    SIX,
    of_tokens,
    online,
    rates,
    six_phases,
    transformer,
)

SHAPES = {"smoke": ((1, 8), (2, 8)), "laptop": ((2, 32), (4, 32), (2, 16)), "paper": ((2, 256), (8, 256), (2, 64))}
"""(depth, width): the plain one, a deeper one, a narrower one."""
TASKS = {**PARITY, "paper": (10, 6)}
PLAIN, DEEPER, NARROWER = ({"shape": s} for s in ("plain", "deeper", "narrower"))
PHASES, ONLINE = {"data": SIX}, {"data": FRESH}


def arms(scale: ScaleName) -> Arms:
    task = of_tokens(*TASKS[scale])
    for shape, (depth, width) in zip(("plain", "deeper", "narrower"), SHAPES[scale], strict=False):
        for data, plan in ((SIX, six_phases(scale, BUDGET[scale])), (FRESH, online(scale))):
            model = {"layers": depth, "width": width}
            make = partial(transformer, scale, task=task, plan=plan, steps=BUDGET[scale], model=model)
            yield from swept(make, rates(scale), shape=shape, depth=depth, width=width, data=data)


def figure(r: Results) -> Figure:
    panels = [
        tuned_curves(bests(r, depth=d, width=w), "test/accuracy", "steps", f"Depth {d}, width {w}", log_x=True)
        for d, w in SHAPES[r.scale]
    ]
    return Figure("A transformer's gap, by depth and width", panels)


recipe = Recipe(
    name="depth-width-transformer",
    paper="C",
    figure_number="25, 26",
    question="Do deeper and narrower transformers gain more from repetition?",
    about=__doc__,
    scales={"smoke": (2, 10), "laptop": (SEEDS, 1000), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "default depth: six phases need fewer steps than fresh samples",
            Paper("ahead", "fig. 25"),
            Ahead(PLAIN | PHASES, of=PLAIN | ONLINE),
            history=BUDGET_SETTING,
        ),
        Statement(
            "deeper: six phases need fewer steps than fresh samples",
            Paper("ahead", "fig. 26"),
            Ahead(DEEPER | PHASES, of=DEEPER | ONLINE),
            history=BUDGET_SETTING,
        ),
        Statement(
            "the gap in steps is wider in the deeper transformer",
            Paper("wider with depth", "fig. 26"),
            WiderGap(DEEPER, PLAIN, slow=ONLINE, fast=PHASES),
            history=BUDGET_SETTING,
        ),
        Statement(
            "the gap in steps is wider in the narrower transformer",
            Own("the paper says so of perceptrons (fig. 11b)"),
            WiderGap(NARROWER, PLAIN, slow=ONLINE, fast=PHASES),
            history=BUDGET_SETTING,
        ),
    ],
    figure=figure,
)
