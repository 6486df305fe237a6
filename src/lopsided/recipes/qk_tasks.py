"""qk-tasks: paper C says that a norm of queries and keys helps one other task and hurts two.

Paper C, figures 9 and 27 (b): single-index model, in-context regression, modular addition. Paper: a larger initial
scale of W_q, W_k narrows the gap on the single-index model and on regression; QK norm almost closes it on the
single-index model, but hurts both fresh and repeated training on regression and on modular addition.

    lopsided run qk-tasks --scale laptop

`laptop` changes: the tasks, schedules and thresholds of `small-vs-large-transformer`; the scale is 4 times the default.
Learning rates are swept per arm, with a lower one more for QK norm; each third of the seeds is judged at what the
others choose.
"""

from __future__ import annotations

from lopsided.recipe import Ahead, Arms, Figure, Paper, Recipe, Results, ScaleName, Statement, best, swept, tuned_curves
from lopsided.recipes import _sequences as sequences
from lopsided.recipes._assumed import ADDITION_SIZES, DECAY, GRID, INDEX_SIZE, LENGTH
from lopsided.recipes._transformers import BATCH, BETAS, INDEX_BATCH, RATES, SEEDS, online, phased

INDEX, REGRESSION, ADDITION = ({"task": task} for task in ("single-index", "regression", "addition"))
FRESH, REPEATED = {"data": "fresh"}, {"data": "repeated"}
DEFAULT, NORM, LARGER = ({"queries": kind} for kind in ("default", "QK norm", "QK scale 4"))
SCALE = 4.0
LOWER = {"smoke": (), "laptop": (0.0005,), "paper": ()}
"""A rate that only QK norm tries in addition, because it was best at a low one on parity."""


def arms(scale: ScaleName) -> Arms:
    fresh, wider = online(scale, BATCH), online(scale, INDEX_BATCH)
    four = phased(scale, sequences.ADDITION_STEPS[scale], sequences.FOUR_SHARES, sequences.FOUR_EPOCHS, BATCH[scale])
    larger = [{"match": "*.attention.[qk].weight", "init": SCALE}]
    for task, make, rates, plans in (
        (INDEX, sequences.single_index, RATES[scale], [(FRESH, wider)]),
        (
            REGRESSION,
            sequences.regression,
            sequences.REGRESSION_RATES[scale],
            [(FRESH, fresh), (REPEATED, sequences.regression_phases(scale))],
        ),
        (ADDITION, sequences.addition, RATES[scale], [(FRESH, fresh), (REPEATED, four)]),
    ):
        if scale == "smoke" and task != ADDITION:
            continue  # what is left exercises the code; every arm is a program to compile
        grid = {"lr": rates, "b2": BETAS[scale]}
        for data, plan in plans:
            yield from swept(make(scale, plan=plan), grid, **task, **data, **DEFAULT)
        if task != ADDITION:
            yield from swept(make(scale, plan=plans[0][1], groups=larger), grid, **task, **FRESH, **LARGER)
        for data, plan in plans:
            normed = make(scale, plan=plan, model={"qk_norm": True})
            yield from swept(normed, {**grid, "lr": (*LOWER[scale], *rates)}, **task, **data, **NORM)


def figure(r: Results) -> Figure:
    three = [FRESH | kind for kind in (DEFAULT, NORM, LARGER)]
    panels = [
        ("Single-index model, fresh", INDEX, "test/loss", three),
        ("In-context regression, fresh", REGRESSION, "test/loss", three),
        ("In-context regression, repeated", REGRESSION, "test/loss", [REPEATED | kind for kind in (DEFAULT, NORM)]),
        (
            "Modular addition",
            ADDITION,
            "test/accuracy",
            [data | kind for data in (FRESH, REPEATED) for kind in (DEFAULT, NORM)],
        ),
    ]
    return Figure(
        "Queries and keys on other tasks",
        [
            tuned_curves([best(r, **task, **each) for each in at], metric, "steps", title)
            for title, task, metric, at in panels
            if r.where(**task)
        ],
    )


recipe = Recipe(
    name="qk-tasks",
    paper="C",
    figure_number="9, 27 (b)",
    question="Is it the same with queries and keys on other tasks?",
    about=__doc__,
    threshold=0.9,
    scales={"smoke": (2, 25), "laptop": (SEEDS, 1000), "paper": (SEEDS,)},
    assumptions=[DECAY, GRID, LENGTH, *ADDITION_SIZES, INDEX_SIZE],
    arms=arms,
    claims=[
        Statement(
            "single-index, fresh samples: QK norm needs fewer steps",
            Paper("closes most of the gap", "fig. 9b"),
            Ahead(INDEX | FRESH | NORM, of=INDEX | FRESH | DEFAULT),
        ),
        Statement(
            "single-index, fresh samples: a larger QK start needs fewer steps",
            Paper("narrower gap", "fig. 9a"),
            Ahead(INDEX | FRESH | LARGER, of=INDEX | FRESH | DEFAULT),
        ),
        Statement(
            "regression, fresh samples: a larger QK start needs fewer steps",
            Paper("narrower gap", "fig. 9c"),
            Ahead(REGRESSION | FRESH | LARGER, of=REGRESSION | FRESH | DEFAULT),
        ),
        *(
            Statement(f"{said}: QK norm needs more steps", Paper(*paper), Ahead(at | DEFAULT, of=at | NORM))
            for said, at, paper in (
                ("regression, fresh samples", REGRESSION | FRESH, ("hurts", "fig. 9d")),
                ("regression, four phases", REGRESSION | REPEATED, ("hurts", "fig. 9d")),
                ("modular addition, fresh samples", ADDITION | FRESH, ("worse", "fig. 27b")),
                ("modular addition, four phases", ADDITION | REPEATED, ("worse", "fig. 27b")),
            )
        ),
    ],
    figure=figure,
)
