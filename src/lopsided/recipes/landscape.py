"""landscape: does a power law make the loss steeper where training starts?

Paper A, figures 2, 9 and 5 (right): the training loss around the trajectory, on the plane of the top two principal
directions of the differences of consecutive checkpoints. Paper: under a power law there is a steep way down from the
start, under uniform skills the start is flat.

    lopsided run landscape --scale laptop

`laptop` changes: S4 with 4 hops, one token per element, 2 layers of width 64, 2,000 steps, exponent 1, lexicographic
order, 40 checkpoints. The slope is the length of the training loss's gradient at the start, along the plane. Three
things that a picture hides are claims of their own: how well the plane shows the loss (off-plane error), how much the
loss falls along the true way once the frequencies of the answers are known (every network learns those at once, and
under a power law they are uneven), and the slope of the product model of the theory (64 skills, k = 4, exponent 1.25).
The plane is an option of the probe (`--set probes.0.plane=to-final`) and named on the figure.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.probes.landscape import Landscape as LandscapeProbe
from lopsided.recipes._composition import composition, sampled_rate
from lopsided.recipes._frequency import UNIFORM, power_law, tracking
from lopsided.report.panels import Contour, Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Arm, Results

TRANSFORMER, PRODUCT = ("uniform", "power law"), ("product model, uniform", "product model, power law")
PLANES = {
    "differences": "principal directions of consecutive differences",
    "to-final": "principal directions of differences to the end",
    "parameters": "principal directions of the parameters",
}
BEGINS, ENDS = 1, 9
"""Checkpoints between which the fall of the loss is measured: after the first stretch, to about a fifth of training."""
SEEN = 0.1

STEEPER = Statement(
    "at the start, steepest descent on the plane is steeper under a power law than under uniform skills",
    "steeper slope under the power law (fig. 2, 9)",
)
FALLS = Statement(
    "after the first stretch, the loss falls more per distance on the way under a power law than under uniform skills",
    "the start is flat under uniform skills (fig. 2)",
)
PICTURE = Statement(
    f"the plane shows the power law's loss: error at the checkpoints below {SEEN:.0%} of its fall",
    "not in the paper: the figures give no error",
)
TOY = Statement(
    "product model: the gradient at the start is longer under a power law than under uniform skills",
    "|A(0)| is constant under a power law, d^(-1/2) under uniform skills (section 4.1)",
)


class Landscape(Recipe):
    name = "landscape"
    paper = "A: The Power of Power Law"
    figure_number = "2, 5 (right), 9"
    question = "Is the loss steeper at the start when skills follow a power law?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 20, "2 CPU cores"),
        "laptop": Scale(8, 400, "2 CPU cores"),
        "paper": Scale(3, 3e6, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        steps = {"smoke": 40, "laptop": 2000, "paper": 200_000}[scale]
        smoke = scale == "smoke"
        probe = {"name": "landscape", "checkpoints": 10 if smoke else 40, "grid": 5 if smoke else 21}
        probe["samples"] = 64 if smoke else 1024
        hops = 2 if smoke else 4
        arms = {
            name: tracking(scale, law, hops=hops, steps=steps, probes=[probe])
            for name, law in zip(TRANSFORMER, (UNIFORM, power_law(1.0)), strict=True)
        }
        # Not drawn: few points, and samples enough for a gradient that is almost nothing under uniform skills.
        toy = {**probe, "checkpoints": 5, "grid": 3, "samples": 64 if smoke else 2**16}
        d, k, length = (8, 2, 40) if smoke else (64, 4, 2000)
        for name, alpha in zip(PRODUCT, (0.0, 1.25), strict=True):
            plan, lr = {"name": "online", "batch": 256}, sampled_rate(d, k, alpha)
            arms[name] = composition(d, k, alpha, 0.5, plan, lr, length, probes=[{"name": "skill-error"}, toy])
        return arms

    def statements(self) -> list[Statement]:
        return [STEEPER, FALLS, PICTURE, TOY]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        uniform, power = (results[name] for name in TRANSFORMER)
        slope = [arm.final("landscape/slope") for arm in (uniform, power)]
        toy = [results[name].final("landscape/full-slope") for name in PRODUCT]
        return [
            STEEPER.higher(*at, slope[0], slope[1], "slope at the start, loss per distance"),
            FALLS.higher(*at, _fall(uniform), _fall(power), "fall of the loss per distance"),
            PICTURE.below(*at, power.final("landscape/off-plane"), SEEN, "off-plane error / fall of the loss"),
            TOY.higher(*at, toy[0], toy[1], "slope at the start, loss per distance"),
        ]

    def figure(self, results: Results) -> Figure:
        panels = [
            _surface(results[name], where, f"{name}: {what}")
            for where, what in (("whole", "whole way"), ("near", "near the start"))
            for name in TRANSFORMER
        ]
        plane = PLANES[_probe(results[TRANSFORMER[0]]).plane]
        return Figure(f"Training loss of one member on a plane: {plane}", panels)


def _probe(arm: Arm) -> LandscapeProbe:
    return next(probe for probe in arm.spec.probes if isinstance(probe, LandscapeProbe))


def _fall(arm: Arm) -> np.ndarray:
    """(M,) fall of the training loss between two checkpoints, per distance gone."""
    loss, moved = arm.final("landscape/loss"), arm.final("landscape/moved")
    return (loss[:, BEGINS] - loss[:, ENDS]) / moved[:, BEGINS:ENDS].sum(1)


def _surface(arm: Arm, where: str, title: str) -> Contour:
    """The first member's loss."""
    name = f"landscape/{where}"
    values = arm.final(name)[0]
    x, y = (np.linspace(arm.final(f"{name}/{a}-low")[0], arm.final(f"{name}/{a}-high")[0], len(values)) for a in "xy")
    way = np.stack([arm.final(f"landscape/{a}")[0] for a in "xy"], axis=1)
    share = " and ".join(f"{explained:.0%}" for explained in arm.final("landscape/explained")[0])
    error = f"off-plane error {arm.final('landscape/off-plane')[0]:.2f}"
    label = f"direction 1 (explained: {share}; {error})"
    return Contour(title, label, "direction 2", x, y, values, "training loss", way, 30 if where == "near" else 12)
