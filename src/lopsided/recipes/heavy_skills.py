"""heavy-skills: oversample a tenth of the skills to two thirds, then let go. Does that do what a power law does?

Paper A attributes the advantage to power laws. In the product model one heavy skill does more than any power law
(`one-heavy-skill`): what it takes is that skills are not alike. A network needs several heavy skills, since samples of
one skill alone teach it no operation. The law here has two levels, without exponent and without ranks: a tenth of the
skills have two thirds of the mass, fixed, or until the law fades to uniform between a tenth and three fifths of
training. One setting for all tasks; it is compared with uniform skills, with the power law that each task's own recipe
has, and with that recipe's annealed law, whose window was set by hand.

    lopsided run heavy-skills --scale laptop

Tasks: products of 3 elements of A5 (`state-tracking`), questions of 3 hops (`multi-hop-qa`) and arithmetic
(`arithmetic`), each as in its own recipe, with whose arms these share their rows. Who is heavy is drawn anew for each
member where the task's recipe draws its rank order. `laptop` has the settings of these recipes at that scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    Ahead,
    Arms,
    Figure,
    Final,
    Higher,
    NotAhead,
    Own,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
)
from lopsided.recipes._frequency import UNIFORM
from lopsided.recipes.self_annealing import CHANGED, TASKS, TaskAndLaws

HEAVY, MASS = 0.1, 2 / 3
FIXED = {"name": "two-level", "heavy": HEAVY, "mass": MASS}
FADES = {**FIXED, "end": 0.0, "begin": 0.1, "finish": 0.6}
CHOSEN = "share, mass and window were chosen in trials on A5 with seeds 100 to 107 (LOG.md)"


def arms(scale: ScaleName) -> Arms:
    yield from arms_of({"A5": TASKS["A5"]} if scale == "smoke" else TASKS, scale)


def arms_of(tasks: Mapping[str, TaskAndLaws], scale: ScaleName) -> Arms:
    """Every law on every one of these tasks."""
    for task, asked in tasks.items():
        laws = {"uniform": UNIFORM, "power law": asked.fixed, "annealed": asked.by_hand}
        for name, law in {**laws, "two levels": FIXED, "two levels that fade": FADES}.items():
            yield arm(asked.spec(scale, law), task=task, law=name)


def ends_above(task: str, high: str, low: str):
    at = ({"task": task, "law": law} for law in (high, low))
    above, below = (Final(each) for each in at)
    return Higher(above, below, "final accuracy", FIVE_POINTS)


def claims_of(tasks: Mapping[str, TaskAndLaws], histories: Mapping[str, str]) -> Iterator[Statement]:
    """Statements about every one of these tasks, each with its history."""

    def times(task: str, law: str) -> Reaches:
        return Reaches({"task": task, "law": law}, "test/accuracy", tasks[task].learned)

    for task in tasks:
        yield Statement(
            f"{task}: two levels, fixed, end above uniform skills",
            Own("a power law does (fig. 1, 4, 6)"),
            ends_above(task, "two levels", "uniform"),
            history=histories[task],
        )
    for task in tasks:
        yield Statement(
            f"{task}: two levels, fixed, end above the power law",
            OWN,
            ends_above(task, "two levels", "power law"),
            history=histories[task],
        )
    for task, asked in tasks.items():
        yield Statement(
            f"{task}: two levels that fade reach {asked.learned:.0%} with less compute than the power law",
            OWN,
            Ahead(times(task, "two levels that fade"), of=times(task, "power law"), axis="samples"),
            history=histories[task],
        )
    for task, asked in tasks.items():
        yield Statement(
            f"{task}: the annealed law, its window set by hand, is at most 25 % ahead of two levels that fade "
            f"(compute to {asked.learned:.0%})",
            OWN,
            NotAhead(times(task, "annealed"), of=times(task, "two levels that fade"), axis="samples"),
            history=histories[task],
        )


def figure(r: Results) -> Figure:
    panels = []
    for task in r.values("task"):
        names = [each.name for each in r.where(task=task)]
        panels.append(curves(r, "test/accuracy", "samples", f"{task}: uniform-test accuracy", arms=names))
    return Figure("A tenth of the skills with two thirds of the mass", panels)


recipe = Recipe(
    name="heavy-skills",
    paper="A",
    figure_number="1, 4, 6",
    question="Does it take a power law, or is it enough to oversample some skills, whichever they are?",
    about=__doc__,
    scales={"smoke": (2, 30), "laptop": (8, 3200), "paper": (4,)},
    arms=arms,
    claims=list(claims_of(TASKS, {"A5": CHOSEN, **CHANGED})),
    figure=figure,
)
