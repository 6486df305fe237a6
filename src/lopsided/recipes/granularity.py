"""granularity: does a finer power law learn faster than one that is flat inside a few bins?

Paper A, figure 12: S5 with 4 hops, exponent 1.5, the 120 permutations cut into m = 5, 10, 20, 40, 60 or 120 bins in
lexicographic order; bin b has mass ∝ b^-1.5, skills inside a bin are equally frequent. Paper: the finer, the faster.

    lopsided run granularity --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 2,500 steps, m = 3, 6, 12 and 24
(24 is the power law itself). Compute to half of all uniform test samples right stands for the paper's curves; compute
to half of the first rank bin's samples is reported next to it, because a coarse law also has a fatter tail.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._frequency import LEARNED, reaches, tracking
from lopsided.report.panels import Figure, Panel, curves, over_members
from lopsided.stats.slopes import of_points
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

COUNTS = {"smoke": (2, 3, 6), "laptop": (3, 6, 12, 24), "paper": (5, 10, 20, 40, 60, 120)}
HEAD = "bin1/accuracy"
FINEST = Statement(
    "the finest law reaches half of the test samples with less compute than the coarsest",
    "the more fine-grained, the faster (fig. 12)",
)
TREND = Statement(
    "compute to half of the test samples falls with the number of bins", "the more fine-grained, the faster (fig. 12)"
)
FINEST_HEAD = Statement(
    "the head: the finest law learns rank bin 1 with less compute than the coarsest",
    "fine asymmetry improves the landscape at the start (conjecture, fig. 12)",
)


class Granularity(Recipe):
    name = "granularity"
    paper = "A: The Power of Power Law"
    figure_number = "12"
    question = "Does the law have to be fine-grained, or do a few bins do?"
    threshold = 0.5
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(8, 420, "2 CPU cores"),
        "paper": Scale(3, 8e6, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        law = {"name": "binned-power-law", "alpha": 1.5}
        return {f"{m} bins": tracking(scale, {**law, "bins": m}) for m in COUNTS[scale]}

    def statements(self) -> list[Statement]:
        return [FINEST, TREND, FINEST_HEAD]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        arms, counts = list(results.arms.values()), _counts(results)
        times = [reaches(arm, self.metric, self.threshold) for arm in arms]
        head = [reaches(arm, HEAD, LEARNED) for arm in arms]
        law = of_points(counts, np.stack([t.ordinal for t in times], axis=1))
        return [
            FINEST.faster(*at, times[0], times[-1], "compute"),
            TREND.at_most(*at, law, 0.0, "log compute to learn against log bins"),
            FINEST_HEAD.faster(*at, head[0], head[-1], "compute"),
        ]

    def figure(self, results: Results) -> Figure:
        points = [
            over_members(
                name,
                _counts(results),
                np.stack([reaches(arm, metric, level).ordinal for arm in results.arms.values()], axis=1),
                i,
                "points",
            )
            for i, (name, metric, level) in enumerate(
                (("all skills", self.metric, self.threshold), ("rank bin 1", HEAD, LEARNED))
            )
        ]
        panels = [
            curves(results, self.metric, "samples", "All skills"),
            curves(results, HEAD, "samples", "Head (ranks 0–20 %)"),
            Panel("Compute to one half", "bins", "samples seen", points, log_x=True, log_y=True),
        ]
        return Figure("How fine does the law have to be?", panels)


def _counts(results: Results) -> np.ndarray:
    """(N,) bins of every arm."""
    return np.array([int(name.split()[0]) for name in results.arms])
