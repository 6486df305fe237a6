"""stages: the head is learned first, then it lends its gradient to the tail, then the tail is slow.

Paper A, figures 3 and 5 (left): S5 with 4 hops, exponent 1, lexicographic order, five rank bins. Stage 2 begins when
bin 1 gets somewhere. Paper: from then on, the gradient on samples with one skill of the last bin and the others from
bin 1 is larger than with the others from bins 2 to 4; bins 4 and 5 converge late.

    lopsided run stages --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 2,500 steps. The paper starts stage 2 at
an accuracy of .1 % in bin 1, which is below chance (.8 %); here stage 2 starts when bin 1, and stage 3 when every bin,
has reached five times chance and holds it at the next evaluation. Uniform skills are run next to it: the same ratio of
gradients without a head.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._frequency import BINS, RANK_BINS, UNIFORM, power_law, tracking
from lopsided.report.panels import Figure, Panel, curves, over_members
from lopsided.stats.times import Times, median, time_to_learn
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Arm, Results

SHAPED = "power law"
SOMEWHERE = 5.0
"""Multiple of chance from which a bin is getting somewhere."""
CONVERGED = 0.9
HEAD, MIDDLE = "tail-gradient/head", "tail-gradient/middle"
HELPS = Statement(
    "in stages 2 and 3, the tail's gradient is larger next to skills of bin 1 than next to skills of bins 2 to 4",
    "larger once the head is learned (fig. 3, right)",
)
RISES = Statement(
    "the tail's gradient next to skills of bin 1 is larger in stage 2 than in stage 1",
    "the norm increases after stage 1 (fig. 3, right)",
)
NO_HEAD = Statement(
    "under uniform skills the two gradients are equal within a quarter", "not in the paper: bins of equal frequency"
)
ORDER = Statement(
    "bin 1 gets somewhere with less compute than bin 5", "head skills are learned first (fig. 3, left and middle)"
)
SLOW = Statement(
    f"from five times chance to {CONVERGED:.0%}, bin 5 takes more compute than bin 1",
    "slow convergence of bins 4 and 5 (fig. 3, stage III)",
)


class Stages(Recipe):
    name = "stages"
    paper = "A: The Power of Power Law"
    figure_number = "3, 5 (left)"
    question = "Do learned head skills speed up the tail?"
    threshold = CONVERGED
    scales: ClassVar = {
        "smoke": Scale(2, 10, "2 CPU cores"),
        "laptop": Scale(12, 400, "2 CPU cores"),
        "paper": Scale(3, 3e6, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        samples = 64 if scale == "smoke" else 2048
        probes = [{**RANK_BINS, "samples": samples // 4}, {"name": "tail-gradient", "bins": BINS, "samples": samples}]
        laws = {"uniform": UNIFORM, SHAPED: power_law(1.0)}
        return {name: tracking(scale, law, probes=probes) for name, law in laws.items()}

    def statements(self) -> list[Statement]:
        return [HELPS, RISES, NO_HEAD, ORDER, SLOW]

    def claims(self, results: Results) -> list[Claim]:
        at, arm = (self.name, results.scale), results[SHAPED]
        head, middle = arm.metric(HEAD), arm.metric(MIDDLE)
        second, third = boundaries(arm)
        later = arm.samples >= second[:, None]
        in_second = later & (arm.samples < third[:, None])
        flat = results["uniform"]
        first_bin, last_bin = (_climb(arm, b) for b in (1, BINS))
        return [
            HELPS.above(*at, _mean(head, later) / _mean(middle, later), 1.0, "ratio of gradient norms"),
            RISES.above(*at, _mean(head, in_second) / _mean(head, ~later), 1.0, "ratio of gradient norms"),
            NO_HEAD.near(
                *at, flat.metric(HEAD).mean(1) / flat.metric(MIDDLE).mean(1), 1.0, 0.25, "ratio of gradient norms"
            ),
            ORDER.faster(*at, somewhere(arm, BINS), somewhere(arm, 1), "compute"),
            SLOW.faster(*at, last_bin, first_bin, "compute of the climb"),
        ]

    def figure(self, results: Results) -> Figure:
        arm = results[SHAPED]
        second, third = (float(median(b)) for b in boundaries(arm))
        moments = {n: x for n, x in (("stage 2", second), ("stage 3", third)) if np.isfinite(x)}
        bins = range(1, BINS + 1)
        panels = [
            curves(results, [f"bin{b}/{m}" for b in bins], "samples", f"Per rank bin: {m}", [SHAPED], moments=moments)
            for m in ("loss", "accuracy")
        ]
        lines = [
            over_members(f"one tail skill, others from {who}", arm.samples, arm.metric(metric), i)
            for i, (who, metric) in enumerate((("bin 1", HEAD), ("bins 2–4", MIDDLE)))
        ]
        title = "What the tail's gradient is made of"
        panels.append(Panel(title, "compute (samples seen)", "norm of the expected gradient", lines, moments=moments))
        return Figure("Stages of learning under a power law (medians of the stages' beginnings)", panels)


def somewhere(arm: Arm, b: int) -> Times:
    """Compute at which bin `b` gets somewhere."""
    return time_to_learn(arm.samples, arm.metric(f"bin{b}/accuracy"), SOMEWHERE * arm.spec.task.chance)


def boundaries(arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    """(M,) compute at which stages 2 and 3 begin; infinite for a member that never enters one."""
    starts = np.stack([somewhere(arm, b).ordinal for b in range(1, BINS + 1)])
    return starts[0], starts.max(0)


def _climb(arm: Arm, b: int) -> Times:
    """Compute from getting somewhere to convergence; censored at what was left."""
    start = somewhere(arm, b).time
    end = time_to_learn(arm.samples, arm.metric(f"bin{b}/accuracy"), CONVERGED)
    return Times(end.time - start, end.censored)


def _mean(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """(M,) mean of each member's values (M, T) over the evaluations `where`; NaN if there are none."""
    count = where.sum(1)
    total = np.where(where, values, 0.0).sum(1)
    return np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
