"""rank-order: a power law helps whoever holds the first ranks; an order by simplicity helps most.

Paper A, figure 10: S5 with 4 hops, exponent 1.5. Paper: lexicographic, random and reversed order all learn, where
uniform skills do not; lexicographic order is slightly faster than random order.

    lopsided run rank-order --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 2,500 steps. A random order is drawn
anew for every seed. Faster means that a quarter of all uniform test samples are right with less compute: as much as the
quotient S3 of the group alone gives, where half of the uniform networks stall.
"""

from __future__ import annotations

from lopsided.recipe import (
    FIVE_POINTS,
    Ahead,
    Arms,
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
)
from lopsided.recipes._assumed import ENCODERS
from lopsided.recipes._frequency import UNIFORM, power_law, tracking

ORDERS = ("lexicographic", "random", "reversed")
QUARTER = 0.25


def arms(scale: ScaleName) -> Arms:
    yield arm(tracking(scale, UNIFORM), skills="uniform")
    for order in ORDERS:
        yield arm(tracking(scale, power_law(1.5), rank_order=order), order=order)


def ends_above_uniform(order):
    return Higher(Final({"order": order}), Final({"skills": "uniform"}), "final accuracy", FIVE_POINTS)


def lexicographic_is_ahead_of(order):
    times = (Reaches({"order": each}, "test/accuracy", QUARTER) for each in ("lexicographic", order))
    return Ahead(*times, axis="samples")


def figure(r: Results) -> Figure:
    chance = {"chance": r.arm(skills="uniform").setting("task.chance")}
    bins = [f"bin{b}/accuracy" for b in range(1, 6)]
    panels = [curves(r, "test/accuracy", "samples", "All skills", marks=chance)]
    panels += [curves(r, bins, "samples", f"Per rank bin: {order}", arms=[order]) for order in ORDERS]
    return Figure("The order of skills: who holds the first ranks", panels)


recipe = Recipe(
    name="rank-order",
    paper="A",
    figure_number="10",
    question="Does it matter which skills are frequent?",
    about=__doc__,
    threshold=QUARTER,
    scales={"smoke": (2, 8), "laptop": (12, 630), "paper": (3,)},
    assumptions=ENCODERS,
    arms=arms,
    claims=[
        *(
            Statement(
                f"{order} order at exponent 1.5 ends above uniform skills in uniform-test accuracy",
                Paper("all three orders learn S5, uniform skills do not", "fig. 10"),
                ends_above_uniform(order),
            )
            for order in ORDERS
        ),
        *(
            Statement(
                f"lexicographic order reaches a quarter of the test samples with less compute than {order} order",
                Paper("lexicographic order is slightly faster than random order, reversed order similar", "fig. 10"),
                lexicographic_is_ahead_of(order),
            )
            for order in ORDERS[1:]
        ),
    ],
    figure=figure,
)
