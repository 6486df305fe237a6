"""linear-regression: a task whose loss has no plateau gains nothing from a small set.

Paper C, discussion of when repetition helps: linear regression is its example of a task without a gap between small and
large sets; it gives no figure. Here a linear model and a perceptron learn a linear function, without noise, from a
small set, repeated, and from fresh samples; the perceptron also by gradient descent on a small and on a large set.

    lopsided run linear-regression --scale laptop

`laptop` changes: d = 40, a small set of 2^10, a large one of 2^14 samples, batches of 16. A member has learned at a
test loss of 0.01, a fiftieth of what answering 0 costs. Rates are swept per arm; each third of the seeds is judged at
what the others choose.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Arms,
    Figure,
    NotAhead,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Spec,
    Statement,
    bests,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import GRID, REGRESSION_SIZE

SIZES = {"smoke": (8, 2**5, 2**7, 8), "laptop": (40, 2**10, 2**14, 16), "paper": (100, 2**13, 2**18, 64)}
"""d, small set, large set, mini-batch; those of `paper` are ours, too."""
STEPS = {"smoke": 60, "laptop": 1000, "paper": 4000}
GD_SAMPLES = {"smoke": 64, "laptop": 2048, "paper": 8192}
RATES = {
    ("linear", "SGD"): (0.04, 0.06, 0.09, 0.13),
    ("perceptron", "SGD"): (0.1, 0.15, 0.2, 0.3),
    ("perceptron", "gradient descent"): (0.2, 0.3, 0.45, 0.6),
}
DEPTHS = {"linear": 1, "perceptron": 2}
SMALL, LARGE, FRESH = ({"data": data} for data in ("small set", "large set", "fresh samples"))


def arms(scale: ScaleName) -> Arms:
    d, small, large, batch = SIZES[scale]
    fixed, online = {"name": "fixed", "size": small, "batch": batch}, {"name": "online", "batch": batch}
    descents = [{"name": "full-batch", "size": size} for size in (small, large)]
    for (model, by), rates in RATES.items():
        plans = {"SGD": ((SMALL, fixed), (FRESH, online))}.get(by, zip((SMALL, LARGE), descents, strict=True))
        for data, plan in plans:
            make = partial(spec, scale, d=d, depth=DEPTHS[model], plan=plan)
            yield from swept(make, {"lr": rates[:1] if scale == "smoke" else rates}, model=model, by=by, **data)


def spec(scale: str, lr: float, d: int, depth: int, plan: dict) -> Spec:
    """A network of `depth` layers of weights on y = <w*, x>."""
    return Spec.parse(
        {
            "task": {"name": "single-index", "d": d, "link": "h1"},
            "model": {"name": "mlp", "width": 16 if scale == "smoke" else 64, "depth": depth},
            "plan": plan,
            "optimizer": {"name": "sgd", "lr": lr},
            "loss": "square",
            "steps": STEPS[scale],
            "evaluation": {"every": 20 if scale == "smoke" else 2, "samples": GD_SAMPLES[scale]},
            "until": {"metric": "test/loss", "at_most": 0.01},
        }
    )


def without_a_gap(words, model, by, large):
    small, other = ({"model": model, "by": by} | data for data in (SMALL, large))
    return Statement(
        f"{words}: the small set is not ahead of {large['data']} by more than 25 %",
        Paper("no gap", "discussion; no figure"),
        NotAhead(small, of=other),
        history="a claim of equal steps was dropped after the first rows: the paper names no equality",
    )


def figure(r: Results) -> Figure:
    panels = []
    for model, by in RATES:
        title, long = f"{model.capitalize()}, {by}", by != "SGD"
        panels.append(tuned_curves(bests(r, model=model, by=by), "test/loss", "steps", title, log_y=True, log_x=long))
    return Figure("Linear regression: no gap", panels)


recipe = Recipe(
    name="linear-regression",
    paper="C",
    figure_number="none: section on when repetition helps",
    question="Does a small set help where the loss falls from the first step on?",
    about=__doc__,
    scales={"smoke": (2, 4), "laptop": (24, 270), "paper": (24,)},
    assumptions=[GRID, REGRESSION_SIZE],
    arms=arms,
    claims=[
        without_a_gap("linear model, SGD", "linear", "SGD", FRESH),
        without_a_gap("perceptron, SGD", "perceptron", "SGD", FRESH),
        without_a_gap("perceptron, gradient descent", "perceptron", "gradient descent", LARGE),
    ],
    figure=figure,
)
