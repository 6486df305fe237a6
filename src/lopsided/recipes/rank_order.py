"""rank-order: a power law helps whoever holds the first ranks; an order by simplicity helps most.

Paper A, figure 10: S5 with 4 hops, exponent 1.5. Paper: lexicographic, random and reversed order all learn, where
uniform skills do not; lexicographic order is slightly faster than random order.

    lopsided run rank-order --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 2,500 steps. A random order is drawn
anew for every seed. Faster means that a quarter of all uniform test samples are right with less compute: as much as the
quotient S3 of the group alone gives, where half of the uniform networks stall.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._frequency import UNIFORM, power_law, reaches, tracking
from lopsided.report.panels import Figure, curves
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

ORDERS = ("lexicographic", "random", "reversed")
LEARNS = {
    order: Statement(
        f"{order} order at exponent 1.5 ends above uniform skills in uniform-test accuracy",
        "all three orders learn S5, uniform skills do not (fig. 10)",
    )
    for order in ORDERS
}
FIRST = {
    order: Statement(
        f"lexicographic order reaches a quarter of the test samples with less compute than {order} order",
        "lexicographic order is slightly faster than random order, reversed order similar (fig. 10)",
    )
    for order in ORDERS[1:]
}


class RankOrder(Recipe):
    name = "rank-order"
    paper = "A: The Power of Power Law"
    figure_number = "10"
    question = "Does it matter which skills are frequent?"
    threshold = 0.25
    scales: ClassVar = {
        "smoke": Scale(2, 8, "2 CPU cores"),
        "laptop": Scale(12, 630, "2 CPU cores"),
        "paper": Scale(3, 5e6, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        arms = {"uniform": tracking(scale, UNIFORM)}
        return arms | {order: tracking(scale, power_law(1.5), rank_order=order) for order in ORDERS}

    def statements(self) -> list[Statement]:
        return [*LEARNS.values(), *FIRST.values()]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        uniform = results["uniform"].final(self.metric)
        times = {order: reaches(results[order], self.metric, self.threshold) for order in ORDERS}
        return [
            *(s.higher(*at, uniform, results[o].final(self.metric), "final accuracy") for o, s in LEARNS.items()),
            *(s.faster(*at, times[o], times["lexicographic"], "compute") for o, s in FIRST.items()),
        ]

    def figure(self, results: Results) -> Figure:
        chance = {"chance": results["uniform"].setting("task.chance")}
        bins = [f"bin{b}/accuracy" for b in range(1, 6)]
        panels = [curves(results, self.metric, "samples", "All skills", marks=chance)]
        panels += [curves(results, bins, "samples", f"Per rank bin: {order}", arms=[order]) for order in ORDERS]
        return Figure("The order of skills: who holds the first ranks", panels)
