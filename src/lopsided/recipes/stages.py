"""stages: paper A says that the head is learned first, then makes the tail's gradient larger; the tail is slow.

Paper A, figures 3 and 5 (left): S5 with 4 hops, exponent 1, lexicographic order, five rank bins, of which bin 1 is the
head and bin 5 the tail. Stage 2 begins when bin 1 gets somewhere. Paper: from then on, the gradient on samples with one
skill of the last bin and the others from bin 1 is larger than with the others from bins 2 to 4; bins 4 and 5 converge
late.

    lopsided run stages --scale laptop

`laptop` changes: S4 with 3 hops, one token per element, 2 layers of width 64, 2,500 steps. The paper starts stage 2 at
an accuracy of .1 % in bin 1, which is below chance (.8 %); here a bin gets somewhere when it reaches five times chance
and holds it at the next evaluation; stage 2 starts when bin 1 has got somewhere, stage 3 when every bin has. Uniform
skills are run next to it: the same ratio of gradients where no bin is more frequent than another.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import *
from lopsided.recipes._frequency import BINS, RANK_BINS, UNIFORM, power_law, tracking
from lopsided.stats.times import median

SOMEWHERE = 5.0
"""Multiple of chance from which a bin is getting somewhere."""
CONVERGED = 0.9
HEAD, MIDDLE = "tail-gradient/head", "tail-gradient/middle"
FIRST = {"smoke": 5, "laptop": 10, "paper": 200}
"""Step of the first evaluation. Stage 2 begins before a fiftieth of training: evaluations are as dense early as late on
a logarithmic axis."""


WINDOW = "the first version compared stages 2 and 3 together and had no evaluation in stage 1; run again with this one"


def arms(scale: ScaleName) -> Arms:
    samples = 64 if scale == "smoke" else 2048
    probes = [{**RANK_BINS, "samples": samples // 4}, {"name": "tail-gradient", "bins": BINS, "samples": samples}]
    evaluation = {"every": FIRST[scale], "per_decade": 20, "samples": samples}
    for skills, law in (("uniform", UNIFORM), ("power law", power_law(1.0))):
        yield arm(tracking(scale, law, probes=probes, evaluation=evaluation), skills=skills)


def somewhere(each, b):
    """Compute at which bin `b` gets somewhere."""
    return each.times(f"bin{b}/accuracy", SOMEWHERE * each.setting("task.chance"))


def boundaries(each):
    """(M,) compute at which stages 2 and 3 begin; infinite for a member that never enters one."""
    starts = np.stack([somewhere(each, b).ordinal for b in range(1, BINS + 1)])
    return starts[0], starts.max(0)


def climb(each, b):
    """Compute from getting somewhere to convergence; censored at what was left."""
    end = each.times(f"bin{b}/accuracy", CONVERGED)
    return Times(end.time - somewhere(each, b).time, end.censored)


def mean(each, metric, where):
    """(M,) mean over compute of each member's values at the evaluations `where` (M, T), each of which stands for the
    stretch that ends there; NaN if there are none."""
    weight = where * np.diff(each.samples, prepend=0)
    total = (weight * np.where(where, each.metric(metric), 0.0)).sum(1)
    return np.divide(total, weight.sum(1), out=np.full(len(where), np.nan), where=where.any(1))


def measure(r):
    """Mean norms of the tail's gradient, by metric and stage; and both arms."""
    power, flat = r.arm(skills="power law"), r.arm(skills="uniform")
    second, third = (boundary[:, None] for boundary in boundaries(power))
    stage = {1: power.samples < second, 3: power.samples >= third}
    stage[2] = ~stage[1] & ~stage[3]
    found = {(metric, s): mean(power, metric, stage[s]) for metric in (HEAD, MIDDLE) for s in stage}
    throughout = np.ones_like(flat.metric(HEAD), bool)
    found |= {(metric, "uniform"): mean(flat, metric, throughout) for metric in (HEAD, MIDDLE)}
    return {**found, "power": power}


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

recipe = Recipe(
    name="stages",
    paper="A",
    figure_number="3, 5 (left)",
    question="Do learned head skills speed up the tail?",
    about=__doc__,
    threshold=CONVERGED,
    scales={"smoke": (2, 10), "laptop": (8, 250), "paper": (3,)},
    arms=arms,
    measure=measure,
    claims=[
        Statement(
            "in stage 2, the tail's gradient is larger next to skills of bin 1 than next to skills of bins 2 to 4",
            "larger in stage 2 (fig. 3, right)",
            lambda m: above(m[HEAD, 2] / m[MIDDLE, 2], 1.0, RATIO, ratio=True),
            history=WINDOW,
        ),
        Statement(
            "the same in stage 3",
            "not in the paper",
            lambda m: above(m[HEAD, 3] / m[MIDDLE, 3], 1.0, RATIO, ratio=True),
        ),
        Statement(
            "the tail's gradient next to skills of bin 1 is larger in stage 2 than in stage 1",
            "the norm increases after stage 1 (fig. 3, right)",
            lambda m: above(m[HEAD, 2] / m[HEAD, 1], 1.0, RATIO, ratio=True),
            history=WINDOW,
        ),
        Statement(
            "under uniform skills the two gradients are equal within a quarter",
            "not in the paper: would show that frequency makes the difference",
            lambda m: near(m[HEAD, "uniform"] / m[MIDDLE, "uniform"], 1.0, 0.25, RATIO, ratio=True),
            history="first the mean of the ratios (4.9, contradicted as well), now their geometric mean",
        ),
        Statement(
            "bin 1 gets somewhere with less compute than bin 5",
            "head skills are learned first (fig. 3, left and middle)",
            lambda m: decisions.faster(somewhere(m["power"], BINS), somewhere(m["power"], 1), "compute"),
        ),
        Statement(
            f"from five times chance to {CONVERGED:.0%}, bin 5 takes more compute than bin 1",
            "slow convergence of bins 4 and 5 (fig. 3, stage III)",
            lambda m: decisions.faster(climb(m["power"], BINS), climb(m["power"], 1), "compute of the climb"),
        ),
    ],
    figure=figure,
)
