"""deflation: the square loss removes what is learned, so that small features find neurons; a correlation loss does not.

Paper B, section 1.1 and its slides' account of Li, Ma and Zhang (2020). The target is a sum over P directions with
strengths a_p ∝ p^-beta and a link of degree J; c_p is a neuron's overlap with direction p. Paper: with square loss
O(P log P) neurons learn all directions, however large the condition number kappa = a_1 / a_P; without the interaction
that the square loss brings, every neuron goes where a_p c_p^(J-2) is largest, and it takes e^kappa neurons to reach the
small directions.

    lopsided run deflation --scale laptop

`laptop` changes: P = 16 directions in d = 256, m = 64 neurons (P ln P = 44), J = 4, beta = 0.5 ... 2 (kappa = 4 ...
256), exact gradients in float32. Nothing in a correlation loss keeps norms from exploding, so its neurons live
on the unit sphere. A direction is found when some neuron's squared overlap with it is at least one half.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Arms,
    Figure,
    Final,
    Higher,
    Measured,
    MembersAbove,
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
from lopsided.recipes._assumed import STUDENTS
from lopsided.recipes._strength import FAST, additive
from lopsided.stats.slopes import of_points

BETAS = (0.5, 1.0, 1.5, 2.0)
SIZES = {"smoke": (24, 4, 10, 400), "laptop": (256, 16, 64, 20_000), "paper": (1024, 64, 512, 400_000)}
"""d, directions, neurons, steps."""
SQUARE, CORRELATION = "square loss", "correlation loss"
MOST = 3 / 4
"""Share of members that is asked for: with 16 members of 16 the interval begins at 0.79."""


def arms(scale: ScaleName) -> Arms:
    d, directions, width, steps = SIZES[scale]
    for beta in BETAS:
        common = {"d": d, "directions": directions, "width": width, "beta": beta, "lr": 0.1, "per_decade": 20}
        common |= {"plan": FAST, "probes": ("learned-count", "population-loss")}
        # The weakest direction is learned last, at a time proportional to 1 / a_P; both arms get it.
        common |= {"steps": steps * (3 if beta == BETAS[-1] else 1)}
        yield arm(additive(**common), loss=SQUARE, beta=beta)
        on_the_sphere = {
            "loss": "correlation",
            "model": {"name": "student", "width": width, "sigma_0": 1.0, "norm": "unit"},
            "optimizer": {"name": "spherical-sgd", "lr": 0.1},
        }
        yield arm(additive(**on_the_sphere, **common), loss=CORRELATION, beta=beta)


def found(r, loss):
    """(M, betas) share of directions found at the end."""
    return np.stack([each.final("directions/found") for each in r.where(loss=loss)], axis=1)


def kappa(r):
    """Condition numbers by beta."""
    return r.where(loss=SQUARE)[0].setting("task.directions") ** np.array(BETAS)


def learns_all(r):
    """(M,) whether a member learns all directions at every beta."""
    return np.min([each.final("directions/learned") for each in r.where(loss=SQUARE)], 0) >= 1


def share_found(loss) -> Final:
    """Share of directions found at beta = 1."""
    return Final({"loss": loss, "beta": 1}, "directions/found")


def figure(r: Results) -> Figure:
    lines = [over_members(loss, kappa(r), found(r, loss), i, "points") for i, loss in enumerate((SQUARE, CORRELATION))]
    shown = [each.name for each in r.where(beta=lambda beta: beta in (1, 2))]
    x_label, y_label = "condition number a_1 / a_P", "share of directions found"
    return Figure(
        "Who finds the weak features?",
        [
            Panel("At the end of training", x_label, y_label, lines, log_x=True),
            curves(r, "directions/found", "steps", "During training", shown, log_x=True),
        ],
    )


recipe = Recipe(
    name="deflation",
    paper="B",
    figure_number="section 1.1",
    question="Do strong features take the neurons that weak features need?",
    about=__doc__,
    metric="directions/found",
    threshold=0.999,
    scales={"smoke": (2, 8), "laptop": (16, 80), "paper": (16,)},
    assumptions=STUDENTS,
    arms=arms,
    claims=[
        Statement(
            "square loss: more than three quarters of members learn all directions at every condition number",
            Paper("all", "theorem 2.1"),
            MembersAbove(
                Measured(learns_all, {"loss": SQUARE}, level_of="directions/learned"),
                MOST,
                "that learn all directions at every beta",
            ),
        ),
        Statement(
            "at beta = 1 a correlation loss finds fewer directions than the square loss",
            Paper("large ones attract"),
            Higher(
                share_found(SQUARE), share_found(CORRELATION), "share of directions found, square against correlation"
            ),
        ),
        Statement(
            "with a correlation loss the share of directions found falls as the condition number grows",
            Paper("e^kappa neurons needed", "§1.1, LMZ20"),
            SlopeBelow(
                Measured(lambda r: of_points(kappa(r), found(r, CORRELATION), np.mean)),
                0.0,
                "log mean share of directions found against kappa",
            ),
        ),
    ],
    figure=figure,
)
