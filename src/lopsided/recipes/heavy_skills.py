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
from lopsided.recipes.self_annealing import CHANGED, TASKS

HEAVY, MASS = 0.1, 2 / 3
FIXED = {"name": "two-level", "heavy": HEAVY, "mass": MASS}
FADES = {**FIXED, "end": 0.0, "begin": 0.1, "finish": 0.6}
CHOSEN = "share, mass and window were chosen in trials on A5 with seeds 100 to 107 (LOG.md)"


def arms(scale: ScaleName) -> Arms:
    for task, asked in TASKS.items():
        if scale == "smoke" and task != "A5":
            continue
        laws = {"uniform": UNIFORM, "power law": asked.fixed, "annealed": asked.by_hand}
        for name, law in {**laws, "two levels": FIXED, "two levels that fade": FADES}.items():
            yield arm(asked.spec(scale, law), task=task, law=name)


def times(task: str, law: str) -> Reaches:
    return Reaches({"task": task, "law": law}, "test/accuracy", TASKS[task].learned)


def ends_above(task: str, high: str, low: str):
    at = ({"task": task, "law": law} for law in (high, low))
    above, below = (Final(each) for each in at)
    return Higher(above, below, "final accuracy", FIVE_POINTS)


def ahead_of(task: str, fast: str, slow: str):
    return Ahead(times(task, fast), of=times(task, slow), axis="samples")


def history(task: str) -> str:
    return CHOSEN if task == "A5" else CHANGED.get(task, "")


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
    claims=[
        *(
            Statement(
                f"{task}: two levels, fixed, end above uniform skills",
                Own("a power law does (fig. 1, 4, 6)"),
                ends_above(task, "two levels", "uniform"),
                history=history(task),
            )
            for task in TASKS
        ),
        *(
            Statement(
                f"{task}: two levels, fixed, end above the power law",
                OWN,
                ends_above(task, "two levels", "power law"),
                history=history(task),
            )
            for task in TASKS
        ),
        *(
            Statement(
                f"{task}: two levels that fade reach {asked.learned:.0%} with less compute than the power law",
                OWN,
                ahead_of(task, "two levels that fade", "power law"),
                history=history(task),
            )
            for task, asked in TASKS.items()
        ),
        *(
            Statement(
                f"{task}: the annealed law, its window set by hand, is at most 25 % ahead of two levels that fade "
                f"(compute to {asked.learned:.0%})",
                OWN,
                NotAhead(times(task, "annealed"), of=times(task, "two levels that fade"), axis="samples"),
                history=history(task),
            )
            for task, asked in TASKS.items()
        ),
    ],
    figure=figure,
)
