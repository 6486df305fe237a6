"""unstable-step: with a step size tuned to the number of samples, online SGD reaches n^(-(2 beta - 1) / (2 beta)).

Paper B, corollary 2.3. A fixed small step learns all directions exactly but slowly; for a horizon of n samples only the
n^(1 / (2 beta)) largest directions can be learned at all, and a larger step learns those in time. Paper: the tuned loss
falls as n^(-(2 beta - 1) / (2 beta)), slopes -1/2 for beta = 1 and -2/3 for beta = 1.5.

    lopsided run unstable-step --scale laptop

`laptop` changes: d = P = 48, m = 64, J = 4, batches of 32 fresh samples, nine step sizes from 5e-4 to 2e-2. One run per
step size serves every horizon. For each n the step size is the one with the lowest median loss among members with even
seeds; slopes are taken from the members with odd seeds only. "Reaches" is a bound: at least as steep. Whether the bound
is what happens (within 20 %) is a claim of its own.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._strength import additive, geometric_mean, learned_from
from lopsided.report.panels import Figure, Panel, over_members, power_law, theory
from lopsided.stats.slopes import PowerLaw, segmented
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results
from lopsided.theory.scaling import unstable_exponent

BETAS = (1.0, 1.5)
TOLERANCE = 0.2
DIVERGED = 2.0
"""Four times the loss of having learned nothing."""
FEWEST = 4
"""Seeds below which there are not two halves of members, one to choose step sizes and one to judge them."""


def _reaches(beta: float) -> Statement:
    exponent = f"{unstable_exponent(beta):.3g}"
    return Statement(
        f"beta = {beta:g}: the tuned loss falls with samples at least as steeply as n^{exponent}",
        f"slope {exponent} or better (cor. 2.3)",
    )


def _tight(beta: float) -> Statement:
    return Statement(f"beta = {beta:g}: … and its slope is that exponent, within 20 %", "the minimax rate (cor. 2.3)")


SMALLER = Statement("the tuned step size falls as the horizon grows", "η ~ n^(-1/2), from corollary 2.3")


class UnstableStep(Recipe):
    name = "unstable-step"
    paper = "B: Emergence and scaling laws in SGD learning of shallow neural networks"
    figure_number = "corollary 2.3"
    question = "How fast can the loss fall with samples if the step size is tuned to their number?"
    metric = "directions/learned"
    threshold = 0.1
    scales: ClassVar = {
        "smoke": Scale(4, 12, "2 CPU cores"),
        "laptop": Scale(16, 320, "2 CPU cores"),
        "paper": Scale(32, 200_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        d, width, batch, steps, rates = {
            "smoke": (8, 8, 16, 400, 3),
            "laptop": (48, 64, 32, 2**16, 9),
            "paper": (96, 160, 32, 2**20, 16),
        }[scale]
        return {
            f"beta = {beta:g}, step size {rate:.2g}": additive(
                d=d,
                directions=d,
                width=width,
                beta=beta,
                plan={"name": "online", "batch": batch},
                lr=float(f"{rate:.3g}"),
                steps=steps,
                first=64,
                per_decade=20,
                sigma_0=1e-2,
                probes=("population-loss", "learned-count"),
            )
            for beta in BETAS
            for rate in np.geomspace(5e-4, 2e-2, rates)
        }

    def statements(self) -> list[Statement]:
        return [*(s for beta in BETAS for s in (_reaches(beta), _tight(beta))), SMALLER]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        if len(next(iter(results.arms.values())).seeds) < FEWEST:
            return [s.not_run(*at) for s in self.statements()]
        found, growth = [], []
        for beta in BETAS:
            samples, loss, _, rate = _tuned(results, beta)
            law, expected = _law(samples, loss), unstable_exponent(beta)
            of = "log tuned loss against samples"
            found.append(_reaches(beta).at_most(*at, law, expected, of))
            found.append(_tight(beta).slope(*at, law, expected, TOLERANCE * abs(expected), of))
            inside = (samples >= law.begins) & (samples <= law.ends)
            growth.append(
                np.polyfit(np.log(samples[inside]), np.log(rate[:, inside]).T, 1)[0] if inside.sum() > 1 else [np.nan]
            )
        pooled = np.concatenate(growth)
        return [
            *found,
            SMALLER.below(*at, pooled, 0.0, "slope of log tuned step size against log samples, members of both beta"),
        ]

    def figure(self, results: Results) -> Figure:
        panels = []
        for beta in BETAS:
            samples, loss, _, _ = _tuned(results, beta)
            lines = [
                theory(
                    name.split(", ")[1],
                    samples,
                    np.median(_loss(results[name]), 0),
                    i,
                    legend=i in (0, len(_arms(results, beta)) - 1),
                )
                for i, name in enumerate(_arms(results, beta))
            ]
            law = _law(samples, loss)
            slope = unstable_exponent(beta)
            through = law.begins, 0.5 * float(np.interp(law.begins, samples, geometric_mean(loss)))
            lines += [
                over_members("tuned step size", samples, loss, "#000000"),
                power_law(f"slope {slope:.2f}", (law.begins, law.ends), through, slope),
            ]
            panels.append(Panel(f"beta = {beta:g}", "samples n", "expected loss", lines, log_x=True, log_y=True))
        tuned = [
            over_members(f"beta = {beta:g}", _tuned(results, beta)[0], _tuned(results, beta)[2][None], i)
            for i, beta in enumerate(BETAS)
        ]
        panels.append(Panel("Tuned step size", "samples n", "step size", tuned, log_x=True, log_y=True))
        return Figure("A step size for every horizon", panels)


def _arms(results: Results, beta: float) -> list[str]:
    return [name for name in results.arms if name.startswith(f"beta = {beta:g},")]


def _loss(arm) -> np.ndarray:
    """(M, T) loss. A member that diverges, or is about to, counts as DIVERGED: worse than having learned nothing."""
    return np.clip(np.nan_to_num(arm.metric("population/loss"), nan=DIVERGED), 1e-7, DIVERGED)


def _tuned(results: Results, beta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Samples (T,), loss (V, T) of the judging members at the tuned step size (T,), and the best step size (S, T) of
    every choosing member on its own.

    Members with even seeds choose, by their median loss at each horizon; members with odd seeds are judged. (Too few
    seeds for both make every member do both, for the figure only.)
    """
    arms = [results[name] for name in _arms(results, beta)]
    loss = np.stack([_loss(arm) for arm in arms])  # (rates, M, T)
    rates = np.array([arm.setting("optimizer.lr") for arm in arms])
    chooses = np.array(arms[0].seeds) % 2 == 0
    judged = ~chooses if len(chooses) >= FEWEST else chooses
    best = np.median(loss[:, chooses], axis=1).argmin(0)
    verdict = np.take_along_axis(loss[:, judged], best[None, None], axis=0)[0]
    return arms[0].samples, verdict, rates[best], rates[loss[:, chooses].argmin(0)]


def _law(samples: np.ndarray, loss: np.ndarray) -> PowerLaw:
    return segmented(samples, loss, (learned_from(samples, loss), float(samples[-1])))
