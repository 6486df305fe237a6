"""plane-strength-frequency: how frequent should strong and weak features be?

Paper B's features have strengths a_i ∝ i^-beta and are all in every sample; paper A's skills are equally strong and
have frequencies p_i ∝ i^-alpha. Here a sample shows one feature, and both vary. `lopsided.theory.sparse_features` says
when each feature is learned, at a time ∝ 1 / (p_i a_i), and which features a power law shows more often than uniform
sampling does: for alpha = 1 about the first d / log d of d. So the best law depends on how much is to be learned.

    lopsided run plane-strength-frequency --scale laptop

Task `sparse-features` with 64 features, the product model from weights of scale 0.01, SGD with batch 16 and one rate
for all. What it costs is the number of steps until the loss on uniform features, which is known exactly, has fallen to
10 % (or 1 %) of that of answering 0. Two more arms, at beta = 1: a law that is annealed from exponent 1 to 0 in the
first tenth of training, and one of exponent 1 with the weakest features most frequent. `laptop` changes: 64 features,
where `paper` has 512 (both are ours: none of this is in a paper).
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Ahead,
    Arm,
    Arms,
    Custom,
    Figure,
    Heat,
    Level,
    Measured,
    Own,
    Panel,
    Recipe,
    Results,
    ScaleName,
    Spec,
    Statement,
    Times,
    arm,
    decisions,
    over_members,
)
from lopsided.recipes._frequency import UNIFORM, annealed, power_law
from lopsided.stats.transitions import crossing
from lopsided.theory import sparse_features as theory

BATCH, RATE, SCALE = 16, 0.5, 0.01
FEATURES = {"smoke": 8, "laptop": 64, "paper": 512}
STEPS = {"smoke": 60, "laptop": 30_000, "paper": 300_000}
ALPHAS = {"smoke": (0.0, 1.0), "laptop": tuple(round(0.2 * i, 1) for i in range(11))}
BETAS = {"smoke": (0.6, 1.0, 2.0), "laptop": tuple(round(0.4 + 0.2 * i, 1) for i in range(11))}
ALPHAS["paper"], BETAS["paper"] = ALPHAS["laptop"], BETAS["laptop"]
LOOSE, STRICT = 0.1, 0.01
"""Shares of the loss at the start."""
ANNEALED, REVERSED = "annealed", "weakest most frequent"
FINISH = 0.1
"""Share of training after which the annealed law is uniform."""
MEDIAN_SQUARE = 0.455
"""Median of the square of a standard normal number."""
OURS = Own("in paper A all skills are equally strong, in B all features equally frequent")
WITHIN = 1.2
"""Steps within this factor of the theory's count as close to it."""
CANCELLED = "first by the mean ratio over all cells, in which cells above and below cancel (1.03)"
SEEN = "written after 4 to 16 seeds of a prototype had been seen"


def arms(scale: ScaleName) -> Arms:
    for beta in BETAS[scale]:
        for alpha in ALPHAS[scale]:
            law = power_law(alpha) if alpha else UNIFORM
            yield arm(spec(scale, beta, law), alpha=alpha, beta=beta)
    yield arm(spec(scale, 1.0, annealed(1.0, 0.0, FINISH)), law=ANNEALED, beta=1.0)
    yield arm(spec(scale, 1.0, power_law(1.0), rank_order="reversed"), law=REVERSED, beta=1.0)


def spec(scale: ScaleName, beta: float, law, **changes) -> Spec:
    return Spec.parse(
        {
            "task": {"name": "sparse-features", "d": FEATURES[scale], "beta": beta},
            "skills": law,
            "model": {"name": "product", "r": SCALE},
            "plan": {"name": "online", "batch": BATCH},
            "optimizer": {"name": "sgd", "lr": RATE},
            "loss": "square",
            "steps": STEPS[scale],
            "evaluation": {"every": 5, "per_decade": 20, "samples": 64},
            "probes": ["population-loss"],
            **changes,
        }
    )


def times(each: Arm, share: float) -> Times:
    """Steps until the loss is at a share of that of answering 0, interpolated, censored at the end of training."""
    start = 0.5 / each.setting("task.d")
    found = crossing(each.steps, -each.metric("population/loss"), -share * start)
    never = ~np.isfinite(found)
    return Times(np.where(never, each.steps[-1], found), never)


def at(share: float, **where) -> Measured:
    """Steps to a share of the loss, of the arm at these coordinates."""
    return Measured(lambda r: times(r.arm(**where), share), where)


def cells(r: Results, share: float) -> np.ndarray:
    """(exponents, strengths, M) steps, infinite for members that never get there."""
    return np.array(
        [[times(r.arm(alpha=a, beta=b), share).ordinal for b in BETAS[r.scale]] for a in ALPHAS[r.scale]]
    )  # fmt: skip


def expected(scale: ScaleName, share: float) -> np.ndarray:
    """(exponents, strengths) steps of the theory for a median start; infinite beyond the end of training."""
    d, steps = FEATURES[scale], np.geomspace(1, STEPS[scale], 2000)
    found = np.full((len(ALPHAS[scale]), len(BETAS[scale])), np.inf)
    for i, alpha in enumerate(ALPHAS[scale]):
        for j, beta in enumerate(BETAS[scale]):
            strength, frequency = theory.strengths(d, beta), theory.frequencies(d, alpha)
            start = np.full(d, MEDIAN_SQUARE * SCALE**2)
            answers = theory.answers(steps * RATE, strength, frequency, start)
            below = theory.uniform_loss(answers, strength) < share * 0.5 / d
            found[i, j] = steps[np.argmax(below)] if below.any() else np.inf
    return found


def as_expected(r, level):
    """Tests that the steps to learn are close to those of the theory. In each cell the larger of the measured and the
    predicted number is divided by the smaller one; a member's distance is the geometric mean over the cells that all
    members and the theory finish."""
    found, theirs = cells(r, LOOSE), expected(r.scale, LOOSE)
    known = np.isfinite(found).all(2) & np.isfinite(theirs)
    if not known.any():
        return decisions.below(np.full(found.shape[2], np.nan), WITHIN, "distance: no cell is finished by all members")
    distance = np.exp(np.abs(np.log(found[known] / theirs[known][:, None])).mean(0))
    said = f"ratio of steps to the theory's, the larger over the smaller, over {known.sum()} of {known.size} cells"
    return decisions.below(distance, WITHIN, said, ratio=True, level=level)


def figure(r: Results) -> Figure:
    ticks = [f"{b:g}" for b in BETAS[r.scale]], [f"{a:g}" for a in ALPHAS[r.scale]]
    labels = "exponent of strengths", "exponent of frequencies"
    panels = []
    for share in (LOOSE, STRICT):
        with np.errstate(invalid="ignore"):
            found = np.median(cells(r, share), 2)
        known = np.log10(np.where(np.isfinite(found), found, np.nan))
        low, high = (float(f(known)) if np.isfinite(known).any() else 0.0 for f in (np.nanmin, np.nanmax))
        title = f"Median steps to {share:.0%} of the loss (white: never)"
        panels.append(Heat(title, *labels, known, "log₁₀ steps", low, high, *ticks))
    lines, laws = [], {"uniform": {"alpha": 0.0}, "exponent 1": {"alpha": 1.0}, ANNEALED: {"law": ANNEALED}}
    for i, (name, where) in enumerate(laws.items()):
        each = r.arm(**where, beta=1.0)
        share = each.metric("population/loss") * 2 * each.setting("task.d")
        lines.append(over_members(name, each.steps, share, i))
    panels.append(Panel("Strengths of exponent 1", "steps", "share of the loss", lines, log_x=True, log_y=True))
    return Figure("The best frequencies depend on the strengths, and on how much is to be learned", panels)


UNIFORM_1, POWER_1, LET_GO = {"alpha": 0.0, "beta": 1.0}, {"alpha": 1.0, "beta": 1.0}, {"law": ANNEALED, "beta": 1.0}

recipe = Recipe(
    name="plane-strength-frequency",
    paper="A and B",
    figure_number="not in the papers",
    question="How frequent should strong and weak features be?",
    about=__doc__,
    metric="population/loss",
    scales={"smoke": (2, 40), "laptop": (16, 200), "paper": (32,)},
    arms=arms,
    claims=[
        Statement(claim, OURS, test, history=f"{SEEN}; {CANCELLED}" if isinstance(test, Custom) else SEEN)
        for claim, test in (
            (
                "strengths of exponent 1: to 10 % of the loss, exponent 1 needs fewer steps than uniform frequencies",
                Ahead(at(LOOSE, **POWER_1), of=at(LOOSE, **UNIFORM_1)),
            ),
            (
                "… to 1 % of the loss, uniform frequencies need fewer than exponent 1",
                Ahead(at(STRICT, **UNIFORM_1), of=at(STRICT, **POWER_1)),
            ),
            (
                "strengths of exponent .6: uniform frequencies need fewer steps to 10 % already",
                Ahead(at(LOOSE, alpha=0.0, beta=0.6), of=at(LOOSE, alpha=1.0, beta=0.6)),
            ),
            (
                "strengths of exponent 2: frequencies of exponent 1 need fewer steps even to 1 %",
                Ahead(at(STRICT, alpha=1.0, beta=2.0), of=at(STRICT, alpha=0.0, beta=2.0)),
            ),
            (
                "a law that is annealed is as fast as exponent 1 to 10 %, within 25 %",
                Level(at(LOOSE, **LET_GO), at(LOOSE, **POWER_1)),
            ),
            (
                "… and as fast as uniform frequencies to 1 %, within 25 %",
                Level(at(STRICT, **LET_GO), at(STRICT, **UNIFORM_1)),
            ),
            (
                "with the weakest features most frequent, exponent 1 needs more steps to 10 % than uniform frequencies",
                Ahead(at(LOOSE, **UNIFORM_1), of=at(LOOSE, law=REVERSED, beta=1.0)),
            ),
            (
                "steps to 10 % are within 20 % of those of the theory in the average cell of the plane",
                Custom(as_expected),
            ),
        )
    ],
    figure=figure,
)
