"""two-phase-theory: a small first set grows the outer weight as 1 / sqrt(N), and that is what speeds learning up.

Paper C, theorem 1, corollary 2, theorem 3: one quadratic neuron on 2-sparse parity, phase 1 on N fixed samples until
the outer weight reaches a*, phase 2 on the exact population. Paper: phase 1 takes of order a* sqrt(N) / eta steps, both
together (N d)^(1/4) up to logarithms, fewer than training on the population directly once m >> d²; with random labels
in phase 1, sqrt(N / d) + sqrt(d) log d; all with constant probability over neurons.

    lopsided run two-phase-theory --scale laptop

`laptop` changes: none of substance; eta = 0.05, d = 32, 64, 128, N = d ... d², 640 neurons per setting, epsilon = 0.1.
a* = 2 (N d)^(-1/4), 1 / (2 sqrt(d)) with random labels, and 0.05 where a claim calls it fixed; logarithms are divided
out as log(16 d / epsilon). The theorems bound from above, and so do the claims about how steps grow, but for that of
phase 1 at fixed a*, whose slope has to be the bound's within 20 %.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from lopsided.core.spec import Spec
from lopsided.recipe import (
    Above,
    Ahead,
    Arms,
    Figure,
    Measured,
    MembersAbove,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    SlopeBelow,
    SlopeNear,
    Statement,
    Times,
    arm,
    over_members,
    slope_line,
    theory_line,
)
from lopsided.recipes._assumed import THEORY_SIZES
from lopsided.stats.slopes import of_points
from lopsided.theory import two_phase as theory_of

ETA, EPSILON, C_0 = 0.05, 0.1, sqrt(3 / 8)
FIXED_A_STAR = 0.05
DIMENSIONS = {"smoke": (8, 16), "laptop": (32, 64, 128), "paper": (32, 64, 128, 256, 512)}
MIDDLE = {"smoke": 8, "laptop": 64, "paper": 256}
SIZES = {"smoke": (1, 8), "laptop": (1, 4, 16, 0), "paper": (1, 4, 16, 64, 0)}
"""N / d; 0 stands for N = d²."""
WIDTHS = {"smoke": (1, 16), "laptop": (1, 4, 16, 64, 256), "paper": (1, 4, 16, 64, 256, 1024)}
"""m / d²."""
NEVER = 1e12
STEPS = {"smoke": 400, "laptop": 2000, "paper": 8000}
FIXED, BEST, RANDOM, ALONE, TWO = (
    {"start": s} for s in ("fixed a*", "best a*", "random labels", "population alone", "two phases")
)
OF_TOTAL = "log steps / log(16 d / ε) against N d"


def spec(scale, d, size, a_star, labels="true", width=64):
    plan = {"name": "two-phase", "size": size, "a_star": round(a_star, 6), "labels": labels, "epsilon": EPSILON}
    return Spec.parse(
        {
            "task": {"name": "sparse-parity", "d": d, "k": 2},
            "model": {"name": "quadratic-neuron", "m": float(width) * d * d},
            "plan": plan,
            "optimizer": {"name": "sgd", "lr": ETA},
            "loss": "correlation",
            "steps": STEPS[scale],
            "evaluation": {"every": STEPS[scale] // 2, "samples": 1},
        }
    )


def arms(scale: ScaleName) -> Arms:
    def sizes(d):
        return dict.fromkeys(n * d if n else d * d for n in SIZES[scale])

    middle = MIDDLE[scale]
    for n in sizes(middle):
        yield arm(spec(scale, middle, n, FIXED_A_STAR), **FIXED, d=middle, N=n)
    for d in DIMENSIONS[scale]:
        for n in sizes(d):
            yield arm(spec(scale, d, n, theory_of.best_a_star(n, d, 2.0)), **BEST, d=d, N=n)
    for d in DIMENSIONS[scale]:
        yield arm(spec(scale, d, d, theory_of.random_a_star(d, 0.5), "random"), **RANDOM, d=d, N=d)
    for w in WIDTHS[scale]:
        yield arm(spec(scale, middle, middle, 0.0, width=w), **ALONE, d=middle, **{"m / d²": w})
    two = spec(scale, middle, middle, theory_of.best_a_star(middle, middle, 2.0), width=16)
    yield arm(two, **TWO, d=middle, **{"m / d²": 16})


def settings(every, path):
    return np.array([float(each.setting(path)) for each in every])


def stacked(of, every):
    """(M, N) a number of every member, by arm."""
    return np.stack([of(each) for each in every], axis=1)


def first(each):
    """(M,) steps of phase 1, infinite for neurons that never got there."""
    return np.nan_to_num(each.final("two-phase/first"), nan=np.inf)


def total(each):
    """(M,) steps of both phases, infinite for neurons that never got there."""
    return np.nan_to_num(each.final("two-phase/total"), nan=np.inf)


def without_logarithm(each):
    return total(each) / log(16 * each.setting("task.d") / EPSILON)


def times(each):
    steps = total(each)
    return Times(np.where(np.isinf(steps), float(each.spec.steps), steps), np.isinf(steps))


def good(each):
    """(M,) 1 for neurons on the good event: sign a_0 = sign q_0 and |q_0| sqrt(N) >= c_0."""
    return ((each.final("two-phase/aligned") > 0) & (each.final("two-phase/q-0") >= C_0)).astype(float)


def late(each):
    """(M,) 1 for neurons whose first phase took longer than the bound of the good event."""
    a_star, size = each.setting("plan.a_star"), each.setting("plan.size")
    most = theory_of.phase_1_bound(a_star, each.final("two-phase/outer-0"), size, ETA, C_0)
    return (first(each) > most).astype(float)


def total_law(r):
    every = sorted(r.where(**BEST), key=lambda a: a.setting("plan.size") * a.setting("task.d"))
    x = settings(every, "plan.size") * settings(every, "task.d")
    return of_points(x, stacked(without_logarithm, every))


def direct_law(r):
    every = r.where(**ALONE)
    return of_points(settings(every, "model.m"), stacked(total, every))


def phase_1_law(r):
    every = r.where(**FIXED)
    return of_points(settings(every, "plan.size"), stacked(first, every), np.mean)


def random_law(r):
    every = r.where(**RANDOM)
    return of_points(settings(every, "task.d"), stacked(without_logarithm, every))


def in_time(r):
    """(M,) whether none of a member's good settings took longer than the bound. Settings share seeds, and with
    them initial weights: a seed is one observation."""
    every = [*r.where(**FIXED), *r.where(**BEST)]
    goods, lates = stacked(good, every), stacked(late, every)
    counts = goods.sum(1)
    longer = (goods * lates).sum(1)[counts > 0]
    return longer == 0


def often_good(r):
    every = [*r.where(**FIXED), *r.where(**BEST), *r.where(**RANDOM)]
    return stacked(good, every).mean(1)


def steps_of(which) -> Measured:
    """Steps of both phases of the arm at these coordinates."""
    return Measured(lambda r: times(r.arm(**which)), which)


def middle_line(name, x, values, colour):
    """Points at the median with the members' quartiles: the full range of hundreds of neurons hides everything."""
    quartiles = np.quantile(np.nan_to_num(values, nan=NEVER, posinf=NEVER), (0.25, 0.5, 0.75), axis=0)
    return over_members(name, x, np.where(quartiles < NEVER, quartiles, np.nan), colour, "points")


def figure(r: Results) -> Figure:
    fixed, random, direct, two = (r.where(**start) for start in (FIXED, RANDOM, ALONE, TWO))
    sizes, widths = settings(fixed, "plan.size"), settings(direct, "model.m")
    took = np.stack([each.final("two-phase/first") for each in fixed], axis=1)
    bound = theory_of.phase_1_bound(FIXED_A_STAR, np.zeros(1), 1, ETA, C_0)[0] * np.sqrt(sizes)
    phase_1 = [
        middle_line("measured", sizes, took, 0),
        theory_line("bound on the good event", sizes, bound),
        slope_line("slope 1/2", (sizes[0], sizes[-1]), (sizes[0], float(np.mean(took[:, 0]))), 0.5),
    ]
    totals = []
    for i, d in enumerate(DIMENSIONS[r.scale]):
        every = r.where(**BEST, d=d)
        totals.append(middle_line(f"d = {d}", settings(every, "plan.size") * d, stacked(total, every), i))
    ends = float(min(line.x[0] for line in totals)), float(totals[-1].x[-1])
    totals.append(slope_line("slope 1/4", ends, (ends[0], float(totals[0].middle[0])), 0.25))
    alone = [middle_line("population alone", widths, stacked(total, direct), 0)]
    at = np.array([widths[2 if len(widths) > 2 else -1]])
    alone.append(middle_line("two phases, N = d", at, stacked(total, two), 1))
    alone.append(slope_line("slope 1/2", (widths[0], widths[-1]), (widths[0], float(alone[0].middle[0])), 0.5))
    labels = [middle_line("measured", settings(random, "task.d"), stacked(total, random), 0)]
    goods = [
        over_members("true labels", sizes, stacked(good, fixed).mean(0, keepdims=True), 0, "points"),
        theory_line("Gaussian q", sizes, np.full(len(sizes), theory_of.good_event_gaussian(C_0))),
    ]
    return Figure(
        "A quadratic neuron in two phases",
        [
            Panel("Phase 1 at fixed a*", "N", "steps", phase_1, log_x=True, log_y=True),
            Panel("Both phases, best a*", "N d", "steps", totals, log_x=True, log_y=True),
            Panel("The population alone", "m", "steps", alone, log_x=True, log_y=True),
            Panel("Random labels first", "d", "steps", labels, log_x=True, log_y=True),
            Panel("Share of good neurons", "N", "probability", goods, log_x=True),
        ],
    )


recipe = Recipe(
    name="two-phase-theory",
    paper="C",
    figure_number="theorem 1, corollary 2",
    question="Why does a small first set speed learning up, in a case that can be solved?",
    about=__doc__,
    metric="neuron/overlap",
    scales={"smoke": (8, 8), "laptop": (640, 70), "paper": (640,)},
    assumptions=[THEORY_SIZES],
    arms=arms,
    claims=[
        Statement(
            "phase 1 takes sqrt(N) steps: slope 1/2 at fixed a*, within 20 %",
            Paper("T_1 ~ a* sqrt(N) / η", "thm 3"),
            SlopeNear(Measured(phase_1_law, FIXED), 0.5, 0.1, "log mean phase-1 steps against N"),
            number=0.5,
        ),
        Statement(
            "fewer than 1 % of members outlast phase 1's bound in a setting in which they are good",
            Paper("2 a* sqrt(N) / (η c_0)"),
            MembersAbove(Measured(in_time, (FIXED, BEST)), 0.99, "of whose good settings none took longer"),
            history="first the mean share of such settings, by sign flips, which all-zero shares satisfy too easily",
        ),
        Statement(
            "a neuron is good as often as lemma 1 says, or more, averaged over N, d",
            Paper(">= p_PZ / 2 = 5.6e-6"),
            Above(
                Measured(often_good, (FIXED, BEST, RANDOM)),
                theory_of.good_event_bound(C_0),
                "share of good neurons, all settings",
            ),
            near_trivial="so small a bound",
        ),
        Statement(
            "both phases take at most (N d)^(1/4) steps, up to logarithms",
            Paper("O((Nd)^(1/4) log) (thm 1), an upper bound"),
            SlopeBelow(Measured(total_law, BEST), theory_of.TOTAL_EXPONENT, OF_TOTAL),
        ),
        Statement(
            "two phases (N = d) need fewer steps than the population alone, m = 16 d²",
            Paper("fewer if m >> d²", "thm 1"),
            Ahead(steps_of(TWO), of=steps_of(ALONE | {"m / d²": 16})),
        ),
        Statement(
            "the population alone takes at most sqrt(m) steps",
            Paper("O(sqrt(m) log(d/ε)) (lemma 6), an upper bound"),
            SlopeBelow(Measured(direct_law, ALONE), theory_of.DIRECT_EXPONENT, "log steps against m"),
            near_trivial="steps do not grow with m here",
        ),
        Statement(
            "random labels first (N = d): at most sqrt(d) steps, up to logarithms",
            Paper("√(N/d) + √d log", "cor. 2"),
            SlopeBelow(
                Measured(random_law, RANDOM), theory_of.RANDOM_TOTAL_EXPONENT, "log steps / log(16 d / ε) against d"
            ),
        ),
    ],
    figure=figure,
)
