"""stages: the head is learned first, then it lends its gradient to the tail, then the tail is slow.

Paper A, figures 3 and 5 (left): S5 with 4 hops, exponent 1, lexicographic order, five rank bins. Stage 2 begins when
bin 1 gets somewhere. Paper: from then on, the gradient on samples with one skill of the last bin and the others from
bin 1 is larger than with the others from bins 2 to 4; bins 4 and 5 converge late.

    lopsided run stages --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 2,500 steps. The paper starts stage 2 at
an accuracy of .1 % in bin 1, which is below chance (.8 %); here stage 2 starts when bin 1, and stage 3 when every bin,
has reached five times chance and holds it at the next evaluation. Uniform skills are run next to it: the same ratio of
gradients where no bin is more frequent than another.
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
    "in stage 2, the tail's gradient is larger next to skills of bin 1 than next to skills of bins 2 to 4",
    "larger in stage 2 (fig. 3, right)",
)
STILL = Statement("the same in stage 3", "not in the paper")
RISES = Statement(
    "the tail's gradient next to skills of bin 1 is larger in stage 2 than in stage 1",
    "the norm increases after stage 1 (fig. 3, right)",
)
NO_HEAD = Statement(
    "under uniform skills the two gradients are equal within a quarter",
    "not in the paper: would show that frequency makes the difference",
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
        "laptop": Scale(8, 250, "2 CPU cores"),
        "paper": Scale(3, 3e6, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        samples = 64 if scale == "smoke" else 2048
        probes = [{**RANK_BINS, "samples": samples // 4}, {"name": "tail-gradient", "bins": BINS, "samples": samples}]
        laws = {"uniform": UNIFORM, SHAPED: power_law(1.0)}
        # Stage 2 begins before a fiftieth of training: evaluations are as dense early as late on a logarithmic axis.
        first = {"smoke": 5, "laptop": 10, "paper": 200}[scale]
        evaluation = {"every": first, "per_decade": 20, "samples": samples}
        return {name: tracking(scale, law, probes=probes, evaluation=evaluation) for name, law in laws.items()}

    def statements(self) -> list[Statement]:
        return [HELPS, STILL, RISES, NO_HEAD, ORDER, SLOW]

    def claims(self, results: Results) -> list[Claim]:
        at, arm = (self.name, results.scale), results[SHAPED]
        second, third = (boundary[:, None] for boundary in boundaries(arm))
        in_first, in_third = arm.samples < second, arm.samples >= third
        in_second = ~in_first & ~in_third
        flat = results["uniform"]
        throughout = np.ones_like(flat.metric(HEAD), bool)
        what = "ratio of gradient norms"
        first_bin, last_bin = (_climb(arm, b) for b in (1, BINS))
        return [
            HELPS.above(*at, _mean(arm, HEAD, in_second) / _mean(arm, MIDDLE, in_second), 1.0, what),
            STILL.above(*at, _mean(arm, HEAD, in_third) / _mean(arm, MIDDLE, in_third), 1.0, what),
            RISES.above(*at, _mean(arm, HEAD, in_second) / _mean(arm, HEAD, in_first), 1.0, what),
            NO_HEAD.near(*at, _mean(flat, HEAD, throughout) / _mean(flat, MIDDLE, throughout), 1.0, 0.25, what),
            ORDER.faster(*at, somewhere(arm, BINS), somewhere(arm, 1), "compute"),
            SLOW.faster(*at, last_bin, first_bin, "compute of the climb"),
        ]

    def figure(self, results: Results) -> Figure:
        arm = results[SHAPED]
        second, third = (float(median(b)) for b in boundaries(arm))
        moments = {n: x for n, x in (("stage 2", second), ("stage 3", third)) if np.isfinite(x)}
        bins = range(1, BINS + 1)
        panels = [
            curves(
                results,
                [f"bin{b}/{m}" for b in bins],
                "samples",
                f"Per rank bin: {m}",
                [SHAPED],
                log_x=True,
                moments=moments,
            )
            for m in ("loss", "accuracy")
        ]
        lines = [
            over_members(f"one tail skill, others from {who}", arm.samples, arm.metric(metric), i)
            for i, (who, metric) in enumerate((("bin 1", HEAD), ("bins 2–4", MIDDLE)))
        ]
        title = "What the tail's gradient is made of"
        label = "norm of the expected gradient"
        panels.append(Panel(title, "compute (samples seen)", label, lines, log_x=True, moments=moments))
        return Figure("Stages of learning under a power law (medians of the stages' beginnings)", panels)


def somewhere(arm: Arm, b: int) -> Times:
    """Compute at which bin `b` gets somewhere."""
    return time_to_learn(arm.samples, arm.metric(f"bin{b}/accuracy"), SOMEWHERE * arm.setting("task.chance"))


def boundaries(arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    """(M,) compute at which stages 2 and 3 begin; infinite for a member that never enters one."""
    starts = np.stack([somewhere(arm, b).ordinal for b in range(1, BINS + 1)])
    return starts[0], starts.max(0)


def _climb(arm: Arm, b: int) -> Times:
    """Compute from getting somewhere to convergence; censored at what was left."""
    start = somewhere(arm, b).time
    end = time_to_learn(arm.samples, arm.metric(f"bin{b}/accuracy"), CONVERGED)
    return Times(end.time - start, end.censored)


def _mean(arm: Arm, metric: str, where: np.ndarray) -> np.ndarray:
    """(M,) mean over compute of each member's values at the evaluations `where` (M, T), each of which stands for the
    stretch that ends there; NaN if there are none."""
    weight = where * np.diff(arm.samples, prepend=0)
    total = (weight * np.where(where, arm.metric(metric), 0.0)).sum(1)
    return np.divide(total, weight.sum(1), out=np.full(len(where), np.nan), where=where.any(1))
