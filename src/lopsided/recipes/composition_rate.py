"""composition-rate: under uniform skills the time to learn grows as d^(k/2), under a power law it does not feel k.

Paper A, theorems 1 and 2: k-composition with d skills, product model. Paper: a correlational learner needs d^(k/2)
samples under uniform skills; under p_i ∝ i^-alpha, alpha > 1, gradient descent needs at most d^alpha time and
d^(2 alpha) samples up to logarithms, which is less once k >= 4 alpha.

    lopsided run composition-rate --scale laptop

`laptop` changes: d = 8 ... 64. Time is that of gradient flow on the exact loss (float64); samples are those of SGD with
batch 16 and four times the theorem's step. A member has learned when every weight is within one half of its sign (up to
the sign of all). Initial weights have scale r = .1 (samples: .5, `_composition` says why). Medians over members; one
that does not get there within 1,000 times (samples: 8 times) the time that theory guesses counts as infinitely late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes import _composition as composition
from lopsided.report.panels import Figure, Line, Panel, over_members, power_law
from lopsided.stats.slopes import PowerLaw, difference, of_points
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Arm, Results

HOPS = (2, 4, 6)
ALPHAS = (0.0, 0.5, 1.0, 1.25, 1.5, 2.0)
SAMPLED_HOPS = (2, 4)
SMOKE_HOPS = (2,)
SAMPLED_ALPHAS = (0.0, 1.0, 1.25, 1.5)
SIZES = {"smoke": (4, 6), "laptop": (8, 16, 32, 64), "paper": (8, 16, 32, 64, 128, 256, 512)}
BATCH = 16
LARGER = 256
"""Batch of the arm that is compared with the flow, member by member."""
AGREES_AT = (4, 1.25)
SAME_START = "flow from the start of SGD"
STEPS = {"smoke": 1000, "laptop": 10**8, "paper": 10**9}
MULTIPLE, SAMPLED_MULTIPLE = 1000.0, 8.0
SEPARATED = tuple((k, a) for a in ALPHAS for k in HOPS if a >= 1 and k >= 4 * a)
TIME, SAMPLES = "log time to learn against log d", "log samples to learn against log d"

UNIFORM = {
    k: Statement(
        f"uniform skills, k = {k}: time to learn grows at least as d^{k / 2:g}", f"d^(k/2) = d^{k / 2:g} (theorem 1)"
    )
    for k in HOPS
}
GROWS = Statement("uniform skills: the exponent of time grows by more than 1 from k = 2 to k = 6", "k/2 (theorem 1)")
POWER = {
    a: Statement(
        f"alpha = {a:g}, k = 6: time to learn grows at most as d^alpha, logarithms allowed (+ .4)", "theorem 2"
    )
    for a in ALPHAS
    if a > 1
}
FLAT = Statement("alpha = 1.5: the exponent of time is the same for k = 2 and k = 6 within .3", "no k in theorem 2")
STEEPER = {
    pair: Statement(
        f"k = {pair[0]}, alpha = {pair[1]:g} (k >= 4 alpha): time grows with a smaller exponent than under uniform",
        "power law ahead once k >= 4 alpha (after theorem 2)",
    )
    for pair in SEPARATED
}
AHEAD = {
    pair: Statement(
        f"k = {pair[0]}, alpha = {pair[1]:g} (k >= 4 alpha): at the largest d the power law takes less time",
        "power law ahead once k >= 4 alpha (after theorem 2)",
    )
    for pair in SEPARATED
}
BEHIND = Statement("k = 2, alpha = 2: at the largest d uniform skills take less time", "not in the paper: d against d²")
SAMPLED_UNIFORM = {
    k: Statement(f"SGD, uniform skills, k = {k}: samples grow at least as d^{k / 2:g}", "at least d^(k/2) (theorem 1)")
    for k in SAMPLED_HOPS
}
SAMPLED_POWER = {
    a: Statement(f"SGD, alpha = {a:g}, k = 4: samples grow at most as d^(2 alpha) = d^{2 * a:g}", "theorem 2")
    for a in SAMPLED_ALPHAS
    if a > 1
}
SAMPLED_AHEAD = Statement(
    "SGD, k = 4, alpha = 1: at the largest d the power law takes fewer samples", "power law ahead (after theorem 2)"
)
AGREES = Statement(
    f"SGD with batch {LARGER} takes the time of the flow within 10 % (k = 4, alpha = 1.25, largest d)",
    "minibatch SGD follows the population (appendix A.3)",
)


class CompositionRate(Recipe):
    name = "composition-rate"
    paper = "A: The Power of Power Law"
    figure_number = "theorems 1, 2"
    question = "How does the time to learn a composition grow with the number of skills?"
    metric = "skills/learned"
    threshold = 1.0
    scales: ClassVar = {
        "smoke": Scale(2, 40, "2 CPU cores"),
        "laptop": Scale(32, 240, "2 CPU cores"),
        "paper": Scale(64, 60_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        steps = STEPS[scale]
        arms = {}
        for k in _hops("flow", scale):
            for d in SIZES[scale]:
                for a in ALPHAS:
                    arms[_name("flow", k, a, d)] = composition.by_flow(d, k, a, steps, MULTIPLE)
        for k in _hops("SGD", scale):
            for d in SIZES[scale]:
                length = 40 if scale == "smoke" else composition.sampled_steps(d, k, SAMPLED_ALPHAS, SAMPLED_MULTIPLE)
                for a in SAMPLED_ALPHAS:
                    arms[_name("SGD", k, a, d)] = composition.by_samples(d, k, a, BATCH, length)
        k, a = AGREES_AT
        d = SIZES[scale][-1]
        length = 40 if scale == "smoke" else composition.sampled_steps(d, k, (a,), SAMPLED_MULTIPLE)
        arms[f"SGD, batch {LARGER}"] = composition.by_samples(d, k, a, LARGER, length)
        arms[SAME_START] = composition.by_flow(d, k, a, steps, MULTIPLE, composition.SAMPLED_R)
        return arms

    def shown(self, results: Results) -> list[str]:
        return [name for name in results.arms if name.endswith(f", d = {SIZES[results.scale][-1]}")]

    def statements(self) -> list[Statement]:
        flow = [*UNIFORM.values(), GROWS, *POWER.values(), FLAT, *STEEPER.values(), *AHEAD.values(), BEHIND]
        return [*flow, *SAMPLED_UNIFORM.values(), *SAMPLED_POWER.values(), SAMPLED_AHEAD, AGREES]

    def claims(self, results: Results) -> list[Claim]:
        at, d = (self.name, results.scale), SIZES[results.scale][-1]
        law = {(k, a): _law(results, "flow", k, a) for k in HOPS for a in ALPHAS}
        samples = {(k, a): _law(results, "SGD", k, a) for k in SAMPLED_HOPS for a in SAMPLED_ALPHAS}
        last = {(k, a): _censored(results[_name("flow", k, a, d)], "flow") for k in HOPS for a in ALPHAS}
        sgd = {a: _censored(results[_name("SGD", 4, a, d)], "SGD") for a in (0.0, 1.0)}
        paired = composition.time_to_learn(results[f"SGD, batch {LARGER}"])
        with np.errstate(invalid="ignore"):
            ratio = paired / composition.time_to_learn(results[SAME_START])
        return [
            *(s.at_least(*at, law[k, 0.0], k / 2, TIME) for k, s in UNIFORM.items()),
            GROWS.at_least(*at, difference(law[6, 0.0], law[2, 0.0]), 1.0, f"difference of exponents, {TIME}"),
            *(s.at_most(*at, law[6, a], a + 0.4, TIME) for a, s in POWER.items()),
            FLAT.slope(*at, difference(law[6, 1.5], law[2, 1.5]), 0.0, 0.3, f"difference of exponents, {TIME}"),
            *(
                s.at_least(*at, difference(law[k, 0.0], law[k, a]), 0.0, f"difference of exponents, {TIME}")
                for (k, a), s in STEEPER.items()
            ),
            *(s.faster(*at, last[k, 0.0], last[k, a], "time") for (k, a), s in AHEAD.items()),
            BEHIND.faster(*at, last[2, 2.0], last[2, 0.0], "time"),
            *(s.at_least(*at, samples[k, 0.0], k / 2, SAMPLES) for k, s in SAMPLED_UNIFORM.items()),
            *(s.at_most(*at, samples[4, a], 2 * a, SAMPLES) for a, s in SAMPLED_POWER.items()),
            SAMPLED_AHEAD.faster(*at, sgd[0.0], sgd[1.0], "samples"),
            AGREES.near(
                *at,
                ratio[np.isfinite(ratio)],
                1.0,
                0.1,
                "time of SGD over time of the flow, members that learned by both",
            ),
        ]

    def figure(self, results: Results) -> Figure:
        flow, sampled = (_hops(way, results.scale) for way in ("flow", "SGD"))
        panels = [_panel(results, "flow", k, ALPHAS, f"Time, k = {k}") for k in flow]
        panels += [_panel(results, "SGD", k, SAMPLED_ALPHAS, f"Samples of SGD, k = {k}") for k in sampled]
        return Figure("How the time to learn grows with the number of skills d (dashed: d^(k/2))", panels)


def _hops(way: str, scale: str) -> tuple[int, ...]:
    return SMOKE_HOPS if scale == "smoke" else HOPS if way == "flow" else SAMPLED_HOPS


def _name(way: str, k: int, alpha: float, d: int) -> str:
    return f"{way}, k = {k}, alpha = {alpha:g}, d = {d}"


def _cost(arm: Arm, way: str) -> np.ndarray:
    """(M,) time of the flow, or samples."""
    return composition.time_to_learn(arm) if way == "flow" else composition.steps_to_learn(arm) * BATCH


def _costs(results: Results, way: str, k: int, alpha: float) -> np.ndarray:
    """(M, N) over sizes d."""
    return np.stack([_cost(results[_name(way, k, alpha, d)], way) for d in SIZES[results.scale]], axis=1)


def _law(results: Results, way: str, k: int, alpha: float) -> PowerLaw:
    return of_points(np.array(SIZES[results.scale], float), _costs(results, way, k, alpha))


def _censored(arm: Arm, way: str) -> Times:
    """Members that never learned are censored at the arm's budget."""
    found = _cost(arm, way)
    budget = arm.steps[-1] * (arm.setting("optimizer.lr") if way == "flow" else BATCH)
    return Times(np.where(np.isfinite(found), found, budget), ~np.isfinite(found))


def _panel(results: Results, way: str, k: int, alphas: tuple[float, ...], title: str) -> Panel:
    sizes = np.array(SIZES[results.scale], float)
    medians: Callable[[float], np.ndarray] = lambda a: np.median(_costs(results, way, k, a), axis=0)  # noqa: E731
    lines: list[Line] = []
    for a in alphas:
        name, colour = f"alpha = {a:g}" if a else "uniform", ALPHAS.index(a)
        lines.append(over_members(name, sizes, medians(a)[None], colour))
        lines.append(over_members(name, sizes, medians(a)[None], colour, "points", legend=False))
    start = medians(0.0)
    if np.isfinite(start).any():
        i = int(np.argmax(np.isfinite(start)))
        lines.append(power_law(f"d^{k / 2:g}", (sizes[0], sizes[-1]), (sizes[i], float(start[i])), k / 2))
    label = "median time to learn" if way == "flow" else "median samples to learn"
    return Panel(title, "number of skills d", label, lines, log_x=True, log_y=True)
