"""qk: larger steps, a larger start or a norm for queries and keys let fresh samples catch up with a repeated set.

Paper C, figure 8: (20, 6)-parity, mini-batches. Paper: for fresh samples the best rate of W_q, W_k is 3.6 times that of
the rest, their best initial scale 8 times the default; QK norm removes the saddle at the start and almost closes the
gap. One set for 100 epochs gains from 2.5 times the rate and twice the scale, six phases hardly from either, and QK
norm slows them down.

    lopsided run qk --scale laptop

`laptop` changes: (16, 4)-parity, a transformer of width 32 with 4 heads, at most 3,000 steps of 256 samples, six phases
sized for an online run of 400 steps, one set sized for 1,000. The rate of W_q, W_k is swept beside the rate that is
best for all, as in the paper, and all have that of `bias-removal-transformer`, chosen there by other members. Swept per
arm: the learning rate, with the factor on W_q and W_k (scale) or with beta_2 (QK norm, which trials had best at lower
rates and a higher beta_2; 0.95 for the rest). Each third of the seeds is judged at what the others choose. A gap is,
seed by seed, the ratio of steps to learn: fresh samples over repeated ones.
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
    WiderGap,
    best,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import TRANSFORMERS
from lopsided.recipes._transformers import (
    BETAS,
    CHOOSING,
    PARITY_RATES,
    RATES,
    SEEDS,
    SETTING,
    fresh_rates,
    hundred_epochs,
    online,
    rates,
    six_phases,
    transformer,
)

FRESH, SIX, HUNDRED = {"data": "fresh"}, {"data": "six phases"}, {"data": "100 epochs"}
DEFAULT, RATE, SCALE, NORM = ({"queries": kind} for kind in ("default", "QK rate", "QK scale", "QK norm"))
HISTORY = f"{SETTING}; since then the rate of W_q, W_k is swept beside one rate for the rest, as in the paper"
ADDED = f"added with that setting: {SETTING}"
FACTORS = {
    "smoke": ((2.0,), (2.0,)),
    "laptop": ((2.0, 4.0), (2.0, 4.0)),
    "overnight": ((2.0, 4.0), (2.0, 4.0)),
    "paper": ((1.25, 1.8, 2.5, 3.6, 5.2), (1.0, 2.0, 4.0, 8.0, 16.0)),
}
"""Factors of the rate, and of the initial scale."""
BEST_RATES = {**RATES, "laptop": (0.0045,)}, {**RATES, "laptop": (0.01013,)}
"""The rate of all other parameters beside a swept one of W_q, W_k: the best in `bias-removal-transformer` for six
phases, and for fresh samples."""
SCALE_RATES = {**RATES, "laptop": (0.003, 0.0045)}, {**RATES, "laptop": (0.00675, 0.01013)}
"""Beside a larger start, which may want smaller steps: for repeated sets, and for fresh samples."""
NORM_RATES = {**PARITY_RATES, "laptop": (0.0015, 0.003)}
NORM_BETAS = {**BETAS, "laptop": (*BETAS["laptop"], 0.999)}
"""In trials QK norm was best at a lower rate and a higher beta_2 than the rest, which hardly learns there."""
WORDS = ((RATE, "a QK rate of its own"), (SCALE, "a larger QK start"), (NORM, "QK norm"))


def arms(scale: ScaleName) -> Arms:
    make, (on_rate, on_scale) = partial(transformer, scale), FACTORS[scale]

    def grouped(lr, b2, factor, of, plan):
        return make(lr, b2, plan=plan, groups=[{"match": "*.attention.[qk].weight", of: factor}])

    normed = {"lr": NORM_RATES[scale], "b2": NORM_BETAS[scale]}
    for data, plan, grid, fresh in (
        (FRESH, online(scale), fresh_rates(scale), True),
        (SIX, six_phases(scale), rates(scale), False),
        (HUNDRED, hundred_epochs(scale), rates(scale), False),
    ):
        beside_rate, beside_scale = rates(scale, BEST_RATES[fresh]), rates(scale, SCALE_RATES[fresh])
        yield from swept(partial(make, plan=plan), grid, **data, **DEFAULT)
        yield from swept(partial(grouped, of="lr", plan=plan), {**beside_rate, "factor": on_rate}, **data, **RATE)
        yield from swept(partial(grouped, of="init", plan=plan), {**beside_scale, "factor": on_scale}, **data, **SCALE)
        if data != HUNDRED:
            yield from swept(partial(make, plan=plan, model={"qk_norm": True}), normed, **data, **NORM)


def figure(r: Results) -> Figure:
    panels = []
    for kind, title in ((RATE, "Rate of W_q, W_k"), (SCALE, "Initial scale of W_q, W_k"), (NORM, "QK norm")):
        four = [best(r, **data, **each) for data in (FRESH, SIX) for each in (DEFAULT, kind)]
        panels.append(tuned_curves(four, "test/accuracy", "steps", title, log_x=True))
    return Figure("Queries and keys", panels)


recipe = Recipe(
    name="qk",
    paper="C",
    figure_number="8",
    question="Does the gap of transformers come from queries and keys that start too small?",
    about=__doc__,
    scales={"smoke": (2, 15), "laptop": (CHOOSING, 2400), "overnight": (6,), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "six phases need fewer steps than fresh samples",
            Paper("a clear gap", "fig. 8, solid lines"),
            Ahead(SIX | DEFAULT, of=FRESH | DEFAULT),
            history=HISTORY,
        ),
        Statement(
            "so does one set, kept for 100 epochs",
            Paper("a clear gap", "fig. 8, dashed lines"),
            Ahead(HUNDRED | DEFAULT, of=FRESH | DEFAULT),
            history=ADDED,
        ),
        Statement(
            "fresh: W_q, W_k need fewer steps at a rate of their own",
            Paper("best at 3.6 times the rate", "fig. 8a"),
            Ahead(FRESH | RATE, of=FRESH | DEFAULT),
            history=HISTORY,
        ),
        Statement(
            "fresh: W_q, W_k need fewer steps from a larger start",
            Paper("best at 8 times the scale", "fig. 8b"),
            Ahead(FRESH | SCALE, of=FRESH | DEFAULT),
            history=HISTORY,
        ),
        Statement(
            "fresh: QK norm needs fewer steps",
            Paper("no saddle at the start", "fig. 8c"),
            Ahead(FRESH | NORM, of=FRESH | DEFAULT),
            history=HISTORY,
        ),
        *(
            Statement(
                f"the gap is narrower with {what}",
                Paper("reduced", "fig. 8"),
                WiderGap(DEFAULT, kind, slow=FRESH, fast=SIX),
                history=HISTORY,
            )
            for kind, what in WORDS
        ),
        *(
            Statement(
                f"one set for 100 epochs: the gap is narrower with {what}",
                Paper("reduced", "fig. 8"),
                WiderGap(DEFAULT, kind, slow=FRESH, fast=HUNDRED),
                history=ADDED,
            )
            for kind, what in WORDS[:2]
        ),
        *(  # decided without the default arm on fresh samples, whose median member may never learn
            Statement(
                f"six phases are less than 25 % ahead of fresh samples with {what}",
                Paper("reduced or reverted", "fig. 8"),
                NotAhead(SIX | DEFAULT, of=FRESH | kind),
                history=HISTORY,
            )
            for kind, what in WORDS
        ),
        Statement(
            "six phases: without a QK rate of its own at most 25 % more steps",
            Paper("best at 1.25 times", "fig. 8a"),
            NotAhead(SIX | RATE, of=SIX | DEFAULT),
            history=HISTORY,
        ),
        Statement(
            "six phases: without a larger QK start at most 25 % more steps",
            Paper("the default is best", "fig. 8b"),
            NotAhead(SIX | SCALE, of=SIX | DEFAULT),
            history=HISTORY,
        ),
        Statement(
            "six phases: QK norm needs more steps",
            Paper("slowed down", "fig. 8c"),
            Ahead(SIX | DEFAULT, of=SIX | NORM),
            history=HISTORY,
        ),
    ],
    figure=figure,
)
