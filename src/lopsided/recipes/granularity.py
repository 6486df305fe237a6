"""granularity: does a finer power law learn faster than one that is flat inside a few bins?

Paper A, figure 12: S5 with 4 hops, exponent 1.5, the 120 permutations cut into m = 5, 10, 20, 40, 60 or 120 bins in
lexicographic order; bin b has mass ∝ b^-1.5, skills inside a bin are equally frequent. Paper: the finer, the faster.

    lopsided run granularity --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 4,000 steps, m = 3, 6, 12 and 24
(24 is the power law itself). Compute to half of all uniform test samples right stands for the paper's curves; compute
to half of the first rank bin's samples is reported next to it, because a coarse law also has a fatter tail.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    Measured,
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
from lopsided.recipes._assumed import HEADS
from lopsided.recipes._frequency import LEARNED, STEPS, tracking
from lopsided.stats.slopes import of_points

LENGTH = {**STEPS, "laptop": 4000}
LONGER = "2,500 steps before, within which some members of the finest law never got half right"
COUNTS = {"smoke": (2, 3, 6), "laptop": (3, 6, 12, 24), "paper": (5, 10, 20, 40, 60, 120)}
ALL, HEAD = ("test/accuracy", 0.5), ("bin1/accuracy", LEARNED)
"""A metric, and from where it counts as learned."""


def arms(scale: ScaleName) -> Arms:
    for bins in COUNTS[scale]:
        law = {"name": "binned-power-law", "alpha": 1.5, "bins": bins}
        yield arm(tracking(scale, law, steps=LENGTH[scale]), bins=bins)


def finest_first(learned):
    def of(which) -> Measured:
        """The coarsest (0) or the finest (-1) of all laws."""
        return Measured(lambda r: list(r.arms.values())[which].times(*learned))

    return Ahead(of(-1), of=of(0), unit="compute")


def compute(r, learned):
    """(N,) bins of every arm, (M, N) compute to learn."""
    times = [each.times(*learned).ordinal for each in r.arms.values()]
    return np.array(r.values("bins"), float), np.stack(times, axis=1)


def figure(r: Results) -> Figure:
    points = [
        over_members(name, *compute(r, learned), i, "points")
        for i, (name, learned) in enumerate((("all skills", ALL), ("rank bin 1", HEAD)))
    ]
    panels = [
        curves(r, "test/accuracy", "samples", "All skills"),
        curves(r, "bin1/accuracy", "samples", "Head (ranks 0–20 %)"),
        Panel("Compute to one half", "bins", "samples seen", points, log_x=True, log_y=True),
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
    assumptions=[HEADS],
    arms=arms,
    claims=[
        Statement(
            "the finest law reaches half of the test samples with less compute than the coarsest",
            Paper("the more fine-grained, the faster", "fig. 12"),
            finest_first(ALL),
            history=f"six laws were cut to four before it ran, for time; {LONGER}",
        ),
        Statement(
            "compute to half of the test samples falls with the number of bins",
            Paper("the more fine-grained, the faster", "fig. 12"),
            SlopeBelow(Measured(lambda r: of_points(*compute(r, ALL))), 0.0, "log compute to learn against log bins"),
            history=LONGER,
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
