"""exponent: a larger exponent learns the head sooner and the tail later.

Paper A, figures 7 and 8: S5 with 4 hops, lexicographic order. Paper: exponents 0.5 and 0.75 fail; of 1, 1.25 and 1.5
the largest is fastest early, and falls behind on the tail in the end. The last two arms are ours: the exponent moves
from 1.5, or from 1, to 0 between a fifth and three fifths of training.

    lopsided run exponent --scale laptop

`laptop` changes: S4 with 4 hops, one token per element, 2 layers of width 64, 6,000 steps. With 3 hops exponents 0.5
and 0.75 learn what exponent 1 learns, so that no exponent is too small there. The paper's curves are read as losses on
the law that each network is trained on, as in `granularity`: they say who descends faster. Whether an exponent fails is
judged by all skills alike.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    Ahead,
    Arms,
    Custom,
    Figure,
    Final,
    Higher,
    Paper,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
    decisions,
)
from lopsided.recipes._assumed import ENCODERS
from lopsided.recipes._frequency import (
    BINS,
    BY_LOSS,
    LEARNED,
    ON_LAW,
    STEPS,
    UNIFORM,
    annealed,
    halves_first,
    power_law,
    tracking,
)

ALPHAS = (0.5, 0.75, 1.0, 1.25, 1.5)
STARTS = (1.5, 1.0)
HEAD, TAIL = "bin1/accuracy", f"bin{BINS}/accuracy"
HEAD_LEARNED = HEAD, LEARNED
HOPS = 4
LENGTH = {**STEPS, "laptop": 6000}
OF_BEST = 0.95
"""Share of the best fixed exponent's final tail accuracy that the annealed one has to reach."""


def arms(scale: ScaleName) -> Arms:
    setting = {"hops": HOPS if scale == "laptop" else None, "steps": LENGTH[scale]}
    yield arm(tracking(scale, UNIFORM, **setting), skills="uniform")
    for alpha in ALPHAS:
        yield arm(tracking(scale, power_law(alpha), **setting), alpha=alpha)
    for start in STARTS:
        yield arm(tracking(scale, annealed(start, 0.2, 0.6), **setting), skills="annealed to 0", start=start)


def ends_above(low, high, metric="test/accuracy", what="final accuracy"):
    return Higher(Final(high, metric), Final(low, metric), what, FIVE_POINTS)


def head_is_faster(slow, fast):
    return Ahead(*(Reaches({"alpha": alpha}, *HEAD_LEARNED) for alpha in (fast, slow)), axis="samples")


def beats_the_best_fixed(start):
    """With less compute to a share of the tail accuracy at which the best fixed exponent ends."""

    def test(r, level):
        tail = {alpha: r.arm(alpha=alpha).final(TAIL) for alpha in ALPHAS}
        best = max(ALPHAS, key=lambda alpha: (np.median(tail[alpha]), tail[alpha].mean()))
        goal = OF_BEST * float(np.median(tail[best]))
        fixed, moving = r.arm(alpha=best).times(TAIL, goal), r.arm(start=start).times(TAIL, goal)
        return decisions.faster(fixed, moving, f"compute to {goal:.2f} (fixed: {best:g})", level=level)

    return Custom(test, of=({"alpha": lambda alpha: alpha in ALPHAS}, {"start": start}))


def before(found: str) -> str:
    """The history of a claim first judged with three hops, where it came out as `found`."""
    return f"first with 3 hops and 2,500 steps: {found}; with 4 hops since small exponents learn with 3"


def figure(r: Results) -> Figure:
    chance = {"chance": r.arm(skills="uniform").setting("task.chance")}
    panels = [
        curves(r, "test/accuracy", "samples", "All skills", marks=chance),
        curves(r, HEAD, "samples", "Head (ranks 0–20 %)"),
        curves(r, TAIL, "samples", "Tail (ranks 80–100 %)"),
        curves(r, ON_LAW, "samples", "Loss on the law that is trained on"),
    ]
    return Figure("The exponent: fast on the head or fair to the tail", panels)


recipe = Recipe(
    name="exponent",
    paper="A",
    figure_number="7, 8",
    question="Which exponent of the skills' power law learns first, and which learns everything?",
    about=__doc__,
    threshold=0.9,
    scales={"smoke": (2, 7), "laptop": (8, 2500), "paper": (3,)},
    assumptions=ENCODERS,
    arms=arms,
    claims=[
        Statement(
            "exponent 1 ends above uniform skills in uniform-test accuracy",
            Paper("exponent 1 learns S5", "fig. 8"),
            ends_above({"skills": "uniform"}, {"alpha": 1}),
            history=before("0.72 above"),
        ),
        *(
            Statement(
                f"exponent {alpha:g} is too small: it ends below exponent 1 in uniform-test accuracy",
                Paper(f"exponent {alpha:g} fails on S5, exponent 1 learns", "fig. 7, 8"),
                ends_above({"alpha": alpha}, {"alpha": 1}),
                history=before(f"{above} above exponent 1, open"),
            )
            for alpha, above in ((0.5, 0.029), (0.75, 0.047))
        ),
        *(
            Statement(
                f"exponent {fast:g} halves its training loss with less compute than exponent {slow:g}",
                Paper("a larger exponent descends faster at first", "fig. 7, 8"),
                halves_first({"alpha": fast}, {"alpha": slow}),
                history=BY_LOSS,
            )
            for slow, fast in ((0.5, 1), (0.75, 1), (1, 1.5))
        ),
        *(
            Statement(
                f"the head: exponent {fast:g} learns rank bin 1 with less compute than exponent {slow:g}",
                Paper("a larger exponent descends faster at first", "fig. 8"),
                head_is_faster(slow, fast),
                history=before(f"{times} times, holds"),
            )
            for slow, fast, times in ((0.5, 1.0, 5.8), (1.0, 1.5, 1.17))
        ),
        Statement(
            "the tail: exponent 1.5 ends below exponent 1 in the accuracy of the last rank bin",
            Paper("exponent 1.5 falls behind in the end", "fig. 8"),
            ends_above({"alpha": 1.5}, {"alpha": 1}, TAIL, "final accuracy of the last bin"),
            history=before("0.74 below, holds"),
        ),
        *(
            Statement(
                f"annealing from {start:g} to 0 reaches 95 % of the best fixed exponent's final accuracy on the last "
                "rank bin with less compute than that exponent",
                OWN,
                beats_the_best_fixed(start),
                history=before(f"{times} times, holds{late}"),
            )
            for start, times, late in ((1.5, 1.10, ""), (1.0, 1.25, ", added after the one from 1.5 had been seen"))
        ),
    ],
    figure=figure,
)
