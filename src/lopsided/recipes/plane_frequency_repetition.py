"""plane-frequency-repetition: does the best amount of repetition depend on how lopsided the skills are?

Paper A varies the law of the skills and always draws fresh samples; paper C varies how often samples are repeated and
has no skills. Here both vary: exponents 0 ... 2 of the law that a set is drawn by, and 64 ... 16,384 distinct samples,
or fresh ones. A steep law shows its rarest skill seldom, so that a small set may not hold it at all.

    lopsided run plane-frequency-repetition --scale laptop

k-composition with 4 of 40 skills, the product model, SGD with batch 16 and four times the step that theory calls
stable, which depends on the exponent. A member has learned when every weight is within one half of its sign; what it
costs is the number of samples seen. Also: a set that grows (256 samples for 1,000 steps, then fresh ones) at every
exponent, and the law that anneals itself (fresh samples only: a set is drawn once, by one law). `laptop` changes: 40
skills and 32 seeds, where `paper` has 128 and 64 (both are ours).
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    FIVE_POINTS,
    Ahead,
    Arm,
    Arms,
    Figure,
    Final,
    Heat,
    Higher,
    Measured,
    NotAhead,
    Own,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Spec,
    Statement,
    Times,
    arm,
    over_members,
)
from lopsided.recipes import _composition as composition
from lopsided.recipes._frequency import UNIFORM, power_law

HOPS, BATCH, MULTIPLE = 4, 16, 10.0
SKILLS = {"smoke": 6, "laptop": 40, "paper": 128}
ALPHAS = {"smoke": (0.0, 1.0, 2.0), "laptop": tuple(round(0.2 * i, 1) for i in range(11))}
SIZES = {"smoke": (64, 512), "laptop": tuple(2**i for i in range(6, 15))}
ALPHAS["paper"], SIZES["paper"] = ALPHAS["laptop"], SIZES["laptop"]
GROWS = ((256, 1000), (2**30, None))
"""Samples and steps of the set that grows; the second set is never used up."""
START = 1.4
"""Exponent at which the law that anneals itself begins."""
FRESH, GROWING, SELF = "fresh", "growing", "self-annealed"
FEW = 512
"""Distinct samples of the claims about repetition."""
FEWER = 256
NOT_PUBLISHED = Own("each paper holds the other's axis fixed")
SEEN = "written after 16 seeds with 32 skills had been seen; this has 40"


def arms(scale: ScaleName) -> Arms:
    d = SKILLS[scale]
    steps = 40 if scale == "smoke" else composition.sampled_steps(d, HOPS, (0.8, 1.2), MULTIPLE)
    for a in ALPHAS[scale]:
        for size in SIZES[scale]:
            yield arm(spec(d, a, {"name": "fixed", "size": size, "batch": BATCH}, steps), alpha=a, data=size)
        yield arm(spec(d, a, {"name": "online", "batch": BATCH}, steps), alpha=a, data=FRESH)
        (few, first), (many, _) = GROWS
        first = min(first, steps // 2)
        phases = [{"size": few, "steps": first}, {"size": many, "steps": steps - first}]
        yield arm(spec(d, a, {"name": "phases", "batch": BATCH, "phases": phases}, steps), alpha=a, data=GROWING)
    law = {"name": "self-annealed", "start": START}
    yield arm(spec(d, START, {"name": "online", "batch": BATCH}, steps, law), law=SELF, data=FRESH)


def spec(d: int, alpha: float, plan, steps: int, law=None) -> Spec:
    rate = composition.sampled_rate(d, HOPS, alpha)
    skills = law or (power_law(alpha) if alpha else UNIFORM)
    return composition.composition(d, HOPS, alpha, composition.SAMPLED_R, plan, rate, steps, skills=skills)


def times(each: Arm) -> Times:
    """Samples seen until every skill is learned, censored at the arm's budget."""
    found = composition.steps_to_learn(each)
    never = ~np.isfinite(found)
    return Times(np.where(never, each.steps[-1], found) * BATCH, never)


def at(**where) -> Measured:
    """Samples to learn of the arm at these coordinates."""
    return Measured(lambda r: times(r.arm(**where)), where)


def needs_fewer(fast, of, at_least: float = 1.0):
    """The first of two (exponent, data) needs fewer samples."""
    quick, slow = (at(alpha=alpha, data=data) for alpha, data in (fast, of))
    return Ahead(quick, of=slow, unit="samples", at_least=at_least)


def missed(alpha: float) -> Measured:
    """(M,) share of skills that few samples leave out at an exponent."""

    def share(r):
        fresh, few = (r.arm(alpha=alpha, data=data).final("skills/learned") for data in (FRESH, FEW))
        return fresh - few

    return Measured(share, tuple({"alpha": alpha, "data": data} for data in (FRESH, FEW)), level_of="skills/learned")


def learns_more(high: float, low: float):
    ends = (Final({"alpha": alpha, "data": FEWER}, "skills/learned") for alpha in (high, low))
    return Higher(*ends, what="share of skills learned", small=FIVE_POINTS)


def figure(r: Results) -> Figure:
    alphas, columns = ALPHAS[r.scale], [*SIZES[r.scale], FRESH, GROWING]
    cells = [[times(r.arm(alpha=a, data=data)) for data in columns] for a in alphas]
    cost = np.array([[each.median for each in row] for row in cells])
    learned = np.array([[1 - each.censored.mean() for each in row] for row in cells])
    known = np.log10(np.where(np.isfinite(cost), cost, np.nan))
    low, high = (float(f(known)) if np.isfinite(known).any() else 0.0 for f in (np.nanmin, np.nanmax))
    row, column = divmod(int(np.argmin(cost)), cost.shape[1])
    ticks = [f"{each:,}" if isinstance(each, int) else each for each in columns], [f"{a:g}" for a in alphas]
    labels = "distinct samples", "exponent of the skills' law"
    lines = []
    for i, a in enumerate(alphas[:: max(1, len(alphas) // 5)]):
        fresh = times(r.arm(alpha=a, data=FRESH)).median
        few = np.array([times(r.arm(alpha=a, data=size)).median for size in SIZES[r.scale]])
        ratio = np.where(np.isfinite(few), few, np.nan) / fresh
        lines.append(over_members(f"exponent {a:g}", np.array(SIZES[r.scale], float), ratio[None], i))
    title = "Few distinct samples against fresh ones"
    price = Panel(title, "distinct samples", "samples to learn / those of fresh data", lines, log_x=True, log_y=True)
    panels = [
        Heat(
            "Median samples to learn (white: never)",
            *labels,
            known,
            "log₁₀ samples",
            low,
            high,
            *ticks,
            mark=(row, column),
        ),
        Heat("Share of members that learned", *labels, learned, "share", 0.0, 1.0, *ticks),
        price,
    ]
    return Figure("How many distinct samples a law needs depends on its exponent", panels)


recipe = Recipe(
    name="plane-frequency-repetition",
    paper="A and C",
    figure_number="not in the papers",
    question="Does the best amount of repetition depend on how lopsided the skills are?",
    about=__doc__,
    metric="skills/learned",
    threshold=1.0,
    scales={"smoke": (2, 40), "laptop": (32, 400), "paper": (64,)},
    arms=arms,
    claims=[
        Statement(
            "512 distinct samples leave more skills out under exponent 2 than under exponent 1: both axes interact",
            NOT_PUBLISHED,
            Higher(missed(2.0), missed(1.0), "share of skills that only fresh samples teach", FIVE_POINTS),
            history=f"{SEEN}; first a ratio of times, which 32 seeds could not tell, as none learned at exponent 2",
        ),
        Statement(
            "under exponent 1, fresh samples are not ahead of 512 repeated ones by more than 25 %",
            NOT_PUBLISHED,
            NotAhead(at(alpha=1.0, data=FRESH), of=at(alpha=1.0, data=FEW), unit="samples"),
            history=SEEN,
        ),
        Statement(
            "under exponent 2, fresh samples are ahead of 512 repeated ones",
            NOT_PUBLISHED,
            needs_fewer((2.0, FRESH), of=(2.0, FEW)),
            history=SEEN,
        ),
        Statement(
            "256 distinct samples teach more skills under exponent 1 than under uniform skills",
            NOT_PUBLISHED,
            learns_more(1.0, 0.0),
            history=SEEN,
        ),
        Statement(
            "… and more than under exponent 2",
            NOT_PUBLISHED,
            learns_more(1.0, 2.0),
            history=SEEN,
        ),
        Statement(
            "both together beat repetition alone: 512 samples under exponent 1 against 512 under uniform skills",
            NOT_PUBLISHED,
            needs_fewer((1.0, FEW), of=(0.0, FEW)),
            history=SEEN,
        ),
        Statement(
            "both together beat frequency alone: 512 samples under exponent 1 against fresh ones",
            NOT_PUBLISHED,
            needs_fewer((1.0, FEW), of=(1.0, FRESH)),
            history=SEEN,
        ),
        Statement(
            "under exponent 1, a set that grows needs fewer samples than fresh data",
            Paper("a small set first is faster (paper C, without skills)"),
            needs_fewer((1.0, GROWING), of=(1.0, FRESH)),
            history=SEEN,
        ),
        Statement(
            "under uniform skills, a set that grows needs fewer samples than fresh data",
            Paper("a small set first is faster (paper C, without skills)"),
            needs_fewer((0.0, GROWING), of=(0.0, FRESH)),
            history=SEEN,
        ),
        Statement(
            "the law that anneals itself, from exponent 1.4, needs fewer samples than exponent 1, both on fresh data",
            NOT_PUBLISHED,
            Ahead(at(law=SELF, data=FRESH), of=at(alpha=1.0, data=FRESH), unit="samples"),
            history=SEEN,
        ),
    ],
    figure=figure,
)
