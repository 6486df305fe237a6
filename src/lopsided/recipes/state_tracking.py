"""state-tracking: a power law of skills makes composition learnable where uniform data does not.

Paper A, figure 1 (right) and appendix C. The task is to name the product of k permutations (k hops) without seeing
intermediate states. Paper: on S5 with k = 4, a power law of exponent 1.5 in random rank order is learned almost
perfectly while uniform data stays at chance. The third arm is ours: the exponent is annealed to 0 during training.

    lopsided run state-tracking --scale laptop

`overnight` changes: one token per element, 2 layers of width 128 and 30,000 steps, instead of digits, 4 layers of
width 256 and 200,000 steps.

`laptop` changes: A5 with 3 hops, one token per element, 2 layers of width 64 and 4,000 steps, instead of S5 with 4 hops
in digits, 4 layers of width 256 and 200,000 steps.
"""

from __future__ import annotations

from typing import Any

from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    USUAL,
    Above,
    Ahead,
    Arms,
    At,
    Below,
    Figure,
    Final,
    Higher,
    Measured,
    Nuisance,
    Paper,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Spec,
    Statement,
    arm,
    curves,
)
from lopsided.recipes._assumed import ENCODERS
from lopsided.recipes._frequency import UNIFORM, annealed, power_law, tracking

LAWS = {"uniform": UNIFORM, "power law": power_law(1.5), "annealed": annealed(1.5, 0.0, 0.35)}
FLAT, POWER = ({"skills": skills} for skills in ("uniform", "power law"))
LEARNED = 0.9
LATE = "accuracy over the last quarter / chance"
LARGEST = "first the largest of all evaluations, which noise alone puts at 1.4 times chance"


def spec(scale: ScaleName, law: dict[str, Any]) -> Spec:
    changes: dict[str, Any] = {"rank_order": "random"}
    if scale == "laptop":
        changes |= {"task": {"name": "state-tracking", "group": "A5", "hops": 3}, "steps": 4000}
        changes |= {"evaluation": {"every": 125, "samples": 2048}}
    return tracking(scale, law, **changes)


def arms(scale: ScaleName) -> Arms:
    for skills, law in LAWS.items():
        yield arm(spec(scale, law), skills=skills)


def late(each):
    """(M,) mean accuracy over the last quarter of the run, as a multiple of chance."""
    last = each.steps >= 0.75 * each.steps[-1]
    return each.metric("test/accuracy")[:, last].mean(1) / each.setting("task.chance")


def learned(skills: str) -> Reaches:
    """When an arm has learned the task."""
    return Reaches({"skills": skills}, "test/accuracy", LEARNED)


def late_at(at: At) -> Measured:
    """The accuracy late in the run of the arm at these coordinates."""
    return Measured(lambda r: late(r.arm(**at)), at, level_of="test/accuracy")


def figure(r: Results) -> Figure:
    chance = {"chance": r["uniform"].setting("task.chance")}
    bins = [f"bin{b}/accuracy" for b in range(1, 6)]
    panels = [curves(r, "test/accuracy", "samples", "Uniform-test accuracy", marks=chance)]
    panels += [
        curves(r, bins, "samples", f"Per rank bin: {skills}", arms=[skills])
        for skills in ("power law", "annealed")
        if bins[0] in r[skills].values
    ]
    return Figure("State tracking: who learns to compose?", panels)


recipe = Recipe(
    name="state-tracking",
    paper="A",
    figure_number="1 (right)",
    question="Can a transformer learn to compose permutations from uniform skills, or does it need a power law?",
    about=__doc__,
    threshold=LEARNED,
    scales={"smoke": (2, 5), "laptop": (8, 530), "overnight": (4,), "paper": (4,)},
    assumptions=ENCODERS,
    nuisance=[*USUAL, Nuisance("task.group", values=("S4",))],
    arms=arms,
    claims=[
        Statement(
            "power-law skills end above uniform skills in uniform-test accuracy",
            Paper(
                "S5, k = 4: above", "fig. 1: almost perfect under exponent 1.5 in random order, chance under uniform"
            ),
            Higher(Final(POWER), Final(FLAT), "final accuracy", FIVE_POINTS),
        ),
        Statement(
            "power-law skills end above 90 % uniform-test accuracy",
            Paper("almost perfect", "fig. 1"),
            Above(Final(POWER), LEARNED, "final accuracy"),
            history="added on 2026-11-22, when rows had been seen",
        ),
        Statement(
            "under uniform skills accuracy stays within twice chance",
            Paper("uniform cannot learn the task", "fig. 1"),
            Below(late_at(FLAT), 2.0, LATE, ratio=True),
            history=LARGEST,
        ),
        Statement(
            "annealing the exponent to 0 reaches 90 % uniform-test accuracy with less compute than the fixed exponent",
            OWN,
            Ahead(learned("annealed"), of=learned("power law"), axis="samples"),
            history="the window of annealing was set again after the first rows (LOG.md)",
        ),
    ],
    figure=figure,
)
