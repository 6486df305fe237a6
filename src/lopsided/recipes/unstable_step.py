"""unstable-step: with a step size tuned to the number of samples, online SGD reaches n^(-(2 beta - 1) / (2 beta)).

Paper B, corollary 2.3. A fixed small step learns all directions exactly but slowly; for a horizon of n samples only the
n^(1 / (2 beta)) largest directions can be learned at all, and a larger step learns those in time. Paper: the tuned loss
falls as n^(-(2 beta - 1) / (2 beta)), slopes -1/2 for beta = 1 and -2/3 for beta = 1.5.

    lopsided run unstable-step --scale laptop

`laptop` changes: d = P = 48, m = 64, J = 4, batches of 32 fresh samples, nine step sizes from 5e-4 to 2e-2. One run per
step size serves every horizon. For each n the step size is the one with the lowest geometric mean of the loss among
members with even seeds; slopes are taken from the members with odd seeds only. (The median does not see that a minority
diverges, and the mean that slopes are taken of does.) "Reaches" is a bound: at least as steep. A teacher of 48
directions ends sooner than an infinite one, which would steepen the slope: the loss of the directions that it lacks is
added, none of which could be learned at these horizons.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lopsided.recipe import (
    Arm,
    Arms,
    Below,
    Figure,
    Measured,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    SlopeBelow,
    Spec,
    Statement,
    arm,
    over_members,
    slope_line,
    theory_line,
)
from lopsided.recipes._assumed import STUDENTS
from lopsided.recipes._strength import additive, geometric_mean, learned_from
from lopsided.stats.slopes import segmented
from lopsided.theory.scaling import beyond, unstable_exponent

BETAS = (1.0, 1.5)
SIZES = {"smoke": (8, 8, 16, 400, 3), "laptop": (48, 64, 32, 2**16, 9), "paper": (96, 160, 32, 2**20, 16)}
"""d, neurons, batch, steps, number of step sizes."""
DIVERGED = 2.0
"""Four times the loss of having learned nothing."""
LARGEST = "#8B0000"
"""Colour of the largest step size: the palette is shorter than the sweep."""
FEWEST = 4
"""Seeds below which there are not two halves of members, one to choose step sizes and one to judge them."""
OF = "log tuned loss, with the directions of an infinite teacher, against samples"
INFINITE = (
    "first without the loss of the directions beyond the 48th, which steepened the slope; step sizes were first chosen "
    "by the median of members, and when rows of 32 seeds showed that a minority diverges at them, by the geometric mean"
)


def arms(scale: ScaleName) -> Arms:
    for beta in BETAS:
        for rate in step_sizes(scale):
            yield arm(online(scale, beta, rate), beta=beta, step_size=float(f"{rate:.2g}"))


def step_sizes(scale: ScaleName) -> list[float]:
    """Step sizes from 5e-4 to 2e-2, one arm each."""
    return [float(f"{rate:.3g}") for rate in np.geomspace(5e-4, 2e-2, SIZES[scale][-1])]


def online(scale: ScaleName, beta: float, rate: float, **changes: Any) -> Spec:
    """Online SGD on an additive teacher whose weights fall as p^-beta."""
    d, width, batch, steps, _ = SIZES[scale]
    return additive(
        d=d,
        directions=d,
        width=width,
        beta=beta,
        plan={"name": "online", "batch": batch},
        lr=rate,
        steps=steps,
        first=64,
        per_decade=20,
        sigma_0=1e-2,
        probes=("population-loss", "learned-count"),
        **changes,
    )


def losses(each):
    """(M, T) loss. A member that diverges, or is about to, counts as DIVERGED: worse than having learned nothing."""
    return np.clip(np.nan_to_num(each.metric("population/loss"), nan=DIVERGED), 1e-7, DIVERGED)


def tuned(every: Sequence[Arm]):
    """Samples (T,), loss (V, T) of the judging members at the tuned step size (T,), and the best step size (S, T) of
    every choosing member on its own, of arms that differ in their step size.

    Members with even seeds choose, by the mean that is judged; members with odd seeds are judged. (Too few
    seeds for both make every member do both, for the figure only.)
    """
    loss = np.stack([losses(each) for each in every])  # (rates, M, T)
    rates = np.array([each.setting("optimizer.lr") for each in every])
    chooses, judged = halves(every[0].seeds)
    best = np.log(loss[:, chooses]).mean(1).argmin(0)
    verdict = np.take_along_axis(loss[:, judged], best[None, None], axis=0)[0]
    return every[0].samples, verdict, rates[best], rates[loss[:, chooses].argmin(0)]


def halves(seeds: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(M,) which members choose, and which are judged."""
    chooses = np.array(seeds) % 2 == 0
    return chooses, ~chooses if len(chooses) >= FEWEST else chooses


def law(every: Sequence[Arm], loss: np.ndarray):
    """How a loss (V, T) falls with samples from where it has begun to, with that of the directions beyond the last."""
    directions, beta = every[0].setting("task.directions"), every[0].coordinates["beta"]
    samples = every[0].samples
    begins = learned_from(samples, loss)
    return segmented(samples, loss + beyond(directions, beta), (begins, float(samples[-1])))


def tuned_law(r: Results, beta: float):
    """The law of the loss at the step size tuned to each horizon."""
    every = r.where(beta=beta)
    return law(every, tuned(every)[1])


def bounds(beta):
    expected = unstable_exponent(beta)
    return [
        Statement(
            f"beta = {beta:g}: the tuned loss falls with samples at least as steeply as n^{expected:.3g}",
            Paper(f"at most n^{expected:.3g} (cor. 2.3), an upper bound"),
            SlopeBelow(Measured(lambda r: tuned_law(r, beta), {"beta": beta}), expected, OF),
            history=INFINITE,
        ),
    ]


def smaller_with_the_horizon(r):
    """(M,) slope of a seed's log best step size against log samples. Both beta have the same seeds: a seed's
    mean slope is one observation."""
    growth = []
    for beta in BETAS:
        samples, _, _, rate = tuned(r.where(beta=beta))
        found = tuned_law(r, beta)
        inside = (samples >= found.begins) & (samples <= found.ends)
        several = inside.sum() > 1
        growth.append(
            np.polyfit(np.log(samples[inside]), np.log(rate[:, inside]).T, 1)[0]
            if several
            else np.full(len(rate), np.nan)
        )
    return np.mean(growth, axis=0)


def panel(r, beta):
    every, slope = r.where(beta=beta), unstable_exponent(beta)
    samples, loss, *_ = tuned(every)
    found = law(every, loss)
    last, lines = len(every) - 1, []
    for i, each in enumerate(every):
        name, colour = f"step size {each.coordinates['step_size']:g}", LARGEST if i == last else i
        lines.append(theory_line(name, samples, np.median(losses(each), 0), colour, legend=i in (0, last)))
    through = found.begins, 0.5 * float(np.interp(found.begins, samples, geometric_mean(loss)))
    lines.append(over_members("tuned step size", samples, loss, "#000000"))
    lines.append(slope_line(f"slope {slope:.2f}", (found.begins, found.ends), through, slope))
    return Panel(f"beta = {beta:g}", "samples n", "expected loss", lines, log_x=True, log_y=True)


def figure(r: Results) -> Figure:
    rates = [
        over_members(f"beta = {beta:g}", samples, rate[None], i)
        for i, beta in enumerate(BETAS)
        for samples, _, rate, _ in [tuned(r.where(beta=beta))]
    ]
    by_horizon = Panel("Tuned step size", "samples n", "step size", rates, log_x=True, log_y=True)
    return Figure("A step size for every horizon", [*(panel(r, beta) for beta in BETAS), by_horizon])


recipe = Recipe(
    name="unstable-step",
    paper="B",
    figure_number="corollary 2.3",
    question="How fast can the loss fall with samples if the step size is tuned to their number?",
    about=__doc__,
    metric="directions/learned",
    threshold=0.1,
    scales={"smoke": (4, 12), "laptop": (16, 320), "paper": (32,)},
    assumptions=STUDENTS,
    least_seeds=FEWEST,
    arms=arms,
    claims=[
        *(claim for beta in BETAS for claim in bounds(beta)),
        Statement(
            "each member's best step size falls as the horizon grows",
            Paper("η ~ n^(-1/2), from corollary 2.3"),
            Below(
                Measured(smaller_with_the_horizon),
                0.0,
                "slope of log best step size against log samples, mean over both beta",
            ),
            number=-0.5,
            history="first counted each seed twice, once for each beta, and was said of the step size tuned for all",
        ),
    ],
    figure=figure,
)
