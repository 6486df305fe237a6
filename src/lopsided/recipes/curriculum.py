"""curriculum: paper A says that a mixture with easier tasks helps, and a power law shortens the plateaus it leaves.

Paper A, figure 11: S5, a mixture of 1, 2, 3 and 4 hops. Paper: under uniform skills the loss still rests on plateaus;
under a power law they are much shorter, and training is faster.

    lopsided run curriculum --scale laptop

`laptop` changes: S4 with 4 hops, one token per element, 2 layers of width 64, 2,000 steps, exponent 1, lexicographic
order. A network that knows only the quotient by a normal subgroup N has the loss log |N| (for S4: chance log 24, log 12
once the sign is known, log 4 once the quotient S3 is); a plateau is time within 5 % of such a loss, on the uniform test
loss of all 4 hops. The paper's curves are read as losses on the law that each network is trained on, as in
`granularity`, here that of the mixture. Nobody knows its levels: our own claim counts time at rest at whatever height
above a tenth of the first loss. The median member rests under neither law; a third of them do under uniform skills,
mostly in the last eighth of the run, where the rate has fallen, and where a power law's loss is below the tenth.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    FIVE_POINTS,
    Arms,
    At,
    Figure,
    Final,
    Higher,
    Lower,
    Measured,
    Own,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
)
from lopsided.recipes._assumed import ENCODERS, MIXTURE
from lopsided.recipes._frequency import BATCH, BY_LOSS, ON_LAW, STEPS, UNIFORM, halves_first, power_law, tracking
from lopsided.stats.plateaus import plateau_length, rest_length

LENGTH = {**STEPS, "laptop": 2000}
HOPS = {"smoke": 2, "laptop": 4, "paper": 4}
LAWS = {"uniform": UNIFORM, "power law": power_law(1.0)}
PLAIN, MIXED = {"data": "4 hops"}, {"data": "mixture of hops"}
UNIFORM_SKILLS, POWER = {"skills": "uniform"}, {"skills": "power law"}


def arms(scale: ScaleName) -> Arms:
    hops, steps = HOPS[scale], LENGTH[scale]
    mixture = {"name": "curriculum", "batch": BATCH[scale], "stages": [{"steps": steps, "weights": [1.0] * hops}]}
    for data, changes in ((PLAIN, {}), (MIXED, {"plan": mixture})):
        for skills, law in LAWS.items():
            yield arm(tracking(scale, law, hops=hops, steps=steps, **changes), skills=skills, **data)


def rest(at: At) -> Measured:
    """(M,) steps on plateaus of the arm at these coordinates."""

    def steps(r):
        each = r.arm(**at)
        return plateau_length(each.steps, each.metric("test/loss"), each.setting("task.plateaus"))

    return Measured(steps, at)


def rests_less(data):
    return Lower(rest(data | POWER), rest(data | UNIFORM_SKILLS), "steps on plateaus, uniform minus power law")


def rest_on_law(at: At) -> Measured:
    """(M,) steps at rest of the arm's training loss."""
    return Measured(lambda r: rest_length(r.arm(**at).steps, r.arm(**at).metric(ON_LAW)), at)


PASSED = "first counted a loss that passes a level in steady descent, too: {}"


def figure(r: Results) -> Figure:
    plateaus = r.arm(**PLAIN, **POWER).setting("task.plateaus")
    marks = {f"log {np.exp(e):.3g}": e for e in plateaus}
    panels = [
        curves(r, "test/loss", "steps", title, arms=[a.name for a in r.where(**data)], marks=marks)
        for title, data in (("With a mixture of hops", MIXED), ("All hops from the start", PLAIN))
    ]
    panels.append(curves(r, "test/accuracy", "steps", "Uniform-test accuracy"))
    mixed = [a.name for a in r.where(**MIXED)]
    panels.append(curves(r, ON_LAW, "steps", "With a mixture: loss on its own law", arms=mixed))
    return Figure("Curriculum and power law", panels)


recipe = Recipe(
    name="curriculum",
    paper="A",
    figure_number="11",
    question="Is a curriculum over the number of hops enough, or does the power law still help?",
    about=__doc__,
    threshold=0.9,
    scales={"smoke": (2, 9), "laptop": (8, 380), "paper": (3,)},
    assumptions=(*ENCODERS, MIXTURE),
    arms=arms,
    claims=[
        Statement(
            "with a mixture of hops, a power law's training loss rests for fewer steps than that of uniform skills",
            Own("a loss that stands still anywhere, whose levels nobody knows"),
            Lower(
                rest_on_law(MIXED | POWER),
                rest_on_law(MIXED | UNIFORM_SKILLS),
                "steps at rest, uniform minus power law",
            ),
            history=BY_LOSS + ", as the paper's: what it counts turned out to lie where the run ends",
        ),
        Statement(
            "with a mixture of hops, a power law halves its training loss with less compute than uniform skills",
            Paper("the power law accelerates training under a curriculum", "fig. 11"),
            halves_first(MIXED | POWER, MIXED | UNIFORM_SKILLS),
            history=BY_LOSS,
        ),
        Statement(
            "with a mixture of hops, a power law spends fewer steps on plateaus than uniform skills",
            Paper("plateaus remain under uniform skills and shrink under a power law", "fig. 11"),
            rests_less(MIXED),
            history=PASSED.format("202 steps more under the power law, contradicted at 24 seeds"),
        ),
        Statement(
            "with a mixture of hops, a power law ends above uniform skills in uniform-test accuracy",
            Own("what the law is worth where every skill counts alike"),
            Higher(Final(MIXED | POWER), Final(MIXED | UNIFORM_SKILLS), "final accuracy", FIVE_POINTS),
            history="the paper's until 2026-11-30",
        ),
        Statement(
            "under uniform skills the mixture ends above training on 4 hops only",
            Paper("uniform skills learn with the curriculum, not without", "fig. 11, fig. 1"),
            Higher(Final(MIXED | UNIFORM_SKILLS), Final(PLAIN | UNIFORM_SKILLS), "final accuracy", FIVE_POINTS),
        ),
        Statement(
            "without a mixture, a power law spends fewer steps on plateaus than uniform skills",
            Paper("uniform skills stay at chance", "fig. 1"),
            rests_less(PLAIN),
            history=PASSED.format("944 steps fewer"),
        ),
    ],
    figure=figure,
)
