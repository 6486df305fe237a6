"""by-loss: can sampling each skill by its loss do what a power law of skills does?

Paper A shapes data by a law that is fixed before training. Others give skills, domains or examples a frequency by their
loss: prioritised sampling (here the law `loss-proportional`) draws what is not learned more often, and group
distributionally robust optimisation (`group-dro`; DoReMi finds the weights of domains so) raises the weights of groups
with large losses. On the products of three elements of A5 all skills have the same loss at the start, that of a guess,
so weights by loss have nothing to go by: the power law breaks a symmetry that they keep. Each method is tried at
several values of its main setting: powers 1 and 4, rates 0.1, 1 and 10.

    lopsided run by-loss --scale laptop

`laptop` changes: the task and network of `state-tracking` at `laptop` scale, whose uniform and power-law arms are
shared, as is the self-annealed arm of `self-annealing`. None of the claims is in the paper.
"""

from __future__ import annotations

from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    Arms,
    Below,
    Everywhere,
    Figure,
    Final,
    Higher,
    Own,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
)
from lopsided.recipes import state_tracking
from lopsided.recipes.self_annealing import SELF
from lopsided.recipes.state_tracking import LAWS, LEARNED

RIVALS = {
    "loss-proportional": ("power", (1.0, 4.0)),
    "group-dro": ("rate", (0.1, 1.0, 10.0)),
}
"""Laws by loss, their main setting, and its values. All keep a tenth of every batch uniform."""
OURS = {"law": "self-annealed"}


def arms(scale: ScaleName) -> Arms:
    laws = {"uniform": LAWS["uniform"], "power law": LAWS["power law"], "self-annealed": SELF}
    for law, skills in laws.items():
        yield arm(state_tracking.spec(scale, skills), law=law)
    for law, (setting, values) in RIVALS.items():
        for value in values if scale != "smoke" else values[:1]:
            at = {"law": law, setting: value}
            yield arm(state_tracking.spec(scale, {"name": law, setting: value}), **at)


def every_setting_ends_below(law: str, other: dict[str, str]):
    """At each setting of a law by loss, `other` ends higher."""
    return at_each(law, lambda at: Higher(Final(other), Final(at), "final accuracy", FIVE_POINTS))


def at_each(law: str, test) -> Everywhere:
    """A test at each setting of a law by loss; `test` makes it from the arm's coordinates."""
    setting, values = RIVALS[law]
    return Everywhere({f"{setting} {value:g}": test({"law": law, setting: value}) for value in values})


def near_chance(law: str):
    """At each setting, the accuracy late in the run is below twice chance."""
    return at_each(law, lambda at: Below(state_tracking.late_at(at), 2.0, state_tracking.LATE, ratio=True))


def figure(r: Results) -> Figure:
    chance = {"chance": next(iter(r.arms.values())).setting("task.chance")}
    panels = []
    for law in RIVALS:
        names = [each.name for each in r.arms.values() if each.coordinates["law"] not in RIVALS]
        names += [each.name for each in r.where(law=law)]
        panels.append(curves(r, "test/accuracy", "samples", law, arms=names, marks=chance))
    names = [each.name for law in RIVALS for each in r.where(law=law)]
    panels.append(curves(r, "skills/effective", "samples", "How even the laws by loss are", arms=names))
    return Figure("Weights by loss against a power law", panels)


recipe = Recipe(
    name="by-loss",
    paper="A",
    figure_number="1 (right)",
    question="Can sampling each skill by its loss do what a power law of skills does?",
    about=__doc__,
    threshold=LEARNED,
    scales={"smoke": (2, 5), "laptop": (8, 800), "paper": (4,)},
    arms=arms,
    claims=[
        *(
            Statement(
                f"at every setting, {law} sampling ends below the self-annealed law",
                OWN,
                every_setting_ends_below(law, OURS),
                history="the range of settings was chosen on two seeds (LOG.md)",
            )
            for law in RIVALS
        ),
        *(
            Statement(
                f"at every setting, {law} sampling ends below the fixed power law",
                OWN,
                every_setting_ends_below(law, {"law": "power law"}),
                history="the range of settings was chosen on two seeds (LOG.md)",
            )
            for law in RIVALS
        ),
        *(
            Statement(
                f"at every setting, {law} sampling stays within twice chance",
                Own("uniform skills do (fig. 1)"),
                near_chance(law),
                history=f"the range of settings was chosen on two seeds (LOG.md); {state_tracking.LARGEST}",
            )
            for law in RIVALS
        ),
    ],
    figure=figure,
)
