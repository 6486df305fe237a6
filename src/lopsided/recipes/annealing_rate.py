"""annealing-rate: does a power law that lets its tail go as it is learned need time that grows only as d?

Paper A, theorems 1 and 2: a power law of exponent alpha learns a k-composition in time d^alpha, because its rarest
skill is the last; under uniform skills it takes d^(k/2). What follows is not in the paper. The law `self-annealed`
begins at exponent 1.5 and then takes the smallest exponent under which enough answers are right. The theory
(`lopsided.theory.annealing`) says that the skills that are not learned should have the share 1/k of the law, which is
an accuracy between 1/4 and 1/e. Here the law keeps its default, an accuracy of 0.2, the same for all k.

    lopsided run annealing-rate --scale laptop

`laptop` changes: d = 16 ... 256, where `paper` goes to 512 (both are ours). Product model, weights from scale 0.5,
gradient flow on the exact loss (float64); k = 4 also by SGD with batch 16 and d = 8 ... 64 (`paper`: to 128), where the
law listens to the accuracy of its batches. A member has learned when every weight is within one half of its sign (up to
the sign of all). Shares of the skills that are not learned are tried for k = 2 and 4 at d = 128 (`paper`: 256), by
setting the accuracy to (1 - share)^k. Scale 0.5, because from 0.3 the escape from the start, under a law that has not
moved yet, takes most of the time at k = 6, and half of it at k = 4 (LOG.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.recipe import (
    OWN,
    Ahead,
    Arm,
    Arms,
    Figure,
    Measured,
    Own,
    Panel,
    Recipe,
    Results,
    ScaleName,
    SlopeAbove,
    SlopeBelow,
    Spec,
    Statement,
    Times,
    arm,
    over_members,
    slope_line,
)
from lopsided.recipes import _composition as composition
from lopsided.recipes._frequency import UNIFORM, power_law
from lopsided.stats.slopes import difference, of_points
from lopsided.theory.annealing import best_share

ALPHA, R, BATCH = 1.5, 0.5, 16
SELF = {"name": "self-annealed", "start": ALPHA}
LAWS = {"uniform": UNIFORM, "fixed": power_law(ALPHA), "self-annealed": SELF}
FLOW, SGD = {"by": "flow"}, {"by": "SGD"}
HOPS = {"smoke": (2,), "laptop": (2, 4, 6), "paper": (2, 4, 6)}
SIZES = {"smoke": (4, 6), "laptop": (16, 32, 64, 128, 256), "paper": (16, 32, 64, 128, 256, 512)}
SAMPLED_HOPS = 4
SAMPLED_SIZES = {"smoke": (4, 6), "laptop": (8, 16, 32, 64), "paper": (8, 16, 32, 64, 128)}
SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9)
"""Mass of the skills that are not learned; 1/k is one of them for k = 2 and 4."""
SHARED = {"smoke": (2,), "laptop": (2, 4), "paper": (2, 4)}
SHARES_AT = {"smoke": 6, "laptop": 128, "paper": 256}
STEPS = {"smoke": 1000, "laptop": 10**8, "paper": 10**9}
MULTIPLE, SAMPLED_MULTIPLE = 1000.0, 8.0
EARLIEST = 10**8
"""Uniform skills, whose guess sets the time of all arms, are up to 10^4 times slower than the fastest arm at k = 6."""
TIME = "log time to learn against log d"
SCALE = "weights began at scale .3; set to .5 when rows of 32 seeds had been seen (LOG.md)"
GRID = (
    "the first evaluation was at a hundred-thousandth of the time, when most members of k = 6, and of k = 4 at d = 256,"
    " had learned; set to a hundred-millionth when rows of 32 seeds had been seen (LOG.md)"
)


def arms(scale: ScaleName) -> Arms:
    for k in HOPS[scale]:
        for d in SIZES[scale]:
            for name, law in LAWS.items():
                yield arm(flow(scale, d, k, law), **FLOW, k=k, law=name, d=d)
    for k in SHARED[scale]:
        for share in SHARES:
            law = {**SELF, "goal": (1 - share) ** k}
            yield arm(flow(scale, SHARES_AT[scale], k, law), **FLOW, k=k, share=share)
    for d in SAMPLED_SIZES[scale]:
        for name, law in LAWS.items():
            alpha = 0.0 if name == "uniform" else ALPHA  # decides the step size
            steps = 40 if scale == "smoke" else length(d)
            spec = composition.by_samples(d, SAMPLED_HOPS, alpha, BATCH, steps, skills=law)
            yield arm(spec, **SGD, k=SAMPLED_HOPS, law=name, d=d)


def flow(scale: ScaleName, d: int, k: int, law) -> Spec:
    """The guess of how long it takes is that of the slower of both fixed laws."""
    alpha = max((0.0, ALPHA), key=lambda a: composition.guess(d, k, a, R))
    return composition.by_flow(d, k, alpha, STEPS[scale], MULTIPLE, R, EARLIEST, skills=law)


def length(d: int) -> int:
    return composition.sampled_steps(d, SAMPLED_HOPS, (0.0, ALPHA), SAMPLED_MULTIPLE)


def times(each: Arm) -> np.ndarray:
    """(M,) time of the flow, or samples; infinite for members that never learned."""
    if each.coordinates["by"] == "SGD":
        return composition.steps_to_learn(each) * BATCH
    return composition.time_to_learn(each)


def censored(each: Arm) -> Times:
    """Times to learn; members that never learned are censored at the arm's budget."""
    found = times(each)
    unit = BATCH if each.coordinates["by"] == "SGD" else each.setting("optimizer.lr")
    never = ~np.isfinite(found)
    gap = np.where(composition.by_first_evaluation(each), found, 0.0)
    return Times(np.where(never, each.steps[-1] * unit, found), never, gap, interpolated=True)


def growth_in(r: Results, k: int, law: str, sizes: Sequence[int] | None = None):
    """How time grows with d; unknown where most members of a size had learned by the first evaluation."""
    arms = [r.arm(**FLOW, k=k, law=law, d=d) for d in sizes or SIZES[r.scale]]
    costs = [np.where(composition.by_first_evaluation(each), 0.0, times(each)) for each in arms]
    return of_points(np.array(sizes or SIZES[r.scale], float), np.stack(costs, axis=1))


def growth(k: int, law: str) -> Measured:
    """The law of `growth_in`, to be tested."""
    return Measured(lambda r: growth_in(r, k, law), {**FLOW, "k": k, "law": law})


def at_largest(by, k: int, slow: str, fast: str):
    sizes = SIZES if by == FLOW else SAMPLED_SIZES

    def cost(law: str) -> Measured:
        at = {**by, "k": k, "law": law}
        return Measured(lambda r: censored(r.arm(**at, d=sizes[r.scale][-1])), at)

    return Ahead(cost(fast), of=cost(slow), unit="time" if by == FLOW else "samples")


def better_share(k: int, worse: float):
    """The share of the theory against another."""

    def cost(share: float) -> Measured:
        at = {**FLOW, "k": k, "share": share}
        return Measured(lambda r: censored(r.arm(**at)), at)

    return Ahead(cost(best_share(k)), of=cost(worse), unit="time")


def gentler(k: int):
    def apart(r: Results):
        return difference(growth_in(r, k, "fixed"), growth_in(r, k, "self-annealed"))

    places = tuple({**FLOW, "k": k, "law": law} for law in ("fixed", "self-annealed"))
    return SlopeAbove(Measured(apart, places), 0.0, f"difference of exponents, {TIME}", 0.2)


def figure(r: Results) -> Figure:
    panels = []
    for k in HOPS[r.scale]:
        sizes, lines = np.array(SIZES[r.scale], float), []
        for i, law in enumerate(LAWS):
            middle = np.median([times(r.arm(**FLOW, k=k, law=law, d=d)) for d in SIZES[r.scale]], axis=1)
            lines.append(over_members(law, sizes, middle[None], i))
            lines.append(over_members(law, sizes, middle[None], i, "points", legend=False))
            if law == "self-annealed" and np.isfinite(middle[-1]):
                lines.append(slope_line("d", (sizes[0], sizes[-1]), (sizes[-1], float(middle[-1])), 1.0))
        label = "median time to learn"
        panels.append(Panel(f"k = {k}", "number of skills d", label, lines, log_x=True, log_y=True))
    lines = []
    for i, k in enumerate(SHARED[r.scale]):
        middle = np.median([times(r.arm(**FLOW, k=k, share=s)) for s in SHARES], axis=1)
        lines.append(over_members(f"k = {k}", np.array(SHARES), middle[None], i))
        lines.append(over_members(f"k = {k}", np.array(SHARES), middle[None], i, "points", legend=False))
    title = f"Which share for what is not learned? (d = {SHARES_AT[r.scale]})"
    panels.append(Panel(title, "share of the law", "median time to learn", lines, log_y=True))
    return Figure("A law that lets its tail go as it is learned (dashed: proportional to d)", panels)


recipe = Recipe(
    name="annealing-rate",
    paper="A",
    figure_number="after theorem 2",
    question="How fast is a composition learned if the power law anneals itself as its skills are learned?",
    about=__doc__,
    metric="skills/learned",
    threshold=1.0,
    scales={"smoke": (2, 40), "laptop": (32, 240), "paper": (64,)},
    arms=arms,
    shown=lambda r: [each.name for each in r.where(**FLOW) if each.coordinates.get("d") == SIZES[r.scale][-1]],
    claims=[
        *(
            Statement(
                f"k = {k}: time under the self-annealed law grows at most as d (+ .2)",
                Own("a fixed power law needs d^alpha (theorem 2), here alpha = 1.5"),
                SlopeBelow(growth(k, "self-annealed"), 1.2, TIME),
                history=SCALE if k == 2 else f"{SCALE}; {GRID}",
            )
            for k in (2, 4, 6)
        ),
        *(
            Statement(
                f"k = {k}: time grows with a smaller exponent than under the fixed power law",
                OWN,
                gentler(k),
                history=SCALE if k == 2 else f"{SCALE}; {GRID}",
            )
            for k in (2, 4, 6)
        ),
        *(
            Statement(
                f"k = {k}: at the largest d the self-annealed law takes less time than {slow}",
                OWN,
                at_largest(FLOW, k, law, "self-annealed"),
                history="" if k == 2 else GRID,
            )
            for k in (2, 4, 6)
            for law, slow in (("fixed", "the fixed power law"), ("uniform", "uniform skills"))
        ),
        *(
            Statement(
                f"k = {k}: the share 1/k = {best_share(k):g} takes less time than the share {worse:g}",
                Own("s (1 - s)^(k-1) is largest at 1/k (`theory.annealing`)"),
                better_share(k, worse),
            )
            for k, worse in ((2, 0.1), (2, 0.9), (4, 0.05), (4, 0.75))
        ),
        *(
            Statement(
                f"SGD, k = {SAMPLED_HOPS}: at the largest d the self-annealed law takes fewer samples than {slow}",
                OWN,
                at_largest(SGD, SAMPLED_HOPS, law, "self-annealed"),
            )
            for law, slow in (("fixed", "the fixed power law"), ("uniform", "uniform skills"))
        ),
    ],
    figure=figure,
)
