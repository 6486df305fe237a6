"""contrast-annealing: a law that anneals itself and is not fooled by shortcuts, with one setting, on five tasks.

Paper A has fixed laws only. The law `self-annealed` lets go of its tail while enough training answers are right. Where
a quotient of the group, or a narrowed answer, is worth more than its goal, it lets go before anything was composed.
Here the signal is a contrast: how far the loss on the law is below the loss of samples that need a rare skill. A
shortcut helps both alike and cancels, composition of frequent skills helps the first alone
(`lopsided.shape.rules.Contrast`).

    lopsided run contrast-annealing --scale laptop

`laptop`: products of three elements of a simple group (A5) and of groups with quotients (S4, D4xZ3, Q8xZ3), and
questions (`multi-hop-qa`), each as in `self-annealing` and `self-annealing-groups`, with which the arms share rows.
Laws: by contrast, by accuracy (as it is, and with a goal of 0.6 in place of 0.2), the fixed law, and windows set by
hand. (Uniform skills are in those recipes: they stay at chance in most.) None of the claims is in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    Ahead,
    Arms,
    Everywhere,
    Figure,
    Final,
    Higher,
    Measured,
    MembersAbove,
    NotAhead,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
)
from lopsided.recipes import self_annealing, self_annealing_groups
from lopsided.recipes._frequency import power_law, tracking
from lopsided.recipes.self_annealing import SELF

OURS, TODAY, CAUTIOUS, FIXED = "contrast", "accuracy", "accuracy, goal 0.6", "fixed"
LAWS: dict[str, dict[str, Any]] = {
    OURS: {"name": "contrast-annealed"},
    TODAY: SELF,
    CAUTIOUS: {**SELF, "goal": 0.6},
}
GROUPS = {"S4": 3000, "D4xZ3": 3000, "Q8xZ3": 3000}
"""Steps at laptop scale of three elements of each."""
Q8 = [
    [0, 1, 2, 3, 4, 5, 6, 7],
    [1, 0, 3, 2, 5, 4, 7, 6],
    [2, 3, 1, 0, 6, 7, 5, 4],
    [3, 2, 0, 1, 7, 6, 4, 5],
    [4, 5, 7, 6, 1, 0, 2, 3],
    [5, 4, 6, 7, 0, 1, 3, 2],
    [6, 7, 4, 5, 3, 2, 1, 0],
    [7, 6, 5, 4, 2, 3, 0, 1],
]
"""The quaternions 1, -1, i, -i, j, -j, k, -k: a group that the law was not looked at on."""
MOST = 0.75
"""Share of members of which more have to learn."""
TRIALS = (
    "goal, window, floor and tail were chosen in trials of two to six seeds (from 100 on) on A5, S4, D4xZ3 and "
    "questions, and not changed since"
)


def laws_of(task: str) -> dict[str, dict[str, Any]]:
    """The laws tried on a task, by name."""
    if task in self_annealing.TASKS:
        asked = self_annealing.TASKS[task]
        return {**LAWS, FIXED: asked.fixed, "window": asked.by_hand}
    windows = self_annealing_groups.WINDOWS
    return {**LAWS, FIXED: power_law(1.0), **{f"window, {name}": law for name, law in windows.items()}}


def spec_of(task: str, scale: ScaleName, law: dict[str, Any]):
    if task in self_annealing.TASKS:
        return self_annealing.TASKS[task].spec(scale, law)
    group: Any = _times_three(Q8) if task == "Q8xZ3" else task
    changes: dict[str, Any] = {"task": {"name": "state-tracking", "group": group, "hops": 3, "encoding": "elements"}}
    if scale == "laptop":
        changes |= {"steps": GROUPS[task], "evaluation": {"every": 125, "samples": 2048}}
    return tracking(scale, law, rank_order="random", **changes)


def _times_three(table: list[list[int]]) -> list[list[int]]:
    """The multiplication table of a group times the commutative group of three."""
    n = range(len(table))
    return [[3 * table[a][b] + (x + y) % 3 for b in n for y in range(3)] for a in n for x in range(3)]


def tasks(scale: ScaleName) -> list[str]:
    return ["A5", "S4"] if scale == "smoke" else ["A5", *GROUPS, "questions"]


def arms(scale: ScaleName) -> Arms:
    for task in tasks(scale):
        for name, law in laws_of(task).items():
            yield arm(spec_of(task, scale, law), task=task, law=name)


def learned(task: str) -> float:
    """Test accuracy from which a member has learned."""
    found = self_annealing.TASKS.get(task)
    return found.learned if found else self_annealing_groups.LEARNED


def times(task: str, law: str) -> Reaches:
    return Reaches({"task": task, "law": law}, "test/accuracy", learned(task))


def final(task: str, law: str) -> Final:
    return Final({"task": task, "law": law})


def claims() -> Iterator[Statement]:
    for task in tasks("laptop"):
        ours, windows = times(task, OURS), [name for name in laws_of(task) if name.startswith("window")]
        yield Statement(
            f"{task}: no window set by hand is more than 25 % ahead of the law by contrast (compute to "
            f"{learned(task):.0%})",
            OWN,
            Everywhere({w: NotAhead(times(task, w), of=ours, axis="samples") for w in windows}),
            history=TRIALS,
        )
        yield Statement(
            f"{task}: the law by contrast reaches {learned(task):.0%} with less compute than the fixed law",
            OWN,
            Ahead(ours, of=times(task, FIXED), axis="samples"),
            history=TRIALS,
        )
        yield Statement(
            f"{task}: the law by accuracy is not more than 25 % ahead of the law by contrast (compute to "
            f"{learned(task):.0%})",
            OWN,
            NotAhead(times(task, TODAY), of=ours, axis="samples"),
            history=TRIALS,
        )
        yield Statement(
            f"{task}: more than {MOST:.0%} of members learn under the law by contrast",
            OWN,
            MembersAbove(
                Measured(
                    lambda r, task=task: r.arm(task=task, law=OURS).final("test/accuracy") >= learned(task),
                    {"task": task, "law": OURS},
                    level_of="test/accuracy",
                ),
                MOST,
                f"that end at {learned(task):.0%}",
            ),
            history=TRIALS,
        )
    for task in ("S4", "D4xZ3", "Q8xZ3", "questions"):
        yield Statement(
            f"{task}: the law by contrast ends above the law by accuracy",
            OWN,
            Higher(final(task, OURS), final(task, TODAY), "final accuracy", FIVE_POINTS),
            history=TRIALS,
        )


def figure(r: Results) -> Figure:
    panels = []
    for metric, title in (("test/accuracy", "uniform-test accuracy"), ("skills/exponent", "exponent of the law")):
        for task in r.values("task"):
            names = [each.name for each in r.where(task=task) if metric in each.values]
            panels.append(curves(r, metric, "samples", f"{task}: {title}", arms=names))
    return Figure("A law that anneals itself by a contrast of losses", panels)


recipe = Recipe(
    name="contrast-annealing",
    paper="A",
    figure_number="1 (right), 4, 6",
    question="Can a law find out by itself when to let its tail go, where shortcuts are worth a lot?",
    about=__doc__,
    threshold=self_annealing_groups.LEARNED,
    scales={"smoke": (2, 30), "laptop": (8, 4000), "paper": (4,)},
    arms=arms,
    claims=list(claims()),
    figure=figure,
)
