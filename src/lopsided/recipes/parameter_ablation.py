"""parameter-ablation: which parameters of a transformer need the small set?

Paper C, figure 30: all parameters but one group repeat a small set (six phases), that group learns from fresh samples.
Paper: W_v needs the small set most; W_q or W_k alone hardly do, but both together slow learning down a lot.

    lopsided run parameter-ablation --scale laptop

`laptop` changes: (16, 4)-parity, a transformer of width 32 with 4 heads, at most 3,000 steps of 256 samples, six phases
sized for an online run of 400 steps. A step has two gradients, one of each stream; arms are compared by steps. All have
the rate that is best where all parameters repeat, as in the paper: 0.0045, the best of six phases in
`bias-removal-transformer`, chosen there by other members. beta_2 is 0.95.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    NotAhead,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    bests,
    over_members,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import TRANSFORMERS
from lopsided.recipes._transformers import (
    RATES,
    SEEDS,
    SETTING,
    online,
    rates,
    six_phases,
    transformer,
)

FRESH_GROUPS = {
    "W_q": "*.attention.q.*",
    "W_k": "*.attention.k.*",
    "W_v": "*.attention.v.*",
    "W_o": "*.attention.o.*",
    "MLP": "*.mlp.*",
    "embeddings": "[ep][mo][bs]*",
    "W_q and W_k": "*.attention.[qk].*",
}
"""Which parameters learn from fresh samples. (`[ep][mo][bs]*`: `embedding` and `position`.)"""
BOTH = "W_q and W_k"
SETTING = f"{SETTING}; one rate for all arms, as in the paper, in place of the best of each"
REPEATED_RATES = {**RATES, "laptop": (0.0045,)}
"""The best rate of six phases in `bias-removal-transformer`, of 0.002 to 0.0068."""
ALL = {"data": "all parameters repeat"}


def fresh(group):
    return {"data": f"fresh for {group}"}


def arms(scale: ScaleName) -> Arms:
    grid, repeat = rates(scale, REPEATED_RATES), six_phases(scale)
    make = partial(transformer, scale)
    yield from swept(partial(make, plan=repeat), grid, **ALL)
    for group in (BOTH,) if scale == "smoke" else FRESH_GROUPS:
        others = [{"match": FRESH_GROUPS[group], "plan": online(scale)}]
        plan = {"name": "by-group", "plan": repeat, "others": others}
        yield from swept(partial(make, plan=plan), grid, **fresh(group))


def figure(r: Results) -> Figure:
    every = bests(r)
    single = [t for t in every if BOTH not in t.name]
    pair = [t for t in every if t.name in (ALL["data"], *(fresh(g)["data"] for g in ("W_q", "W_k", BOTH)))]
    steps = [
        over_members(t.name, np.array([float(i)]), t.times().ordinal[:, None], i, "points") for i, t in enumerate(every)
    ]
    return Figure(
        "Which parameters need the small set",
        [
            tuned_curves(single, "test/accuracy", "steps", "One group learns from fresh samples", log_x=True),
            tuned_curves(pair, "test/accuracy", "steps", "W_q and W_k together", log_x=True),
            Panel("Steps to learn", "arm", "steps", steps, log_y=True, legend_at="upper left"),
        ],
    )


recipe = Recipe(
    name="parameter-ablation",
    paper="C",
    figure_number="30",
    question="Which of a transformer's parameters gain from repetition?",
    about=__doc__,
    scales={"smoke": (2, 15), "laptop": (SEEDS, 1000), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "fresh samples for W_v alone cost steps",
            Paper("the most of all single groups", "fig. 30, left"),
            Ahead(ALL, of=fresh("W_v")),
            history=SETTING,
        ),
        *(
            Statement(
                f"fresh samples for {group} alone cost less than 25 % in steps",
                Paper("a mild effect", "fig. 30, left"),
                NotAhead(ALL, of=fresh(group)),
                history=SETTING,
            )
            for group in ("W_q", "W_k")
        ),
        Statement(
            "fresh samples for W_q and W_k together cost steps",
            Paper("a significant slowdown", "fig. 30, right"),
            Ahead(ALL, of=fresh(BOTH)),
            history=SETTING,
        ),
        *(
            Statement(
                f"W_v needs the small set more than {group} does",
                Paper("W_v the most", "fig. 30, left"),
                Ahead(fresh(group), of=fresh("W_v")),
                history=SETTING,
            )
            for group in ("W_q", "W_k", "W_o", "MLP", "embeddings")
        ),
    ],
    figure=figure,
)
