"""two-phase-theory: a small first set grows the outer weight as 1 / sqrt(N), and that is what speeds learning up.

Paper C, theorem 1, corollary 2, theorem 3: one quadratic neuron on 2-sparse parity, phase 1 on N fixed samples until
the outer weight reaches a*, phase 2 on the exact population. Paper: phase 1 takes of order a* sqrt(N) / eta steps, both
together (N d)^(1/4) up to logarithms, fewer than training on the population directly once m >> d²; with random labels
in phase 1, sqrt(N / d) + sqrt(d) log d; all with constant probability over neurons.

    lopsided run two-phase-theory --scale laptop

`laptop` changes: none of substance; eta = 0.05, d = 32, 64, 128, N = d ... d², 640 neurons per setting, epsilon = 0.1.
a* = 2 (N d)^(-1/4), or 1 / (2 sqrt(d)) with random labels; logarithms are divided out as log(16 d / epsilon). The
theorems bound from above: whether the bound holds and whether it is what happens (within 20 %) are separate claims.
"""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.report.panels import Figure, Line, Panel, over_members, power_law, theory
from lopsided.stats.slopes import PowerLaw, of_points
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Arm, Results
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
FIRST = Statement("phase 1 takes sqrt(N) steps: slope 1/2 at fixed a*, within 20 %", "T_1 ~ a* sqrt(N) / η (thm 3)")
BOUND = Statement("good neurons outlast phase 1's bound in fewer than 1 % of settings", "2 a* sqrt(N) / (η c_0)")
GOOD = Statement("a neuron is good as often as lemma 1 says, or more, averaged over N, d", ">= p_PZ / 2 = 5.6e-6")
TOTAL = Statement("both phases take at most (N d)^(1/4) steps, up to logarithms", "O((Nd)^(1/4) log) (thm 1)")
TOTAL_TIGHT = Statement("… and that is the slope, within 20 %", "an upper bound (thm 1)")
AHEAD = Statement(
    "two phases (N = d) need fewer steps than the population alone, m = 16 d²", "fewer if m >> d² (thm 1)"
)
DIRECT = Statement("the population alone takes at most sqrt(m) steps", "O(sqrt(m) log(d/ε)) (lemma 6)")
DIRECT_TIGHT = Statement("… and that is the slope, within 20 %", "an upper bound (lemma 6)")
RANDOM = Statement("random labels first (N = d): at most sqrt(d) steps, up to logarithms", "√(N/d) + √d log (cor. 2)")


class TwoPhaseTheory(Recipe):
    name = "two-phase-theory"
    paper = "C: Less Data, Faster Training"
    figure_number = "theorem 1, corollary 2"
    question = "Why does a small first set speed learning up, in a case that can be solved?"
    metric = "neuron/overlap"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(8, 8, "2 CPU cores"),
        "laptop": Scale(640, 70, "2 CPU cores"),
        "paper": Scale(640, 6_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        def spec(d: int, size: int, a_star: float, labels: str = "true", width: float = 64.0) -> Spec:
            return Spec.parse(
                {
                    "task": {"name": "sparse-parity", "d": d, "k": 2},
                    "model": {"name": "quadratic-neuron", "m": width * d * d},
                    "plan": {
                        "name": "two-phase",
                        "size": size,
                        "a_star": round(a_star, 6),
                        "labels": labels,
                        "epsilon": EPSILON,
                    },
                    "optimizer": {"name": "sgd", "lr": ETA},
                    "loss": "correlation",
                    "steps": STEPS[scale],
                    "evaluation": {"every": STEPS[scale] // 2, "samples": 1},
                }
            )

        d = MIDDLE[scale]
        arms = {f"fixed a*, d = {d}, N = {n}": spec(d, n, FIXED_A_STAR) for n in _sizes(scale, d)}
        for d in DIMENSIONS[scale]:
            for n in _sizes(scale, d):
                arms[f"best a*, d = {d}, N = {n}"] = spec(d, n, theory_of.best_a_star(n, d, 2.0))
        for d in DIMENSIONS[scale]:
            arms[f"random labels, d = {d}, N = {d}"] = spec(d, d, theory_of.random_a_star(d, 0.5), "random")
        d = MIDDLE[scale]
        for w in WIDTHS[scale]:
            arms[f"population alone, d = {d}, m = {w} d²"] = spec(d, d, 0.0, width=float(w))
        arms[f"two phases, d = {d}, m = 16 d²"] = spec(d, d, theory_of.best_a_star(d, d, 2.0), width=16.0)
        return arms

    def statements(self) -> list[Statement]:
        return [FIRST, BOUND, GOOD, TOTAL, TOTAL_TIGHT, AHEAD, DIRECT, DIRECT_TIGHT, RANDOM]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        fixed, best, random = (_arms(results, start) for start in ("fixed a*", "best a*", "random labels"))
        sizes = np.array([float(a.setting("plan.size")) for a in fixed])
        first = np.stack([np.nan_to_num(_final(a, "two-phase/first"), nan=np.inf) for a in fixed], axis=1)
        total = _total_law(best)
        direct = _arms(results, "population alone")
        alone = of_points(_widths(direct), np.stack([_total(a) for a in direct], axis=1))
        two = _arms(results, "two phases")[0]
        # Settings share seeds, and with them initial weights: a seed's mean over settings is one observation.
        good = np.mean([_good(a) for a in (*fixed, *best, *random)], axis=0)
        late = _by_seed([_good(a) for a in (*fixed, *best)], [_late(a) for a in (*fixed, *best)])
        of = "log steps against m"
        return [
            FIRST.slope(*at, of_points(sizes, first, np.mean), 0.5, 0.1, "log mean phase-1 steps against N"),
            BOUND.below(*at, late, 0.01, "share of good neurons that took longer"),
            GOOD.above(*at, good, theory_of.good_event_bound(C_0), "share of good neurons, all settings"),
            TOTAL.at_most(*at, total, theory_of.TOTAL_EXPONENT, "log steps / log(16 d / ε) against N d"),
            TOTAL_TIGHT.slope(*at, total, theory_of.TOTAL_EXPONENT, 0.05, "log steps / log(16 d / ε) against N d"),
            AHEAD.faster(*at, _times(_at_width(results, 16)), _times(two), "steps"),
            DIRECT.at_most(*at, alone, theory_of.DIRECT_EXPONENT, of),
            DIRECT_TIGHT.slope(*at, alone, theory_of.DIRECT_EXPONENT, 0.1, of),
            RANDOM.at_most(
                *at, _random_law(random), theory_of.RANDOM_TOTAL_EXPONENT, "log steps / log(16 d / ε) against d"
            ),
        ]

    def figure(self, results: Results) -> Figure:
        scale = results.scale
        fixed, random, direct = (_arms(results, s) for s in ("fixed a*", "random labels", "population alone"))
        sizes = np.array([float(a.setting("plan.size")) for a in fixed])
        first = np.stack([_final(a, "two-phase/first") for a in fixed], axis=1)
        bound = theory_of.phase_1_bound(FIXED_A_STAR, np.zeros(1), 1, ETA, C_0)[0] * np.sqrt(sizes)
        phase_1 = [
            _middle("measured", sizes, first, 0),
            theory("bound on the good event", sizes, bound),
            power_law("slope 1/2", (sizes[0], sizes[-1]), (sizes[0], float(np.mean(first[:, 0]))), 0.5),
        ]
        totals: list[Line] = []
        for i, d in enumerate(DIMENSIONS[scale]):
            arms = _arms(results, f"best a*, d = {d},")
            x = np.array([float(a.setting("plan.size") * d) for a in arms])
            totals.append(_middle(f"d = {d}", x, np.stack([_total(a) for a in arms], axis=1), i))
        ends = float(min(x[0] for x in [line.x for line in totals])), float(totals[-1].x[-1])
        totals.append(power_law("slope 1/4", ends, (ends[0], float(totals[0].middle[0])), 0.25))
        widths = _widths(direct)
        alone = [_middle("population alone", widths, np.stack([_total(a) for a in direct], axis=1), 0)]
        two = _total(_arms(results, "two phases")[0])
        alone.append(_middle("two phases, N = d", np.array([widths[2 if len(widths) > 2 else -1]]), two[:, None], 1))
        alone.append(power_law("slope 1/2", (widths[0], widths[-1]), (widths[0], float(alone[0].middle[0])), 0.5))
        d = np.array([float(a.setting("task.d")) for a in random])
        good = [
            over_members("true labels", sizes, np.stack([_good(a).mean(keepdims=True) for a in fixed], 1), 0, "points"),
            theory("Gaussian q", sizes, np.full(len(sizes), theory_of.good_event_gaussian(C_0))),
        ]
        steps = "steps"
        return Figure(
            "A quadratic neuron in two phases",
            [
                Panel("Phase 1 at fixed a*", "N", steps, phase_1, log_x=True, log_y=True),
                Panel("Both phases, best a*", "N d", steps, totals, log_x=True, log_y=True),
                Panel("The population alone", "m", steps, alone, log_x=True, log_y=True),
                Panel(
                    "Random labels first",
                    "d",
                    steps,
                    [_middle("measured", d, np.stack([_total(a) for a in random], axis=1), 0)],
                    log_x=True,
                    log_y=True,
                ),
                Panel("Share of good neurons", "N", "probability", good, log_x=True),
            ],
        )


def _sizes(scale: str, d: int) -> list[int]:
    return [n * d if n else d * d for n in SIZES[scale]]


def _arms(results: Results, start: str) -> list[Arm]:
    return [arm for name, arm in results.arms.items() if name.startswith(start)]


def _at_width(results: Results, width: int) -> Arm:
    return next(arm for arm in _arms(results, "population alone") if arm.name.endswith(f"= {width} d²"))


def _final(arm: Arm, metric: str) -> np.ndarray:
    return arm.metric(metric)[:, -1]


def _total(arm: Arm) -> np.ndarray:
    """(M,) steps of both phases, infinite for neurons that never got there."""
    return np.nan_to_num(_final(arm, "two-phase/total"), nan=np.inf)


def _times(arm: Arm) -> Times:
    total = _total(arm)
    return Times(np.where(np.isinf(total), float(arm.spec.steps), total), np.isinf(total))


def _good(arm: Arm) -> np.ndarray:
    """(M,) 1 for neurons on the good event: sign a_0 = sign q_0 and |q_0| sqrt(N) >= c_0."""
    return ((_final(arm, "two-phase/aligned") > 0) & (_final(arm, "two-phase/q-0") >= C_0)).astype(float)


def _late(arm: Arm) -> np.ndarray:
    """(M,) 1 for neurons whose first phase took longer than the bound of the good event."""
    a_star, size = arm.setting("plan.a_star"), arm.setting("plan.size")
    most = theory_of.phase_1_bound(a_star, _final(arm, "two-phase/outer-0"), size, ETA, C_0)
    took = np.nan_to_num(_final(arm, "two-phase/first"), nan=np.inf)
    return (took > most).astype(float)


def _by_seed(good: list[np.ndarray], late: list[np.ndarray]) -> np.ndarray:
    """(S,) share of the settings where a seed's neuron was good that took too long; seeds never good are left out."""
    counts = np.sum(good, axis=0)
    return (np.sum(np.multiply(good, late), axis=0) / np.maximum(counts, 1))[counts > 0]


def _total_law(arms: list[Arm]) -> PowerLaw:
    arms = sorted(arms, key=lambda a: a.setting("plan.size") * a.setting("task.d"))
    x = np.array([float(a.setting("plan.size") * a.setting("task.d")) for a in arms])
    return of_points(x, np.stack([_total(a) / _logarithm(a) for a in arms], axis=1))


def _random_law(arms: list[Arm]) -> PowerLaw:
    x = np.array([float(a.setting("task.d")) for a in arms])
    return of_points(x, np.stack([_total(a) / _logarithm(a) for a in arms], axis=1))


def _logarithm(arm: Arm) -> float:
    return log(16 * arm.setting("task.d") / EPSILON)


def _widths(arms: list[Arm]) -> np.ndarray:
    return np.array([float(a.setting("model.m")) for a in arms])


def _middle(name: str, x: np.ndarray, values: np.ndarray, colour: int) -> Line:
    """Points at the median with the members' quartiles: the full range of hundreds of neurons hides everything."""
    quartiles = np.quantile(np.nan_to_num(values, nan=NEVER, posinf=NEVER), (0.25, 0.5, 0.75), axis=0)
    return over_members(name, x, np.where(quartiles < NEVER, quartiles, np.nan), colour, "points")
