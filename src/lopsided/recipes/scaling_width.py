"""scaling-width: a student of m neurons stops at a plateau that falls as m^(1-2 beta).

Paper B, proposition 2.2 (the approximation bottleneck). Paper: a student of width m learns the m / log m largest
directions or more, so its loss ends at ~ m^(1-2 beta).

    lopsided run scaling-width --scale laptop

`laptop` changes: P = d = 256 directions in place of infinitely many, m = 4 ... 64, J = 4, steps of size 0.3 on the
exact gradient in float32. A tail that ends at P falls more steeply than an infinite one: each beta has a second
claim, about the slope of the finite tail at the same widths. A claim allows 20 % of the exponent.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Above,
    Arms,
    Custom,
    Figure,
    Measured,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
    decisions,
    over_members,
    slope_line,
    theory_line,
)
from lopsided.recipes._assumed import STUDENTS
from lopsided.recipes._strength import FAST, expected_loss
from lopsided.recipes._widths import WIDTHS, student
from lopsided.stats.slopes import of_points
from lopsided.theory.scaling import finite_width_exponent, power_law_weights, tail, width_exponent

BETAS = (0.75, 1.0, 1.5)
TOLERANCE = 0.2


def arms(scale: ScaleName) -> Arms:
    for beta in BETAS:
        for m in WIDTHS[scale]:
            yield arm(student(scale, m, beta, FAST, ("population-loss", "learned-count")), beta=beta, m=m)


def widths(r):
    return np.array(WIDTHS[r.scale], float)


def directions(r):
    return next(iter(r.arms.values())).setting("task.directions")


def final(r, beta):
    """(M, W) final loss at every width."""
    return np.stack([expected_loss(each)[:, -1] for each in r.where(beta=beta)], 1)


def counts(every):
    """(M, W) learned directions."""
    return np.stack([each.final("directions/count") for each in every], 1)


def plateau(beta, said, paper, exponent, number=None):
    def test(r, level):
        law, expected = of_points(widths(r), final(r, beta)), exponent(r)
        return decisions.slope_near(law, expected, TOLERANCE * abs(expected), "median final loss against m", level)

    return Statement(f"beta = {beta:g}: the plateau falls as {said}", paper, Custom(test, of={"beta": beta}), number)


def plateaus(beta):
    infinite = width_exponent(beta)
    return [
        plateau(beta, "m^(1-2 beta)", Paper(f"slope {infinite:g}", "prop. 2.2"), lambda r: infinite, infinite),
        plateau(
            beta,
            "predicted for finitely many directions",
            Paper("finite-width truncation", "§2.4"),
            lambda r: finite_width_exponent(beta, directions(r), widths(r)),
        ),
    ]


def learns_many(r):
    every = list(r.arms.values())
    m = np.array([each.setting("model.width") for each in every], float)
    return (counts(every) / (m / np.log(m))).min(1)


def figure(r: Results) -> Figure:
    m, lines = widths(r), []
    for colour, beta in enumerate(BETAS):
        values, exponent = final(r, beta), width_exponent(beta)
        lines.append(over_members(f"beta = {beta:g}", m, values, colour, "points"))
        best = tail(power_law_weights(directions(r), beta))[m.astype(int)]
        lines.append(theory_line("best possible at that width", m, best, colour, legend=colour == 0))
        through = float(m[0]), float(np.median(values[:, 0]))
        lines.append(slope_line(f"slope {exponent:g}", (m[0], m[-1]), through, exponent))
    learned = [
        over_members("learned directions", m, counts(r.where(beta=1)), 0, "points"),
        theory_line("m", m, m),
        theory_line("m / ln m", m, m / np.log(m), 1),
    ]
    one = [each.name for each in r.where(beta=1)]
    return Figure(
        "Width sets the plateau",
        [
            curves(r, "population/loss", "steps", "beta = 1", one, log_x=True, log_y=True),
            Panel("Loss at the end of training", "width m", "expected loss", lines, log_x=True, log_y=True),
            Panel("beta = 1: directions learned", "width m", "directions", learned, log_x=True, log_y=True),
        ],
    )


recipe = Recipe(
    name="scaling-width",
    paper="B",
    figure_number="proposition 2.2",
    question="How does the best loss of a student fall with its width?",
    about=__doc__,
    metric="directions/count",
    threshold=4.0,
    scales={"smoke": (2, 15), "laptop": (16, 210), "paper": (8,)},
    assumptions=STUDENTS,
    arms=arms,
    claims=[
        *(claim for beta in BETAS for claim in plateaus(beta)),
        Statement(
            "a student of width m learns more than m / ln m directions",
            Paper("Ω(m / log m) directions", "theorem 2.1"),
            Above(Measured(learns_many), 1.0, "learned / (m / ln m), the worst arm of each member"),
        ),
    ],
    figure=figure,
)
