"""strength-variants: how few neurons, how heavy a tail and which links the theory of sharp steps bears.

Paper B, remarks without figures. Theorem 2.1 asks for m of about P log P neurons for P directions, with a link of one
degree or a mixture of even degrees, whose lowest counts. Where beta < 1/2 the theorem applies, but a student has to be
about as wide as its teacher. Lemma 3.1: how close an entry of the selection matrix comes to its rivals, at least, with
high probability.

    lopsided run strength-variants --scale laptop

`laptop` changes: P = 16 directions in d = 2,048, 8 to 64 neurons (P ln P = 44), gradient flow. A direction is learned
when its strength is above one half. The lemma's bounds are read without their constants: delta / (m P^2) for rivals in
a row, delta / (m^2 P) in a column, delta / (m P)^2 for all that are left, with delta = 1/4.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Arms,
    Below,
    Figure,
    Final,
    Higher,
    Measured,
    MembersAbove,
    Own,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    over_members,
)
from lopsided.recipes._assumed import STUDENTS
from lopsided.recipes._strength import (
    FLOW,
    IDEALISED,
    additive,
    apart,
    learned_at,
    predicted,
    relative_error,
)

SIZES = {"smoke": (32, 4), "laptop": (2048, 16), "paper": (16_384, 64)}
"""d, P."""
HEAVY = 0.4
"""A beta below one half."""
MIXTURE = {"4": 0.8, "6": 0.6}
"""Coefficients by degree, whose squares add up to 1. Degree 4 predicts alone, though it has not all of the weight."""
MOST = 3 / 4
"""A claim asks that more than this share of the members (the repetitions with other seeds) do something. It has to lie
below 0.79, where the interval begins when 16 of 16 do."""
DELTA = 1 / 4
"""Probability that paper B's lemma 3.1 allows for some gap to be narrower than its bound, so that a share of `MOST` =
1 - `DELTA` of members have none that is."""
FLOWS, THEORY = {"of": "gradient flow"}, {"of": "theory"}
AS_MANY, ENOUGH, TWICE, FOUR, HALF = ({"neurons": words} for words in ("P", "P ln P", "2 P", "4 P", "P / 2"))
PLAIN, FLAT, MIXED = {"target": "beta = 1"}, {"target": f"beta = {HEAVY}"}, {"target": "beta = 1, degrees 4 and 6"}
TIMED = (FLAT | FOUR, MIXED | FOUR)
"""Arms whose claims read the time at which each direction is learned, so that its curve is stored. Of the other arms
only the share of directions learned is: with all curves the published file has three times the size."""


def widths(directions: int) -> dict[str, int]:
    """Numbers of neurons by their words."""
    enough = round(directions * np.log(directions))
    return {"P / 2": directions // 2, "P": directions, "2 P": 2 * directions, "P ln P": enough, "4 P": 4 * directions}


def arms(scale: ScaleName) -> Arms:
    d, directions = SIZES[scale]
    wide = widths(directions)
    for at, beta, mixed in (
        *((PLAIN | each, 1.0, False) for each in (HALF, AS_MANY, TWICE, ENOUGH, FOUR)),
        *((FLAT | each, HEAVY, False) for each in (HALF, FOUR)),
        (MIXED | FOUR, 1.0, True),
    ):
        width = wide[at["neurons"]]
        common = {"d": directions + width, "ambient": d, "directions": directions, "width": width, "beta": beta}
        # Length and evaluations are those of `emergence`, where times are predicted to a percent.
        common |= {"lr": 0.1, "steps": 12 * d + 800, "per_decade": 60, "link": MIXTURE if mixed else None}
        probes = ("directions" if at in TIMED else "learned-count", "population-loss")
        yield arm(additive(plan=FLOW, probes=probes, **common), **FLOWS, **at)
        yield arm(additive(plan=IDEALISED, probes=(), **common), **THEORY, **at)


def learned(at) -> Final:
    """Reading of the share of the teacher's directions that some neuron has learned by the end of training."""
    return Final(FLOWS | at, "directions/learned")


def all_learned(at) -> Measured:
    """Reading of (M,) booleans: whether a member has learned all of the teacher's directions by the end."""
    return Measured(
        lambda r: r.arm(**FLOWS, **at).final("directions/learned") >= 1, FLOWS | at, level_of="directions/learned"
    )


def off(at) -> Measured:
    """A member's median relative error of the predicted times."""

    def error(r):
        return relative_error(learned_at(r.arm(**FLOWS, **at)), predicted(r.arm(**THEORY, **at)))

    return Measured(error, (FLOWS | at, THEORY | at), grid=lambda r: apart(r.arm(**FLOWS, **at)))


def left(at) -> Measured:
    """Loss that is left at the end."""
    return Measured(lambda r: r.arm(**FLOWS, **at).final("population/loss"), FLOWS | at)


def bounds(neurons: int, directions: int) -> dict[str, float]:
    """Lemma 3.1's, without constants, by the kind of rival."""
    m, p = neurons, directions
    return {"row": DELTA / (m * p**2), "column": DELTA / (m**2 * p), "threshold": DELTA / (m * p) ** 2}


def as_wide(at) -> Measured:
    """Whether all of a member's gaps are as wide as lemma 3.1 says."""

    def all_wide(r):
        ideal = r.arm(**THEORY, **at)
        limits = bounds(ideal.setting("model.width"), ideal.setting("task.directions"))
        return np.min([ideal.final(f"gap/{kind}") >= limit for kind, limit in limits.items()], axis=0)

    return Measured(all_wide, THEORY | at)


def figure(r: Results) -> Figure:
    shares, gaps = [], []
    plain = r.where(**FLOWS, **PLAIN)
    neurons = np.array([float(each.setting("model.width")) for each in plain])
    found = np.stack([each.final("directions/learned") for each in plain], axis=1)
    shares.append(over_members("beta = 1", neurons, found, 0, "points"))
    for i, kind in enumerate(("row", "column", "threshold")):
        smallest = np.stack([each.final(f"gap/{kind}") for each in r.where(**THEORY, **PLAIN)], axis=1)
        gaps.append(over_members(kind, neurons, smallest, i, "points"))
    losses = [
        over_members(each.name, each.steps, np.maximum(each.metric("population/loss"), 1e-5), i)
        for i, each in enumerate(r.where(**FLOWS, **HALF))
    ]
    return Figure(
        "Few neurons, a heavy tail, a mixed link",
        [
            Panel("All directions need more than P neurons", "neurons", "share of directions learned", shares),
            Panel("How close rivals come", "neurons", "smallest gap of a member", gaps, log_x=True, log_y=True),
            Panel("P / 2 neurons", "steps", "expected loss", losses, log_x=True, log_y=True),
        ],
    )


recipe = Recipe(
    name="strength-variants",
    paper="B",
    figure_number="none: theorem 2.1, lemma 3.1",
    question="How few neurons are enough, and does the theory bear a heavy tail or a mixed link?",
    about=__doc__,
    metric="directions/learned",
    threshold=0.999,
    scales={"smoke": (2, 10), "laptop": (16, 240), "paper": (16,)},
    assumptions=STUDENTS,
    arms=arms,
    claims=[
        Statement(
            "with P ln P neurons more than three quarters of members learn all directions",
            Paper("P log P neurons", "theorem 2.1"),
            MembersAbove(all_learned(PLAIN | ENOUGH), MOST, "that learn all directions"),
        ),
        Statement(
            "with P neurons fewer directions are learned",
            Own("the theorem asks for P log P, and does not say that fewer fail"),
            Higher(learned(PLAIN | ENOUGH), learned(PLAIN | AS_MANY), "share of directions learned, P ln P against P"),
        ),
        Statement(
            f"beta = {HEAVY}: the median direction is learned within 10 % of its predicted time",
            Paper("the theorem applies", "§2, heavy-tailed regime"),
            Below(off(FLAT | FOUR), 0.1, "relative error", ratio=True),
        ),
        Statement(
            f"P / 2 neurons leave more of the loss at beta = {HEAVY} than at 1",
            Paper("a student about as wide as its teacher", "§2, heavy-tailed regime"),
            Higher(left(FLAT | HALF), left(PLAIN | HALF), f"loss left, beta = {HEAVY} against 1"),
        ),
        Statement(
            "degrees 4 and 6: the median direction is learned within 10 % of the time that degree 4 predicts",
            Paper("the information exponent decides", "§2"),
            Below(off(MIXED | FOUR), 0.1, "relative error", ratio=True),
        ),
        Statement(
            "with 4 P neurons more than three quarters of members have all gaps as wide as the lemma says",
            Paper("with high probability, up to constants", "lemma 3.1"),
            MembersAbove(as_wide(PLAIN | FOUR), MOST, "with all gaps above the bounds"),
        ),
    ],
    figure=figure,
)
