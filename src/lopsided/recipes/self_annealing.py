"""self-annealing: one law that anneals itself, with one setting, on three tasks.

Paper A has fixed laws only. A power law is needed at the beginning and in the way at the end: an exponent that falls to
0 during training beats the fixed one (recipe `state-tracking`), but the part of training over which it should fall, its
window, depends on task and budget. The law `self-annealed` needs no window: its exponent falls while more than a fifth
of the training answers (above chance) are right, and rises while they are not (`annealing-rate` has the reason). It is
compared with uniform skills, with the fixed power law, and with a law whose window was set by hand for each task.

    lopsided run self-annealing --scale laptop

Tasks: products of 3 elements of A5 (`state-tracking`), questions of 3 hops (`multi-hop-qa`) and arithmetic
(`arithmetic`), each as in its own recipe at `laptop` and paper scale, with whose arms these share their rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    Ahead,
    Arms,
    Figure,
    Final,
    Higher,
    NotAhead,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Spec,
    Statement,
    arm,
    curves,
)
from lopsided.recipes import arithmetic, multi_hop_qa, state_tracking
from lopsided.recipes._frequency import UNIFORM

SELF = {"name": "self-annealed"}
BASELINES = {"uniform": "uniform skills", "fixed": "the fixed power law"}


class TaskAndLaws(NamedTuple):
    """A task, and the laws that its own recipe tries."""

    spec: Any
    """From a scale and a law."""
    fixed: dict[str, Any]
    by_hand: dict[str, Any]
    learned: float
    """Test accuracy from which a member has learned."""


CHANGED = {"questions": multi_hop_qa.LARGER, "arithmetic": arithmetic.LARGER}
"""By task: how its training was changed after earlier results had been seen. Printed with each claim on that task."""


def questions(scale: ScaleName, law: dict[str, Any]) -> Spec:
    hops, people = multi_hop_qa.WORLDS[scale][0]
    return multi_hop_qa.spec(scale, hops, people, law)


TASKS = {
    "A5": TaskAndLaws(
        state_tracking.spec, state_tracking.LAWS["power law"], state_tracking.LAWS["annealed"], state_tracking.LEARNED
    ),
    "questions": TaskAndLaws(
        questions,
        multi_hop_qa.LAWS["power law"],
        multi_hop_qa.LAWS["annealed"],
        multi_hop_qa.LEARNED,
    ),
    "arithmetic": TaskAndLaws(
        arithmetic.spec, arithmetic.LAWS["Zipf"], arithmetic.LAWS["annealed"], arithmetic.LEARNED
    ),
}


def arms(scale: ScaleName) -> Arms:
    for task, asked in TASKS.items():
        if scale == "smoke" and task != "A5":
            continue
        laws = {"uniform": UNIFORM, "fixed": asked.fixed, "by hand": asked.by_hand, "self-annealed": SELF}
        for name, law in laws.items():
            yield arm(asked.spec(scale, law), task=task, law=name)


def times(task: str, law: str) -> Reaches:
    return Reaches({"task": task, "law": law}, "test/accuracy", TASKS[task].learned)


def ahead_of(task: str, law: str):
    return Ahead(times(task, "self-annealed"), of=times(task, law), axis="samples")


def ends_above(task: str, law: str):
    high, low = (Final({"task": task, "law": each}) for each in ("self-annealed", law))
    return Higher(high, low, "final accuracy", FIVE_POINTS)


def as_good_as_by_hand(task: str):
    return NotAhead(times(task, "by hand"), of=times(task, "self-annealed"), axis="samples")


def figure(r: Results) -> Figure:
    def of(task, metric, title):
        names = [each.name for each in r.where(task=task) if metric in each.values]
        return curves(r, metric, "samples", title, arms=names)

    tasks = r.values("task")
    panels = [of(task, "test/accuracy", f"{task}: uniform-test accuracy") for task in tasks]
    panels += [of(task, "skills/exponent", f"{task}: exponent of the self-annealed law") for task in tasks]
    return Figure("One law that anneals itself, with one setting", panels)


recipe = Recipe(
    name="self-annealing",
    paper="A",
    figure_number="1, 4, 6",
    question="Can a law find out by itself when to let its tail go, with one setting for all tasks?",
    about=__doc__,
    scales={"smoke": (2, 30), "laptop": (8, 2600), "paper": (4,)},
    arms=arms,
    claims=[
        *(
            Statement(
                f"{task}: the self-annealed law ends above {said}",
                OWN,
                ends_above(task, law),
                history=CHANGED.get(task, ""),
            )
            for task in TASKS
            for law, said in BASELINES.items()
        ),
        *(
            Statement(
                f"{task}: the self-annealed law reaches {asked.learned:.0%} with less compute than {said}",
                OWN,
                ahead_of(task, law),
                history=CHANGED.get(task, ""),
            )
            for task, asked in TASKS.items()
            for law, said in BASELINES.items()
        ),
        *(
            Statement(
                f"{task}: the window set by hand is at most 25 % ahead of the self-annealed law (compute to "
                f"{asked.learned:.0%})",
                OWN,
                as_good_as_by_hand(task),
                history="the law's goal and the length of its running mean were chosen on seeds 0 to 2 (LOG.md)"
                if task == "A5"
                else CHANGED.get(task, ""),
            )
            for task, asked in TASKS.items()
        ),
    ],
    figure=figure,
)
