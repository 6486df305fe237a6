"""equal-pairs: no skill is rare, but some pairs of skills are. Is that lopsided enough?

Paper A makes skills differ in how often they come. Here every element of the group is as frequent as every other, and
the elements of a sample are not independent: in training the first two of three are the same one in a share of samples
(x, x, y). Tests draw all three independently. If a network leaves chance, then asymmetry need not be a tail.

    lopsided run equal-pairs --scale laptop

`laptop`: products of three elements of A5 (`state-tracking`, 4,000 steps) and of S4 (`self-annealing-groups`, 3,000
steps), with whose arms of uniform skills and of a power law these share their rows. None of it is in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator

from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    Arms,
    Figure,
    Final,
    Higher,
    Recipe,
    Results,
    ScaleName,
    Spec,
    Statement,
    arm,
    curves,
)
from lopsided.recipes import self_annealing_groups, state_tracking
from lopsided.recipes._frequency import UNIFORM, power_law

EQUAL = (0.5, 0.75)
"""Shares, of 0.25, 0.5, 0.75 and 0.9, at which a member left chance in a trial on A5 with seeds 100 to 103."""
POWER = {"A5": state_tracking.LAWS["power law"], "S4": power_law(1.0)}
"""The law of each group's own recipe."""
CHOSEN = "the shares were chosen in a trial on A5 with seeds 100 to 103"


def spec(group: str, scale: ScaleName, law: dict) -> Spec:
    """Products of elements of a group, as in the group's own recipe."""
    if group == "A5":
        return state_tracking.spec(scale, law)
    return self_annealing_groups.spec(group, scale, law)


def in_pairs(group: str, scale: ScaleName, equal: float) -> Spec:
    """Products under uniform skills, the first two of which are equal in a share of training samples."""
    plain = spec(group, scale, UNIFORM)
    return plain.replace(task={**plain.task.model_dump(), "name": "equal-elements", "equal": equal})


def arms(scale: ScaleName) -> Arms:
    for group, law in POWER.items():
        yield arm(spec(group, scale, UNIFORM), group=group, law="uniform")
        yield arm(spec(group, scale, law), group=group, law="power law")
        for equal in EQUAL:
            yield arm(in_pairs(group, scale, equal), group=group, law="uniform, in pairs", equal=equal)


def claims() -> Iterator[Statement]:
    for group in POWER:
        uniform, power = (Final({"group": group, "law": law}) for law in ("uniform", "power law"))
        for equal in EQUAL:
            pairs = Final({"group": group, "equal": equal})
            said = f"{group}, {equal:.0%} of samples begin with one element twice"
            yield Statement(
                f"{said}: ends above independent uniform elements",
                OWN,
                Higher(pairs, uniform, "final accuracy", FIVE_POINTS),
                history=CHOSEN,
            )
            yield Statement(
                f"{said}: ends below the power law",
                OWN,
                Higher(power, pairs, "final accuracy", FIVE_POINTS),
                history=CHOSEN,
            )


def figure(r: Results) -> Figure:
    panels = [
        curves(
            r,
            "test/accuracy",
            "samples",
            f"{group}: uniform-test accuracy",
            arms=[a.name for a in r.where(group=group)],
        )
        for group in r.values("group")
    ]
    return Figure("Every skill alike, some pairs rare", panels)


recipe = Recipe(
    name="equal-pairs",
    paper="A",
    figure_number="1 (right)",
    question="Does it take rare skills, or is it enough that some pairs of skills are rare?",
    about=__doc__,
    scales={"smoke": (2, 30), "laptop": (8, 2400), "paper": (4,)},
    arms=arms,
    claims=list(claims()),
    figure=figure,
)
