"""heavy-skills-groups: a tenth of the skills with two thirds of the mass, on groups with quotients.

Paper A has power laws only. The law is that of `heavy-skills`, with the share, the mass and the window that were chosen
on A5, which has no quotient. Of S4 and D4xZ3 a network can learn a quotient first, as under the laws of
`self-annealing-groups`. It is compared with uniform skills, with a power law of exponent 1, and with the early one of
that recipe's two windows.

    lopsided run heavy-skills-groups --scale laptop

`laptop`: products of three elements, 3,000 steps, each group as in `self-annealing-groups`. None of the claims is in
the paper.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import Arms, Recipe, ScaleName
from lopsided.recipes import self_annealing_groups
from lopsided.recipes._frequency import power_law
from lopsided.recipes.heavy_skills import arms_of, claims_of, figure
from lopsided.recipes.self_annealing import TaskAndLaws

GROUPS = {
    group: TaskAndLaws(
        partial(self_annealing_groups.spec, group),
        power_law(1.0),
        self_annealing_groups.WINDOWS["1.5 to 0, early"],
        self_annealing_groups.LEARNED,
    )
    for group in ("S4", "D4xZ3")
}
UNCHANGED = "share, mass and window as chosen on A5, before any row of this group"


def arms(scale: ScaleName) -> Arms:
    yield from arms_of({"S4": GROUPS["S4"]} if scale == "smoke" else GROUPS, scale)


recipe = Recipe(
    name="heavy-skills-groups",
    paper="A",
    figure_number="1 (right)",
    question="Is it enough to oversample some skills where a quotient can be learned first?",
    about=__doc__,
    threshold=self_annealing_groups.LEARNED,
    scales={"smoke": (2, 30), "laptop": (8, 2000), "paper": (4,)},
    arms=arms,
    claims=list(claims_of(GROUPS, dict.fromkeys(GROUPS, UNCHANGED))),
    figure=figure,
)
