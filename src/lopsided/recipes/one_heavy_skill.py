"""one-heavy-skill: is it the power law that teaches a composition, or that skills are not all alike?

Paper A, theorems 1 and 2: under uniform skills a k-composition of d skills takes a time d^(k/2), under a power law of
exponent alpha d^alpha, because the asymmetry breaks the symmetry of the start, and the rarest skill comes last. What
follows is not in the paper. A law with two levels, *one* skill of share s and all others alike, is as asymmetric as can
be and has no rare skill: the escape from the start does not depend on d, and then the d - 1 others are learned side by
side, in a time proportional to d, without any schedule (`lopsided.theory.annealing.heavy_time`). The others are learned
fastest, at any instant, if they have the share 1/k, so that s = 1 - 1/k.

    lopsided run one-heavy-skill --scale laptop

Product model, weights from scale 0.5, gradient flow on the exact loss (float64), d = 32 ... 256 (`laptop`; `paper`,
which is ours, too: to 512); k = 4 also by SGD with batch 16, d = 8 ... 64 (`paper`: to 128), every law with the step
size of the power law. A member has learned when every weight is within one half of its sign. The power law has
exponent 1.5, the self-annealed law begins there; both share their rows with `annealing-rate`.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    OWN,
    Ahead,
    Arms,
    Figure,
    Measured,
    Near,
    Own,
    Panel,
    Recipe,
    Results,
    ScaleName,
    SlopeBelow,
    Statement,
    arm,
    over_members,
    slope_line,
)
from lopsided.recipes import _composition as composition
from lopsided.recipes._frequency import power_law
from lopsided.recipes.annealing_rate import (
    ALPHA,
    BATCH,
    FLOW,
    GRID,
    SAMPLED_HOPS,
    SAMPLED_SIZES,
    SELF,
    SGD,
    TIME,
    R,
    censored,
    flow,
    growth_in,
    length,
    times,
)
from lopsided.theory.annealing import heavy_time

HOPS = {"smoke": (2,), "laptop": (2, 4, 6), "paper": (2, 4, 6)}
SIZES = {"smoke": (4, 6), "laptop": (32, 64, 128, 256), "paper": (32, 64, 128, 256, 512)}
TRIED_AT = {"smoke": (2, 6), "laptop": (4, 128), "paper": (4, 256)}
"""k and d at which masses and numbers of heavy skills are tried."""
MASSES = (0.2, 0.4, 0.6, 0.75, 0.9, 0.95)
NUMBERS = (1, 2, 4, 8)
ALIKE = 2
"""Hops at which starts are alike, so that the theory of several heavy skills can be tried."""
EXTENDED = "the theory was extended to several heavy skills on 2026-11-28, after rows of k = 4 had been seen"
RIVALS = {"power law": power_law(ALPHA), "self-annealed": SELF}


def heavy(d: int, mass: float, number: int = 1):
    """`number` of d skills have the mass."""
    return {"name": "two-level", "heavy": number / d, "mass": mass}


def best_mass(k: int) -> float:
    """1 - 1/k."""
    return 1 - 1 / k


def arms(scale: ScaleName) -> Arms:
    for k in HOPS[scale]:
        for d in SIZES[scale]:
            for law, skills in {"one heavy": heavy(d, best_mass(k)), **RIVALS}.items():
                yield arm(flow(scale, d, k, skills), **FLOW, k=k, law=law, d=d)
    k, d = TRIED_AT[scale]
    for mass in MASSES:
        yield arm(flow(scale, d, k, heavy(d, mass)), **FLOW, k=k, mass=mass)
    for number in NUMBERS[: 2 if scale == "smoke" else None]:
        yield arm(flow(scale, d, k, heavy(d, best_mass(k), number)), **FLOW, k=k, number=number)
    if scale != "smoke":  # where they are the same
        for number in NUMBERS[1:]:
            yield arm(flow(scale, d, ALIKE, heavy(d, best_mass(ALIKE), number)), **FLOW, k=ALIKE, number=number)
    for d in SAMPLED_SIZES[scale]:
        for law, skills in {"one heavy": heavy(d, best_mass(SAMPLED_HOPS)), **RIVALS}.items():
            steps = 40 if scale == "smoke" else length(d)
            spec = composition.by_samples(d, SAMPLED_HOPS, ALPHA, BATCH, steps, skills=skills)
            yield arm(spec, **SGD, k=SAMPLED_HOPS, law=law, d=d)


def growth(k: int) -> Measured:
    """How time grows with d under one heavy skill."""
    at = {**FLOW, "k": k, "law": "one heavy"}
    return Measured(lambda r: growth_in(r, k, "one heavy", SIZES[r.scale]), at)


def at_largest(by, k: int, slow: str):
    """One heavy skill against another law, at the largest d."""
    sizes = SIZES if by == FLOW else SAMPLED_SIZES

    def cost(law: str) -> Measured:
        at = {**by, "k": k, "law": law}
        return Measured(lambda r: censored(r.arm(**at, d=sizes[r.scale][-1])), at)

    return Ahead(cost("one heavy"), of=cost(slow), unit="time" if by == FLOW else "samples")


def tried(better, worse):
    """One mass or number against another."""

    def cost(place) -> Measured:
        return Measured(lambda r: censored(r.arm(**FLOW, **place)), {**FLOW, **place})

    return Ahead(cost(better), of=cost(worse), unit="time")


def against_theory(k: int, number: int = 1):
    """Measured over predicted time: of one heavy skill at the largest d, of several at the d where numbers are
    tried."""
    at = {**FLOW, "k": k, **({"law": "one heavy"} if number == 1 else {"number": number})}

    def ratio(r: Results):
        d = SIZES[r.scale][-1] if number == 1 else TRIED_AT[r.scale][1]
        measured = times(r.arm(**at, d=d) if number == 1 else r.arm(**at))
        return measured / heavy_time(d, best_mass(k), k, R, number)

    return Near(Measured(ratio, at), 1.0, 0.25, "measured over predicted time", ratio=True)


def figure(r: Results) -> Figure:
    panels = []
    for k in HOPS[r.scale]:
        sizes, lines = np.array(SIZES[r.scale], float), []
        for i, law in enumerate(("one heavy", *RIVALS)):
            middle = np.median([times(r.arm(**FLOW, k=k, law=law, d=d)) for d in SIZES[r.scale]], axis=1)
            lines.append(over_members(law, sizes, middle[None], i))
            lines.append(over_members(law, sizes, middle[None], i, "points", legend=False))
            if law == "one heavy" and np.isfinite(middle[-1]):
                lines.append(slope_line("d", (sizes[0], sizes[-1]), (sizes[-1], float(middle[-1])), 1.0))
        label = "median time to learn"
        panels.append(Panel(f"k = {k}", "number of skills d", label, lines, log_x=True, log_y=True))
    k, d = TRIED_AT[r.scale]
    middle = np.median([times(r.arm(**FLOW, k=k, mass=mass)) for mass in MASSES], axis=1)
    predicted = np.array([heavy_time(d, mass, k, R) for mass in MASSES])
    lines = [
        over_members("measured", np.array(MASSES), middle[None], 0),
        over_members("measured", np.array(MASSES), middle[None], 0, "points", legend=False),
        over_members("theory", np.array(MASSES), predicted[None], 1),
    ]
    panels.append(Panel(f"k = {k}, d = {d}", "share of the heavy skill", "median time to learn", lines, log_y=True))
    numbers = NUMBERS[: 2 if r.scale == "smoke" else None]
    middle = np.median([times(r.arm(**FLOW, k=k, number=number)) for number in numbers], axis=1)
    predicted = np.array([heavy_time(d, best_mass(k), k, R, number) for number in numbers])
    lines = [
        over_members("measured", np.array(numbers), middle[None], 0),
        over_members("measured", np.array(numbers), middle[None], 0, "points", legend=False),
        over_members("theory", np.array(numbers), predicted[None], 1),
    ]
    said = f"number of heavy skills, {best_mass(k):g} together"
    panels.append(Panel(f"k = {k}, d = {d}", said, "median time to learn", lines, log_x=True, log_y=True))
    return Figure("One heavy skill, all others alike (dashed: proportional to d)", panels)


recipe = Recipe(
    name="one-heavy-skill",
    paper="A",
    figure_number="after theorem 2",
    question="Does a composition need a power law, or only one skill that is not like the others?",
    about=__doc__,
    metric="skills/learned",
    threshold=1.0,
    scales={"smoke": (2, 30), "laptop": (32, 240), "paper": (64,)},
    arms=arms,
    shown=lambda r: [each.name for each in r.where(**FLOW) if each.coordinates.get("d") == SIZES[r.scale][-1]],
    claims=[
        *(
            Statement(
                f"k = {k}: time under one heavy skill of share 1 - 1/k grows at most as d (+ .2)",
                Own("a power law needs d^alpha, uniform skills d^(k/2) (theorems 1 and 2)"),
                SlopeBelow(growth(k), 1.2, TIME),
                history="" if k == 2 else GRID,
            )
            for k in (2, 4, 6)
        ),
        *(
            Statement(
                f"k = {k}: at the largest d it takes less time than {said}",
                OWN,
                at_largest(FLOW, k, law),
                history="" if k == 2 else GRID,
            )
            for k in (2, 4, 6)
            for law, said in (("power law", "the power law"), ("self-annealed", "the self-annealed law"))
        ),
        *(
            Statement(
                f"k = 4: the share 1 - 1/k = 0.75 takes less time than the share {worse:g}",
                Own("s^(k-1) (1 - s) is largest at 1 - 1/k (`theory.annealing`)"),
                tried({"k": 4, "mass": 0.75}, {"k": 4, "mass": worse}),
            )
            for worse in (0.2, 0.95)
        ),
        Statement(
            "k = 4: one heavy skill takes less time than eight that have its share together",
            OWN,
            tried({"k": 4, "number": 1}, {"k": 4, "number": 8}),
        ),
        *(
            Statement(
                f"k = {k}: the time at the largest d is that of the theory within a quarter",
                Own("the mean and the spread of both levels (`theory.annealing.heavy_time`)"),
                against_theory(k),
                history="" if k == 2 else GRID,
            )
            for k in (2, 4)
        ),
        *(
            Statement(
                f"k = {k}: with {number} heavy skills the time is that of the theory within a quarter, too",
                Own("the mean and the spread of both levels (`theory.annealing.heavy_time`)"),
                against_theory(k, number),
                history=EXTENDED if k == 4 else "",
            )
            for k, number in ((2, 2), (2, 8), (4, 2))
        ),
        *(
            Statement(
                f"SGD, k = {SAMPLED_HOPS}: at the largest d one heavy skill takes fewer samples than {said}",
                OWN,
                at_largest(SGD, SAMPLED_HOPS, law),
            )
            for law, said in (("power law", "the power law"), ("self-annealed", "the self-annealed law"))
        ),
    ],
    figure=figure,
)
