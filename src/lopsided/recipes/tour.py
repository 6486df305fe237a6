"""tour: one look at each side of the shape of data, in a minute.

Paper A (frequency), paper B (strength) and paper C (repetition), each at a size that two cores train in seconds:

- frequency: products of three elements of D4, skills drawn uniformly, from a power law, and from one that is annealed;
- strength: eight features of strengths 1/p under exact gradient flow, against the steps that theory predicts;
- repetition: (20, 6)-parity from 8,192 samples, again and again, against fresh samples at the same learning rate.

    lopsided run tour

`laptop` changes: everything is small, and learning rates are not tuned. What a finding is worth, its own recipe says:
`state-tracking`, `emergence`, `small-vs-large`. `paper` is the same with more seeds.
"""

from __future__ import annotations

import numpy as np

from lopsided.core.spec import Spec
from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    PALETTE,
    Ahead,
    Arms,
    Below,
    Figure,
    Final,
    Higher,
    Measured,
    Panel,
    Paper,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
    over_members,
    theory_line,
)
from lopsided.recipes._frequency import UNIFORM, annealed, power_law, tracking
from lopsided.recipes._strength import (
    FLOW,
    IDEALISED,
    additive,
    apart,
    by_direction,
    learned_at,
    predicted,
    relative_error,
)
from lopsided.theory.scaling import power_law_weights

LAWS = {"uniform skills": UNIFORM, "power law": power_law(1.0), "annealed law": annealed(1.5, 0.0, 0.5)}
FLOWS, PREDICTED = "features of strength 1/p", "prediction"
REPEATED_SIZE = 8192
FRESH, REPEATED = "fresh samples", f"{REPEATED_SIZE:,} samples, repeated"
LEARNED = 0.9


def arms(scale: ScaleName) -> Arms:
    small = scale == "smoke"
    tracked = {
        "task": {"name": "state-tracking", "group": "D4", "hops": 3},
        "model": {"name": "transformer", "layers": 2, "width": 32, "heads": 4},
        "plan": {"name": "online", "batch": 128},
        "optimizer": {"name": "adamw", "lr": 3e-3, "weight_decay": 1e-6, "schedule": "cosine", "warmup": 50},
        "rank_order": "random",
        "steps": 60 if small else 800,
        "evaluation": {"every": 20, "samples": 1024},
        "probes": [],
    }
    for data, law in LAWS.items():
        yield arm(tracking("smoke", law, **tracked), data=data)
    d, features, width = (32, 4, 12) if small else (256, 8, 32)
    sizes = {"d": d, "directions": features, "width": width, "lr": 0.1, "steps": 12 * d + 200}
    yield arm(additive(plan=FLOW, **sizes), data=FLOWS)
    yield arm(additive(plan=IDEALISED, probes=(), **sizes), data=PREDICTED)
    parity = {
        "task": {"name": "sparse-parity", "d": 20, "k": 6},
        "model": {"name": "mlp", "width": 64},
        "optimizer": {"name": "sgd", "lr": 3.0},
        "loss": "logistic",
        "steps": 80 if small else 2000,
        "evaluation": {"every": 20, "samples": 1024},
    }
    fixed = {"name": "fixed", "size": REPEATED_SIZE, "batch": 128}
    for data, plan in ((FRESH, {"name": "online", "batch": 128}), (REPEATED, fixed)):
        yield arm(Spec.parse({**parity, "plan": plan}), data=data)


def learned_first(slow, fast, axis):
    return Ahead(*(Reaches({"data": name}, "test/accuracy", LEARNED) for name in (fast, slow)), axis=axis)


def twice_as_strong(r):
    learned = learned_at(r[FLOWS])
    ratios = learned[:, : learned.shape[1] // 2] / learned[:, 1::2]
    return np.median(np.where(np.isnan(ratios), np.inf, ratios), axis=1)


def staircase(flow, ideal):
    """Losses of one member's single features, their sum, and the sum that theory predicts."""
    weights = power_law_weights(flow.setting("task.directions"), flow.setting("task.beta"))
    each = 0.5 * (weights[:, None] * (1 - by_direction(flow, "strength")[0])) ** 2
    floor = 0.05 * weights[-1] ** 2
    lines = [
        over_members(f"feature {p + 1}", flow.steps, np.maximum(loss, floor)[None], PALETTE[6], legend=False)
        for p, loss in enumerate(each)
    ]
    measured, expected = (np.maximum(a.metric("population/loss")[:1], floor) for a in (flow, ideal))
    lines.append(over_members("all features", flow.steps, measured, 0))
    lines.append(theory_line("predicted", ideal.steps, expected[0], 1))
    title = "Strength: steps (grey) and their sum"
    return Panel(title, "steps", "loss", lines, log_x=True, log_y=True, legend_at="lower left")


def figure(r: Results) -> Figure:
    accuracy = "test/accuracy"
    return Figure(
        "Three sides of the shape of data",
        [
            curves(r, accuracy, "samples", "Frequency: products of three elements of D4", arms=list(LAWS)),
            staircase(r[FLOWS], r[PREDICTED]),
            curves(r, accuracy, "steps", "Repetition: (20, 6)-parity", arms=[FRESH, REPEATED]),
        ],
    )


recipe = Recipe(
    name="tour",
    paper="A, B and C",
    figure_number="1 of each",
    question="Does the shape of training data decide what a network learns, and when?",
    about=__doc__,
    threshold=LEARNED,
    scales={"smoke": (2, 15), "laptop": (8, 50), "paper": (32,)},
    arms=arms,
    shown=lambda r: [*LAWS, FRESH, REPEATED],
    claims=[
        Statement(
            "frequency: power-law skills end above uniform skills",
            Paper("learned against chance", "A, fig. 1"),
            Higher(Final({"data": "power law"}), Final({"data": "uniform skills"}), "final accuracy", FIVE_POINTS),
        ),
        Statement(
            "frequency: an annealed law reaches 90 % with less compute than a fixed one",
            OWN,
            learned_first("power law", "annealed law", "samples"),
        ),
        Statement(
            "strength: the median feature is learned within 10 % of its predicted step",
            Paper("1 ± o(1)", "B, th. 2.1"),
            Below(
                Measured(
                    lambda r: relative_error(learned_at(r[FLOWS]), predicted(r[PREDICTED])),
                    ({"data": FLOWS}, {"data": PREDICTED}),
                    grid=lambda r: apart(r[FLOWS]),
                ),
                0.1,
                "relative error",
                ratio=True,
            ),
        ),
        Statement(
            "strength: a feature twice as strong is learned in less than two thirds of the steps",
            Paper("T_p ∝ p"),
            Below(
                Measured(twice_as_strong, {"data": FLOWS}, grid=lambda r: apart(r[FLOWS])),
                2 / 3,
                "steps of feature p / steps of feature 2p",
                ratio=True,
            ),
        ),
        Statement(
            "repetition: a repeated small set needs fewer steps than fresh samples",
            Paper("ahead", "C, fig. 1"),
            learned_first(FRESH, REPEATED, "steps"),
        ),
        Statement(
            "repetition: … and fewer distinct samples",
            Paper(""),
            learned_first(FRESH, REPEATED, "distinct"),
            near_trivial="the set is small",
        ),
    ],
    figure=figure,
)
