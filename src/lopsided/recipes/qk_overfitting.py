"""qk-overfitting: paper C says that with QK norm a transformer fits a repeated set sooner and generalises worse.

Paper C, figure 28: (20, 6)-parity, six phases, mini-batches. Paper: QK norm reaches a high training accuracy sooner in
the first two phases while test accuracy stays low.

    lopsided run qk-overfitting --scale laptop

`laptop` changes: (10, 4)-parity, a transformer of width 32 with 4 heads; in place of six phases one set of 256
samples (about 230 of the 1,024 inputs) for 2,000 steps of 32, so that nothing but this set can be learned; learning
rate 0.0015, beta_2 0.95 for both arms. Training accuracy is measured on the set itself.
"""

from __future__ import annotations

from lopsided.recipe import (
    FIVE_POINTS,
    Ahead,
    Arms,
    At,
    Figure,
    Final,
    Higher,
    Lower,
    Measured,
    Paper,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
    curves,
)
from lopsided.recipes._assumed import TRANSFORMERS
from lopsided.recipes._transformers import BATCH, PARITY, PARITY_EVALUATION, RATES, SEEDS, of_tokens, transformer

TASKS = {**PARITY, "laptop": (10, 4)}
"""(d, k). At laptop scale a parity with only 1,024 different inputs."""
EVALUATION = {**PARITY_EVALUATION, "laptop": {"every": 50, "samples": 1024}}
SIZES = {"smoke": (16, 60), "laptop": (256, 2000), "paper": (3200, 10_000)}
"""N, steps: of the first of the paper's six subsets, which its statement is about."""
BETA = 0.95
FITTED = 0.95


PLAIN, NORM = {"queries": "default"}, {"queries": "QK norm"}


def arms(scale: ScaleName) -> Arms:
    size, steps = SIZES[scale]
    for queries, norm in (("default", False), ("QK norm", True)):
        spec = transformer(
            scale,
            RATES[scale][0],
            BETA,
            task=of_tokens(*TASKS[scale]),
            plan={"name": "fixed", "size": size, "batch": BATCH[scale]},
            steps=steps,
            evaluation=EVALUATION[scale],
            probes=[{"name": "train-metrics", "samples": size}],
            until=None,
            model={"qk_norm": norm},
        )
        yield arm(spec, queries=queries)


def fitted(at: At) -> Reaches:
    """Steps until the set itself is fitted."""
    return Reaches(at, "train-set/accuracy", FITTED)


def apart(at: At) -> Measured:
    """(M,) training minus test accuracy at the end."""

    def gap(r):
        return r.arm(**at).final("train-set/accuracy") - r.arm(**at).final("test/accuracy")

    return Measured(gap, at, level_of="test/accuracy")


def figure(r: Results) -> Figure:
    return Figure(
        "QK norm and a repeated set",
        [
            curves(r, "train-set/accuracy", "steps", "On the set itself", log_x=True),
            curves(r, "test/accuracy", "steps", "On fresh samples", log_x=True),
        ],
    )


recipe = Recipe(
    name="qk-overfitting",
    paper="C",
    figure_number="28",
    question="Does QK norm make a transformer over-fit a set that it repeats?",
    about=__doc__,
    scales={"smoke": (2, 5), "laptop": (2 * SEEDS, 125), "paper": (SEEDS,)},
    assumptions=TRANSFORMERS,
    arms=arms,
    claims=[
        Statement(
            "QK norm fits the small set in fewer steps",
            Paper("sooner in the first phases", "fig. 28, left"),
            Ahead(fitted(NORM), of=fitted(PLAIN)),
        ),
        Statement(
            "… and ends with a lower test accuracy",
            Paper("test accuracy stays low", "fig. 28, right"),
            Lower(Final(NORM), Final(PLAIN), "final test accuracy, default minus QK norm", FIVE_POINTS),
        ),
        Statement(
            "… so that training and test accuracy lie further apart",
            Paper("over-fits", "fig. 28"),
            Higher(apart(NORM), apart(PLAIN), "training minus test accuracy at the end", FIVE_POINTS),
        ),
    ],
    figure=figure,
)
