"""landscape: does a power law make the loss steeper where training starts?

Paper A, figures 2, 5 (right) and 9: the training loss around the trajectory, on the plane of the top two principal
directions of the differences of consecutive checkpoints. Paper: under a power law there is a steep way down from the
start, under uniform skills the start is flat; small exponents leave it flat, too.

    lopsided run landscape --scale laptop

`laptop` changes: S4 with 4 hops, one token per element, 2 layers of width 64, 2,000 steps, lexicographic order, 40
checkpoints. The exponent is 1, and 0.5, 0.75, 1.25 and 1.5 for figure 9. The slope is the length of the training loss's
gradient at the start, along the plane. Three things that a picture hides are claims of their own: how well the plane
shows the loss (off-plane error), how much the loss falls along the true way once the frequencies of the answers are
known (every network learns those at once, and under a power law they are uneven), and how long the whole gradient, not
only its part along a plane, is at the start in the product model of the theory (64 skills, k = 4, exponent 1.25). The
plane is an option of the probe (`--set probes.0.plane=to-final`) and named on the figure.
"""

from __future__ import annotations

import numpy as np

from lopsided.probes.landscape import Landscape
from lopsided.recipe import (
    Arms,
    Below,
    Contour,
    Figure,
    Higher,
    Measured,
    Own,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
)
from lopsided.recipes._assumed import ENCODERS
from lopsided.recipes._composition import composition, sampled_rate
from lopsided.recipes._frequency import UNIFORM, power_law, tracking

TRANSFORMER, PRODUCT = {"model": "transformer"}, {"model": "product model"}
LAWS = ("uniform", "power law")
EXPONENTS = {"smoke": (0.5, 1.5), "laptop": (0.5, 0.75, 1.25, 1.5), "paper": (0.5, 0.75, 1.25, 1.5)}
"""Beside exponent 1, which figure 2 has."""
SMALLEST, LARGEST = ({**TRANSFORMER, "skills": f"exponent {alpha}"} for alpha in (0.5, 1.5))
POWER = TRANSFORMER | {"skills": "power law"}
STEPS = {"smoke": 40, "laptop": 2000, "paper": 200_000}
PLANES = {
    "differences": "principal directions of consecutive differences",
    "to-final": "principal directions of differences to the end",
    "parameters": "principal directions of the parameters",
}
BEGINS, ENDS = 1, 9
"""Checkpoints between which the fall of the loss is measured: after the first stretch, to about a fifth of training."""
SEEN = 0.1
SLOPE, FALL = "slope at the start, loss per distance", "fall of the loss per distance"


def arms(scale: ScaleName) -> Arms:
    smoke = scale == "smoke"
    probe = {"name": "landscape", "checkpoints": 10 if smoke else 40, "grid": 5 if smoke else 21}
    probe["samples"] = 64 if smoke else 1024
    laws = dict(zip(LAWS, (UNIFORM, power_law(1.0)), strict=True))
    for skills, law in (laws | {f"exponent {alpha}": power_law(alpha) for alpha in EXPONENTS[scale]}).items():
        spec = tracking(scale, law, hops=2 if smoke else 4, steps=STEPS[scale], probes=[probe])
        yield arm(spec, **TRANSFORMER, skills=skills)
    # Not drawn: few points, and samples enough for a gradient that is almost nothing under uniform skills.
    toy = {**probe, "checkpoints": 5, "grid": 3, "samples": 64 if smoke else 2**16}
    d, k, length = (8, 2, 40) if smoke else (64, 4, 2000)
    for skills, alpha in zip(LAWS, (0.0, 1.25), strict=True):
        plan, lr, probes = {"name": "online", "batch": 256}, sampled_rate(d, k, alpha), [{"name": "skill-error"}, toy]
        yield arm(composition(d, k, alpha, 0.5, plan, lr, length, probes=probes), **PRODUCT, skills=skills)


def fall(each):
    """(M,) fall of the training loss between two checkpoints, per distance gone."""
    loss, moved = each.final("landscape/loss"), each.final("landscape/moved")
    return (loss[:, BEGINS] - loss[:, ENDS]) / moved[:, BEGINS:ENDS].sum(1)


def steeper(which, of, what: str) -> Higher:
    """A number of the arm under a power law against that under uniform skills; `of` takes it from the arm."""
    flat, power = (Measured(lambda r, at=at: of(r.arm(**at)), at) for at in ({**which, "skills": s} for s in LAWS))
    return Higher(power, flat, what)


def surface(each, where, title):
    """The first member's loss."""
    name = f"landscape/{where}"
    values = each.final(name)[0]
    x, y = (np.linspace(each.final(f"{name}/{a}-low")[0], each.final(f"{name}/{a}-high")[0], len(values)) for a in "xy")
    way = np.stack([each.final(f"landscape/{a}")[0] for a in "xy"], axis=1)
    share = " and ".join(f"{explained:.0%}" for explained in each.final("landscape/explained")[0])
    error = f"off-plane error {each.final('landscape/off-plane')[0]:.2f}"
    label = f"direction 1 (explained: {share}; {error})"
    return Contour(title, label, "direction 2", x, y, values, "training loss", way, 30 if where == "near" else 12)


def figure(r: Results) -> Figure:
    panels = [
        surface(r.arm(**TRANSFORMER, skills=skills), where, f"{skills}: {what}")
        for where, what in (("whole", "whole way"), ("near", "near the start"))
        for skills in LAWS
    ]
    others = [each for each in r.where(**TRANSFORMER) if each.coordinates["skills"] not in LAWS]
    panels += [surface(each, "near", f"{each.coordinates['skills']}: near the start") for each in others]
    probe = next(p for p in r.where(**TRANSFORMER)[0].spec.probes if isinstance(p, Landscape))
    return Figure(f"Training loss of one member on a plane: {PLANES[probe.plane]}", panels)


recipe = Recipe(
    name="landscape",
    paper="A",
    figure_number="2, 5 (right), 9",
    question="Is the loss steeper at the start when skills follow a power law?",
    about=__doc__,
    threshold=0.9,
    scales={"smoke": (2, 20), "laptop": (8, 2700, "2 CPU cores, beside three other runs"), "paper": (3,)},
    assumptions=ENCODERS,
    arms=arms,
    claims=[
        Statement(
            "at the start, steepest descent on the plane is steeper under a power law than under uniform skills",
            Own("the slope at one point, where networks learn how frequent answers are; figures 2 and 9 show a region"),
            steeper(TRANSFORMER, lambda each: each.final("landscape/slope"), SLOPE),
            history="under the paper's name until 2026-11-28",
        ),
        Statement(
            "after the first stretch, the loss falls more per distance on the way under a power law than under uniform "
            "skills",
            Paper("the start is flat under uniform skills", "fig. 2"),
            steeper(TRANSFORMER, fall, FALL),
        ),
        Statement(
            "after the first stretch, the loss falls more per distance on the way with exponent 1.5 than with 0.5",
            Paper("larger exponents have better initial landscapes", "fig. 9"),
            Higher(*(Measured(lambda r, at=at: fall(r.arm(**at)), at) for at in (LARGEST, SMALLEST)), what=FALL),
            history="added on 2026-11-29, with its arms, before any row of them",
        ),
        Statement(
            f"the plane shows the power law's loss: error at the checkpoints below {SEEN:.0%} of its fall",
            Own("the figures give no error"),
            Below(
                Measured(lambda r: r.arm(**POWER).final("landscape/off-plane"), POWER),
                SEEN,
                "off-plane error / fall of the loss",
            ),
        ),
        Statement(
            "product model: the gradient at the start is longer under a power law than under uniform skills",
            Paper("|A(0)| is constant under a power law, d^(-1/2) under uniform skills", "section 4.1"),
            steeper(PRODUCT, lambda each: each.final("landscape/full-slope"), SLOPE),
        ),
    ],
    figure=figure,
)
