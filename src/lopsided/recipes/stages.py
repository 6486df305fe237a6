"""stages: paper A says that the head is learned first, then makes the tail's gradient larger; the tail is slow.

Paper A, figures 3 and 5 (left): S5 with 4 hops, exponent 1, lexicographic order, five rank bins, of which bin 1 is the
head and bin 5 the tail. Stage 2 begins when bin 1 gets somewhere. Paper: from then on, the gradient on samples with one
skill of the last bin and the others from bin 1 is larger than with the others from bins 2 to 4; bins 4 and 5 converge
late.

    lopsided run stages --scale laptop

`laptop` changes: S4 with 4 hops, one token per element, 2 layers of width 64, 12,000 steps. The paper starts stage 2 at
an accuracy of 0.1 % in bin 1, which is below chance (0.8 %); here a bin gets somewhere when it reaches five times
chance and holds it at the next evaluation; stage 2 starts when bin 1 has got somewhere, stage 3 when every bin has.
Ratios of gradients are geometric means over the evaluations of a stage, which are spaced evenly in log compute; of
stage 1 its last quarter counts, the end of the plateau, since the answers' marginals are learned at its start. Uniform
skills are run next to it: in lexicographic order bin 1 is five of the six elements of a subgroup, whose products are no
uniform answers, so that the ratio is above 1 where no bin is more frequent than another, too.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from lopsided.recipe import (
    OWN,
    Above,
    Ahead,
    Arms,
    Figure,
    Measured,
    MembersAbove,
    Own,
    Panel,
    Paper,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
    over_members,
)
from lopsided.recipes._assumed import ENCODERS
from lopsided.recipes._frequency import BINS, RANK_BINS, STEPS, UNIFORM, power_law, tracking
from lopsided.stats.times import median

POWER = {"skills": "power law"}
SOMEWHERE = 5.0
"""Multiple of chance from which a bin is getting somewhere."""
HALF, CONVERGED = 0.5, 0.9
"""Accuracies between which a bin climbs: above what its most frequent product alone would score in any bin."""
HEAD, MIDDLE = "tail-gradient/head", "tail-gradient/middle"
HOPS = 4
"""With 3 hops the loss has no flat stage 1."""
LENGTH = {**STEPS, "laptop": 12_000}
PLATEAU = 0.75
"""Share of stage 1 after which its gradients count."""
FIRST = {"smoke": 5, "laptop": 10, "paper": 200}
"""Step of the first evaluation. Stage 2 begins before a fiftieth of training: evaluations are as dense early as late on
a logarithmic axis."""


FLAT = "first with 3 hops and 4,000 steps, which have no flat stage 1"
LONGER = "the run was lengthened from 2,500 steps when members were seen that do not get to stage 3"
LOGS = f"first means over compute, of which most lies late in a stage: 1.02 in stage 2, .60 against stage 1; {LONGER}"


def arms(scale: ScaleName) -> Arms:
    samples = 64 if scale == "smoke" else 2048
    probes = [{**RANK_BINS, "samples": samples // 4}, {"name": "tail-gradient", "bins": BINS, "samples": samples}]
    evaluation = {"every": FIRST[scale], "per_decade": 20, "samples": samples}
    for skills, law in (("uniform", UNIFORM), ("power law", power_law(1.0))):
        yield arm(
            tracking(
                scale,
                law,
                HOPS if scale == "laptop" else None,
                steps=LENGTH[scale],
                probes=probes,
                evaluation=evaluation,
            ),
            skills=skills,
        )


def somewhere(each, b):
    """Compute at which bin `b` gets somewhere."""
    return each.times(f"bin{b}/accuracy", SOMEWHERE * each.setting("task.chance"))


def boundaries(each):
    """(M,) compute at which stages 2 and 3 begin; infinite for a member that never enters one."""
    starts = np.stack([somewhere(each, b).ordinal for b in range(1, BINS + 1)])
    return starts[0], starts.max(0)


def half_right(b) -> Reaches:
    """Compute at which bin `b` is half right under the power law."""
    return Reaches(POWER, f"bin{b}/accuracy", HALF)


def last_bin_climbs_longer(each):
    """Members whose last bin certainly takes more compute from half right to convergence than their first one. A climb
    that the run ends is as long as what was left, or longer; one that did not begin says nothing."""
    first, last = ([each.times(f"bin{b}/accuracy", HALF), each.times(f"bin{b}/accuracy", CONVERGED)] for b in (1, BINS))
    at_least, took = last[1].time - last[0].time, first[1].ordinal - first[0].time
    return at_least > took


def log_mean(logs, where):
    """(M,) mean of each member's log values (M, T) over the evaluations `where` (M, T); NaN if there are none. A norm
    that is estimated as 0 has no logarithm, and is left out."""
    where = where & np.isfinite(logs)
    found = np.where(where, logs, 0.0).sum(1)
    return np.divide(found, where.sum(1), out=np.full(len(where), np.nan), where=where.any(1))


@lru_cache(maxsize=2)
def measure(r):
    """(M,) ratios of norms of the tail's gradient, by what is compared."""
    power, flat = r.arm(skills="power law"), r.arm(skills="uniform")
    second, third = (boundary[:, None] for boundary in boundaries(power))
    stage = {1: (power.samples >= PLATEAU * second) & (power.samples < second), 3: power.samples >= third}
    stage[2] = (power.samples >= second) & ~stage[3]
    with np.errstate(divide="ignore"):
        head, middle = (np.log(power.metric(metric)) for metric in (HEAD, MIDDLE))
        control = np.log(flat.metric(HEAD)) - np.log(flat.metric(MIDDLE))
    logs = {f"stage {s}": log_mean(head - middle, stage[s]) for s in (2, 3)}
    logs["stage 2 over uniform"] = log_mean(head - middle - control, stage[2])
    logs["stage 2 over 1"] = log_mean(head, stage[2]) - log_mean(head, stage[1])
    return {name: np.exp(value) for name, value in logs.items()}


def ratio_above_1(name, what=None) -> Above:
    """The geometric mean of a ratio of `measure` exceeds 1."""
    return Above(Measured(lambda r: measure(r)[name]), 1.0, what or RATIO, ratio=True)


def figure(r: Results) -> Figure:
    power = r.arm(skills="power law")
    second, third = (float(median(b)) for b in boundaries(power))
    moments = {n: x for n, x in (("stage 2", second), ("stage 3", third)) if np.isfinite(x)}
    bins, at = range(1, BINS + 1), {"log_x": True, "moments": moments}
    panels = [
        curves(r, [f"bin{b}/{m}" for b in bins], "samples", f"Per rank bin: {m}", [power.name], **at)
        for m in ("loss", "accuracy")
    ]
    lines = [
        over_members(f"one tail skill, others from {who}", power.samples, power.metric(metric), i)
        for i, (who, metric) in enumerate((("bin 1", HEAD), ("bins 2–4", MIDDLE)))
    ]
    title, label = "What the tail's gradient is made of", "norm of the expected gradient"
    panels.append(Panel(title, "compute (samples seen)", label, lines, **at))
    return Figure("Stages of learning under a power law (medians of the stages' beginnings)", panels)


RATIO = "ratio of gradient norms"
BAR = "first from five times chance, which bin 1 nearly has by its most frequent product alone"

recipe = Recipe(
    name="stages",
    paper="A",
    figure_number="3, 5 (left)",
    question="Do learned head skills speed up the tail?",
    about=__doc__,
    threshold=CONVERGED,
    scales={"smoke": (2, 10), "laptop": (8, 900), "paper": (3,)},
    assumptions=ENCODERS,
    arms=arms,
    claims=[
        Statement(
            "in stage 2, the tail's gradient is larger next to skills of bin 1 than next to skills of bins 2 to 4",
            Paper("larger in stage 2", "fig. 3, right"),
            ratio_above_1("stage 2"),
            history=f"{FLAT}: 1.84, holds; {LOGS}",
        ),
        Statement(
            "… by a larger factor than under uniform skills at the same time",
            Own("would show that frequency makes the difference"),
            ratio_above_1("stage 2 over uniform", f"{RATIO} over that under uniform skills"),
            history=f"{FLAT}: 0.35, contradicted; before, whether uniform skills' own ratio is 1: 4.9",
        ),
        Statement(
            "it is larger in stage 3, too",
            OWN,
            ratio_above_1("stage 3"),
            history=f"{FLAT}: 0.05, contradicted; {LOGS}",
        ),
        Statement(
            "the tail's gradient next to skills of bin 1 is larger in stage 2 than in stage 1",
            Paper("the norm increases after stage 1", "fig. 3, right"),
            ratio_above_1("stage 2 over 1"),
            history=f"{FLAT}, over all of stage 1: 0.72, contradicted; {LOGS}",
        ),
        Statement(
            "bin 1 is half right with less compute than bin 5",
            Paper("head skills are learned first", "fig. 3, left and middle"),
            Ahead(half_right(1), of=half_right(BINS), axis="samples"),
            history=f"{FLAT}: 19 times, holds; {BAR}: 35 times",
        ),
        Statement(
            f"in more than half of members, bin 5 takes more compute than bin 1 from half right to {CONVERGED:.0%}",
            Paper("slow convergence of bins 4 and 5", "fig. 3, stage III"),
            MembersAbove(
                Measured(lambda r: last_bin_climbs_longer(r.arm(**POWER)), POWER), 0.5, "whose last bin climbs longer"
            ),
            history=f"{FLAT}: every member, holds; {BAR}, as a ratio of times: 3.2 times; {LONGER}",
        ),
    ],
    figure=figure,
)
