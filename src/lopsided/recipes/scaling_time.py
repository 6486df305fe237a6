"""scaling-time: the loss falls as a power of time whose exponent the strengths decide, whatever the link.

Paper B, proposition 2.2 (a, b). Weights a_p ∝ p^-beta, link h_J. Paper: L ~ (eta t d^(1-J/2))^((1-2 beta)/beta), that
is slopes -0.67, -1 and -1.33 for beta = 0.75, 1 and 1.5, for every J >= 4.

    lopsided run scaling-time --scale laptop

`laptop` changes: P = d = 512 directions for J = 4 and 256 for J = 6 in place of infinitely many, m = 96 neurons,
steps of size 0.2 on the exact gradient in float32. The slope is that of the middle piece of a three-piece fit to the
mean log curve (`stats.slopes.segmented`); a claim allows 20 % of the predicted exponent. The last claim of each J
compares with the idealised run of the same members (every direction is learned at once at its predicted time), which
has the same finite number of directions, at the beta where they differ most.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Arms,
    Everywhere,
    Figure,
    Measured,
    Near,
    Panel,
    Paper,
    Recipe,
    ScaleName,
    SlopeNear,
    Statement,
    arm,
    over_members,
    slope_line,
    theory_line,
)
from lopsided.recipes._assumed import STUDENTS
from lopsided.recipes._strength import FAST, IDEALISED, additive, expected_loss, geometric_mean, learned_from
from lopsided.stats.slopes import each_slope, segmented
from lopsided.theory.scaling import time_exponent

BETAS = (0.75, 1.0, 1.5)
DEGREES = (4, 6)
SIZE = {"smoke": {4: 24, 6: 16}, "laptop": {4: 512, 6: 256}, "paper": {4: 2048, 6: 256}}
STEPS = {"smoke": {4: 400, 6: 800}, "laptop": {4: 12_000, 6: 30_000}, "paper": {4: 200_000, 6: 800_000}}
WIDTH = {"smoke": 8, "laptop": 96, "paper": 512}
TOLERANCE = 0.2
"""Share of the predicted exponent by which a slope may differ."""


def arms(scale: ScaleName) -> Arms:
    for degree in DEGREES:
        size = SIZE[scale][degree]
        common = {"d": size, "directions": size, "width": WIDTH[scale], "degree": degree, "lr": 0.2}
        common |= {"steps": STEPS[scale][degree], "per_decade": 30, "sigma_0": 1e-2}
        for beta in BETAS:
            at = {"J": degree, "beta": beta}
            measured = additive(beta=beta, plan=FAST, probes=("population-loss", "learned-count"), **common)
            yield arm(measured, **at, of="measured")
            yield arm(additive(beta=beta, plan=IDEALISED, probes=(), **common), **at, of="theory")


def pair(r, degree, beta):
    """The measured arm and the idealised one."""
    return [r.arm(J=degree, beta=beta, of=of) for of in ("measured", "theory")]


def law(each):
    """The power law between the first learned direction and the end of training."""
    loss = expected_loss(each)
    return segmented(each.steps, loss, (learned_from(each.steps, loss), float(each.steps[-1])))


def falls_as_predicted(degree, beta):
    exponent = time_exponent(beta)
    at = {"J": degree, "beta": beta, "of": "measured"}
    found = Measured(lambda r: law(r.arm(**at)), at)
    test = SlopeNear(found, exponent, TOLERANCE * abs(exponent), "log expected loss against steps")
    said = f"J = {degree}, beta = {beta:g}: the loss falls as time to the power (1 - 2 beta) / beta = {exponent:.3g}"
    return Statement(said, Paper(f"slope {exponent:.3g}", "proposition 2.2"), test, exponent)


def like_idealised(degree):
    def apart(beta) -> Near:
        """The difference of slopes over the exponent's size is near 0."""

        def of_size(r):
            measured, ideal = pair(r, degree, beta)
            window = law(measured).window
            both = [each_slope(each.steps, expected_loss(each), window) for each in (measured, ideal)]
            return (both[0] - both[1]) / abs(time_exponent(beta))

        at = {"J": degree, "beta": beta}
        return Near(Measured(of_size, at), 0.0, 0.1, "difference of slopes over the exponent's size")

    return Statement(
        f"J = {degree}: on the same window the slope equals that of the idealised run, within 10 % of the exponent",
        Paper("the idealised and the empirical law agree", "figure 2"),
        Everywhere({f"beta = {beta:g}": apart(beta) for beta in BETAS}),
        history="first at the beta with the largest mean difference only, now at each beta",
    )


def panel(r, degree):
    lines = []
    for colour, beta in enumerate(BETAS):
        measured, ideal = pair(r, degree, beta)
        found, mean = law(measured), geometric_mean(expected_loss(measured))
        lines.append(over_members(f"beta = {beta:g}", measured.steps, expected_loss(measured), colour))
        lines.append(theory_line("idealised", ideal.steps, geometric_mean(expected_loss(ideal)), colour, legend=False))
        middle, slope = float(np.sqrt(found.begins * found.ends)), time_exponent(beta)
        through = middle, 1.6 * float(np.interp(np.log(middle), np.log(measured.steps), mean))
        lines.append(slope_line(f"slope {slope:.2f}", (found.begins, found.ends), through, slope))
    return Panel(f"J = {degree}", "steps", "expected loss", lines, log_x=True, log_y=True)


recipe = Recipe(
    name="scaling-time",
    paper="B",
    figure_number="proposition 2.2",
    question="Do the strengths of the features decide the exponent of the scaling law?",
    about=__doc__,
    metric="directions/learned",
    threshold=0.1,
    scales={"smoke": (2, 12), "laptop": (16, 490), "paper": (8,)},
    assumptions=STUDENTS,
    arms=arms,
    claims=[
        claim
        for degree in DEGREES
        for claim in (*(falls_as_predicted(degree, beta) for beta in BETAS), like_idealised(degree))
    ],
    figure=lambda r: Figure(
        "The strengths decide the exponent (coloured dashes: idealised)", [panel(r, degree) for degree in DEGREES]
    ),
)
