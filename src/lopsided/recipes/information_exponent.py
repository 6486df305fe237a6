"""information-exponent: a single direction takes d, d log d or d^(k-1) samples; it is found suddenly only for k >= 3.

Paper B, section 1 and its slides, after Ben Arous, Gheissari and Jagannath (2021). Online SGD on the sphere, one
sample a step, step size ∝ d^(-max(k/2, 1)), link h_k. Paper: recovery takes about d samples for information exponent
k = 1, d log d for k = 2, d^(k-1) for k >= 3, and is a sharp transition only for k >= 3. Likewise the toy losses (w* -
w)² and (w* - w²)² have none, (w* - w^k)² with k >= 3 and (w* - w_1 w_2 w_3)² have one.

    lopsided run information-exponent --scale laptop

`laptop` changes: d = 16 ... 256 for k <= 2, 16 ... 64 for k = 3, 12 ... 32 for k = 4; recovered means that the squared
overlap first reaches one half and still holds at the next evaluation; slopes may differ by 20 %. For every k the
weights start in the hemisphere of the answer, as the theorem asks for k = 3. A transition is sharp if (t90 - t10) /
t50, its rise from 10 % to 90 % over its time, vanishes as a power of 1/d (samples) or of the starting weight (toy
losses under gradient flow): theory has slopes -(k - 2)/2 and -(k - 2), and for k <= 2 none or a logarithm's. The line
is drawn at -3/8. (Over these d, d log d has slope 1.25 against d: the claim for k = 2 excludes d itself only just.)
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Arms,
    Figure,
    Measured,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    SlopeAbove,
    SlopeBelow,
    SlopeNear,
    Statement,
    arm,
    over_members,
    slope_line,
)
from lopsided.recipes._assumed import STUDENTS
from lopsided.recipes._strength import FLOW, additive
from lopsided.stats.slopes import of_points
from lopsided.stats.transitions import sharpness

TOLERANCE = 0.2
SHARP_LINE = -0.375
"""Half way between the slopes that theory has for k = 2 at these d (1 / ln d: -1/4) and for k = 3 (-1/2)."""
STEP = {1: 0.3, 2: 0.1, 3: 0.1, 4: 0.1}
"""Step size x d^max(k/2, 1); found on other seeds to be about the largest at which nearly all members recover."""
DIMENSIONS = {
    "smoke": {1: (8,), 3: (6,)},
    "laptop": {1: (16, 32, 64, 128, 256), 2: (16, 32, 64, 128, 256), 3: (16, 24, 32, 48, 64), 4: (12, 16, 24, 32)},
    "paper": {1: (64, 256, 1024, 4096), 2: (64, 256, 1024, 4096), 3: (32, 64, 128, 256), 4: (16, 32, 64, 128)},
}
BUDGET = 60
"""Samples of a run, in units of d, d log d or d^(k-1)."""
TOYS = {"w": (1, True), "w²": (2, True), "w³": (3, True), "w₁w₂w₃": (3, False), "w⁴": (4, True)}
"""Factors of the toy losses (1 - ...)², and whether they are one weight."""
STARTS = {1: (1e-2, 1e-3, 1e-4), 2: (1e-2, 1e-3, 1e-4), 3: (0.1, 0.05, 0.025), 4: (0.2, 0.14, 0.1)}
"""Starting weights by factors: a transition of three or more must still be wider than the grid of evaluations."""
SCALING = {1: "d", 2: "d log d", 3: "d²", 4: "d³"}


def order(k, d):
    """Samples that theory asks for, up to a constant."""
    return d * np.log(d) if k == 2 else d ** max(1, k - 1)


def arms(scale: ScaleName) -> Arms:
    smoke = scale == "smoke"
    for k, dimensions in DIMENSIONS[scale].items():
        for d in dimensions:
            yield arm(single_index(k, d, 10 if smoke else 40), k=k, d=d)
    for toy, (factors, tied) in TOYS.items():
        starts = STARTS[factors] if not smoke else (0.2,) if factors == 2 else ()
        for start in starts:
            yield arm(chain(factors, tied, start, 30 if smoke else 400), toy=f"toy {toy}", start=start)


def single_index(k, d, per_decade):
    return additive(
        d=d,
        directions=1,
        width=1,
        degree=k,
        plan={"name": "online", "batch": 1},
        lr=1.0,
        steps=int(BUDGET * order(k, d)),
        first=4,
        per_decade=per_decade,
        probes=("directions",),
        model={"name": "student", "width": 1, "link": f"h{k}", "sigma_0": 1.0, "norm": "unit", "hemisphere": True},
        optimizer={"name": "spherical-sgd", "lr": STEP[k] / d ** max(1.0, k / 2)},
    )


def chain(factors, tied, start, per_decade):
    """Gradient flow of (1 - w^k)² / 2; one step is a hundredth of a unit of time."""
    slow = 2 * np.log(1 / start) if factors == 2 else 4 / start ** (factors - 2) if factors > 2 else 0.0
    return additive(
        d=1,
        directions=1,
        width=1,
        degree=1,
        plan=FLOW,
        lr=0.01,
        steps=round(100 * (12.0 + slow)),
        first=1,
        per_decade=per_decade,
        probes=("directions",),
        model={"name": "scalar-chain", "depth": factors, "tied": tied, "start": start},
    )


def samples(r, k):
    """Dimensions (N,) and samples to recovery (M, N), infinite for members that never recover."""
    every = r.where(k=k)
    d = np.array([each.setting("task.d") for each in every], float)
    return d, np.stack([each.times("overlap/1", 0.5).ordinal for each in every], 1)


def sharp(every, metric):
    """(M, N) (t90 - t10) / t50; a member that never rises for good counts as infinitely gradual."""
    return np.stack([np.nan_to_num(sharpness(a.steps, a.metric(metric)), nan=np.inf) for a in every], 1)


def sampled_sharpness(r, k):
    """Dimensions, and `sharp`."""
    return np.array([each.setting("task.d") for each in r.where(k=k)], float), sharp(r.where(k=k), "overlap/1")


def toy_sharpness(r, toy):
    """Starting weights, and `sharp`."""
    every = r.where(toy=f"toy {toy}")
    return np.array([each.setting("model.start") for each in every]), sharp(every, "strength/1")


def recovery(k):
    def law(r):
        d, times = samples(r, k)
        return of_points(order(k, d), times)

    of = f"log median samples to recovery against {SCALING[k]}"
    test = SlopeNear(Measured(law, {"k": k}), 1.0, TOLERANCE, of)
    return Statement(f"k = {k}: recovery takes ~ {SCALING[k]} samples", Paper(f"Õ({SCALING[k]})", "BAGJ21"), test, 1.0)


def sharpens(law, wanted, axis):
    of = f"log median (t90 - t10) / t50 against {axis}"
    return (SlopeBelow if wanted else SlopeAbove)(law, SHARP_LINE, of)


def sudden(k):
    if k <= 2:
        said, paper = f"k = {k}: samples: the transition gets sharper more slowly than d^(-3/8)", "gradual"
    else:
        said, paper = f"k = {k}: samples: the transition gets sharper faster than d^(-3/8)", "sharp for k >= 3"
    law = Measured(lambda r: of_points(*sampled_sharpness(r, k)), {"k": k})
    return Statement(said, Paper(paper, "slides"), sharpens(law, k > 2, "d"))


def toy_loss(toy):
    if TOYS[toy][0] <= 2:
        said, paper = f"toy loss (1 - {toy})²: the transition gets sharper more slowly than start^(3/8)", "no sharp one"
    else:
        said, paper = f"toy loss (1 - {toy})²: the transition gets sharper faster than start^(3/8)", "a sharp one"

    def law(r):
        start, width = toy_sharpness(r, toy)
        return of_points(1 / start, width)

    test = sharpens(Measured(law, {"toy": f"toy {toy}"}), TOYS[toy][0] > 2, "1 / start")
    return Statement(said, Paper(paper, "slides"), test)


def figure(r: Results) -> Figure:
    recovered, widths, rise = [], [], "(t90 - t10) / t50"
    for i, k in enumerate(k for k in STEP if r.where(k=k)):
        d, times = samples(r, k)
        recovered.append(over_members(f"k = {k}", d, times, i, "points"))
        if k != 2:
            through = d[0], float(np.median(times[:, 0]))
            recovered.append(slope_line(f"~ {SCALING[k]}", (d[0], d[-1]), through, max(1, k - 1)))
        widths.append(over_members(f"k = {k}", *sampled_sharpness(r, k), i, "points"))
    toys = [
        over_members(f"(1 - {toy})²", *toy_sharpness(r, toy), i, "points")
        for i, toy in enumerate(TOYS)
        if r.where(toy=f"toy {toy}")
    ]
    return Figure(
        "One direction: how many samples, how suddenly",
        [
            Panel("Samples to recovery", "d", "samples", recovered, log_x=True, log_y=True),
            Panel("Sharpness, online SGD", "d", rise, widths, log_x=True, log_y=True),
            Panel("Sharpness, toy losses", "starting weight", rise, toys, log_x=True, log_y=True),
        ],
    )


recipe = Recipe(
    name="information-exponent",
    paper="B",
    figure_number="section 1, slides",
    question="How many samples does one direction take, and when is it found suddenly?",
    about=__doc__,
    metric="overlap/1",
    threshold=0.5,
    scales={"smoke": (3, 30), "laptop": (64, 300), "paper": (64,)},
    assumptions=STUDENTS,
    arms=arms,
    claims=[*map(recovery, STEP), *map(sudden, STEP), *map(toy_loss, TOYS)],
    figure=figure,
)
