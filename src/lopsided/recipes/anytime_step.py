"""anytime-step: is a step size that falls for ever as good at every horizon as one that is tuned to each?

Paper B, corollary 2.3, tunes the step size of online SGD to the number of samples n, so that it has to be known before.
What follows is not in the paper: one run whose step size falls as a power of the step,
lr(t) = lr (1 + t / 1,000)^-power, against the constant step that is best for each n. It is smooth, or falls only where
1 + t / 1,000 doubles.

    lopsided run anytime-step --scale laptop

`laptop`: the setting of `unstable-step` (d = P = 48, m = 64, J = 4, batches of 32). Members with even seeds choose: for
each n the constant step with the lowest geometric mean of the loss, and for each falling rule one lr for all n, by its
mean over them. Members with odd seeds are judged. Horizons are those at which something is learned: from where the
tuned loss has fallen to three quarters of its start.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.recipe import (
    OWN,
    Arm,
    Arms,
    Below,
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
)
from lopsided.recipes._strength import learned_from
from lopsided.recipes.unstable_step import BETAS, FEWEST, halves, law, losses, online, step_sizes, tuned
from lopsided.theory.scaling import unstable_exponent

HOLD = 1000.0
CONSTANT, SLOW, ROOT, DOUBLING = "constant", "power 1/4", "power 1/2", "power 1/4, by doublings"
RULES = {SLOW: {"power": 0.25}, ROOT: {"power": 0.5}, DOUBLING: {"power": 0.25, "doubling": True}}
RATES = {"smoke": (0.0025, 0.005), "laptop": (0.0025, 0.0035, 0.005, 0.007, 0.01)}
RATES["paper"] = RATES["laptop"]
TRIED = "powers, steps at the full rate and rates were chosen in trials on seeds 100 to 105 (LOG.md)"
OVER_HORIZONS = "loss over that of the constant step tuned to each horizon, averaged over horizons"


def arms(scale: ScaleName) -> Arms:
    for beta in BETAS:
        for rate in step_sizes(scale):
            yield arm(online(scale, beta, rate), beta=beta, rule=CONSTANT, lr=rate)
        for rule, how in RULES.items():
            for rate in RATES[scale]:
                falling = {"name": "anytime-sgd", "lr": rate, "hold": HOLD, **how}
                yield arm(online(scale, beta, rate, optimizer=falling), beta=beta, rule=rule, lr=rate)


def chosen(r: Results, beta: float, rule: str) -> tuple[Arm, np.ndarray]:
    """The arm whose rate the choosing members prefer over all horizons, and the loss (V, T) of the judging ones."""
    every = r.where(beta=beta, rule=rule)
    chooses, judged = halves(every[0].seeds)
    log = np.log(np.stack([losses(each) for each in every]))  # (rates, M, T)
    best = int(log[:, chooses][..., horizons(r, beta)].mean((1, 2)).argmin())
    return every[best], np.exp(log[best, judged])


def horizons(r: Results, beta: float) -> np.ndarray:
    """(T,) evaluations at which the tuned constant step has learned something."""
    samples, loss, *_ = tuned(r.where(beta=beta, rule=CONSTANT))
    return samples >= learned_from(samples, loss)


def over_tuned(r: Results, beta: float, rule: str, worst: bool = False) -> np.ndarray:
    """(V,) loss of a falling rule over that of the step tuned to each horizon: a member's geometric mean over horizons,
    or its ratio at the horizon at which the rule is worst over all members."""
    _, loss, *_ = tuned(r.where(beta=beta, rule=CONSTANT))
    ratio = np.log(chosen(r, beta, rule)[1] / loss)[:, horizons(r, beta)]
    return np.exp(ratio[:, ratio.mean(0).argmax()] if worst else ratio.mean(1))


def between(r: Results, beta: float, rule: str, other: str) -> np.ndarray:
    """(V,) loss of one falling rule over another's, a member's geometric mean over horizons."""
    one, two = (np.log(chosen(r, beta, each)[1]) for each in (rule, other))
    return np.exp((one - two)[:, horizons(r, beta)].mean(1))


def anytime_law(r: Results, beta: float):
    each, loss = chosen(r, beta, SLOW)
    return law([each], loss)


def claims_at(beta: float) -> Sequence[Statement]:
    constant, slow, root, doubling = ({"beta": beta, "rule": rule} for rule in (CONSTANT, *RULES))
    expected = unstable_exponent(beta)
    return [
        Statement(
            f"beta = {beta:g}: one step that falls as t^(-1/4) is below the step tuned to each horizon, on average",
            OWN,
            Below(Measured(lambda r: over_tuned(r, beta, SLOW), (constant, slow)), 1.0, OVER_HORIZONS, ratio=True),
            history=TRIED,
        ),
        Statement(
            f"beta = {beta:g}: … and at its worst horizon less than 25 % above it",
            Own("the horizon at which it is worst is chosen by the mean that is judged, which is against the claim"),
            Below(
                Measured(lambda r: over_tuned(r, beta, SLOW, worst=True), (constant, slow)),
                1.25,
                "loss over that of the constant step tuned to the horizon, at the worst horizon",
                ratio=True,
            ),
            history=TRIED,
        ),
        Statement(
            f"beta = {beta:g}: under it, the loss falls at least as steeply as n^{expected:.3g}",
            Own(f"the paper's bound for tuned steps (cor. 2.3): at most n^{expected:.3g}"),
            SlopeBelow(
                Measured(lambda r: anytime_law(r, beta), (constant, slow)),
                expected,
                "log loss, with the directions of an infinite teacher, against samples",
            ),
            history=TRIED,
        ),
        Statement(
            f"beta = {beta:g}: t^(-1/4) is below t^(-1/2), each at its best rate",
            OWN,
            Below(
                Measured(lambda r: between(r, beta, SLOW, ROOT), (constant, slow, root)),
                1.0,
                "ratio of losses, averaged over horizons",
                ratio=True,
            ),
            history=TRIED,
        ),
        Statement(
            f"beta = {beta:g}: a step size that falls only at doublings is as good as a smooth one, within 25 %",
            OWN,
            Near(
                Measured(lambda r: between(r, beta, DOUBLING, SLOW), (constant, slow, doubling)),
                1.0,
                0.25,
                "ratio of losses, averaged over horizons",
                ratio=True,
            ),
            history=TRIED,
        ),
    ]


def panel(r: Results, beta: float) -> Panel:
    samples, loss, *_ = tuned(r.where(beta=beta, rule=CONSTANT))
    lines = [over_members("constant, tuned to each horizon", samples, loss, "#000000")]
    for i, rule in enumerate(RULES):
        each, judged = chosen(r, beta, rule)
        lines.append(over_members(f"{rule}, lr = {each.coordinates['lr']:g}", samples, judged, i))
    return Panel(f"beta = {beta:g}", "samples n", "expected loss", lines, log_x=True, log_y=True)


def figure(r: Results) -> Figure:
    return Figure("One step size for every horizon", [panel(r, beta) for beta in BETAS])


recipe = Recipe(
    name="anytime-step",
    paper="B",
    figure_number="corollary 2.3",
    question="Does the step size have to know how long a run will be?",
    about=__doc__,
    metric="directions/learned",
    threshold=0.1,
    scales={"smoke": (4, 20), "laptop": (16, 600), "paper": (32,)},
    least_seeds=FEWEST,
    arms=arms,
    claims=[claim for beta in BETAS for claim in claims_at(beta)],
    figure=figure,
)
