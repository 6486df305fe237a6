"""test-law: which law to train on, if what is asked follows a power law, too?

Paper A tests on uniform skills. Users ask by laws of their own. Here networks that were trained on one law are tested
on others: exponents of training against exponents of the test. None of the claims is in the paper.

    lopsided run test-law --scale laptop

`laptop`: products of three elements of S4, 2 layers of width 64, 2,500 steps; tests of 1,024 samples for each law.
Accuracies of rank bins (paper A's, whose samples have all skills of one bin) do not tell this: a claim compares what
follows from them, if hops fail independently, with what is measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.recipe import (
    OWN,
    Above,
    Arms,
    Figure,
    Heat,
    Higher,
    Measured,
    Recipe,
    Results,
    ScaleName,
    Statement,
    arm,
)
from lopsided.recipes._frequency import BINS, RANK_BINS, UNIFORM, annealed, power_law, tracking

TRAINED = (0.0, 0.5, 1.0, 1.5, 2.0)
TESTED = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Exponents: 0 is uniform."""
FADES = {"law": "1.5 to 0"}
MARGIN = 0.05


def arms(scale: ScaleName) -> Arms:
    probe = {"name": "test-laws", "exponents": TESTED[1:], "samples": 1024 if scale != "smoke" else 64}
    changes: dict[str, Any] = {"probes": [RANK_BINS if scale != "smoke" else {**RANK_BINS, "samples": 64}, probe]}
    if scale == "laptop":
        changes["evaluation"] = {"every": 250, "samples": 2048}
    for alpha in TRAINED:
        yield arm(tracking(scale, power_law(alpha) if alpha else UNIFORM, **changes), alpha=alpha)
    yield arm(tracking(scale, annealed(1.5, 0.0, 0.5), **changes), **FADES)


def accuracy(each: Any, alpha: float) -> np.ndarray:
    """(M, T) accuracy on samples by a law of this exponent."""
    return each.metric("test/accuracy" if alpha == 0 else f"law{alpha:g}/accuracy")


def fixed(r: Results, alpha: float, at: int = -1) -> np.ndarray:
    """(A, M) accuracies under a test law after training on each of the fixed laws, at an evaluation."""
    return np.stack([accuracy(r.arm(alpha=trained), alpha)[:, at] for trained in TRAINED])


def best_exponent(alpha: float) -> Measured:
    """(M,) the exponent to train on that a member's seed finds best for a test law."""
    return Measured(lambda r: np.array(TRAINED)[fixed(r, alpha).argmax(0)], {"alpha": lambda a: True})


def above_the_best(alpha: float) -> Measured:
    """(M,) how far the law that fades ends above the best fixed law, chosen by the mean of all members."""

    def read(r: Results) -> np.ndarray:
        every = fixed(r, alpha)
        return accuracy(r.arm(**FADES), alpha)[:, -1] - every[every.mean(1).argmax()]

    return Measured(read, {})


def by_bins(each: Any) -> np.ndarray:
    """(M,) uniform-test accuracy that follows from those of rank bins, if the elements of a sample fail independently:
    each is right with the root of its bin's accuracy."""
    hops = each.spec.task.hops
    bins = np.stack([each.final(f"bin{b + 1}/accuracy") for b in range(BINS)])
    sizes = np.array([len(part) for part in np.array_split(np.arange(each.spec.task.n_skills), BINS)])
    return (sizes / sizes.sum() @ bins ** (1 / hops)) ** hops


def claims() -> list[Statement]:
    found = [
        Statement(
            "judged by a power law of exponent 2, a larger exponent is best to train on than judged by uniform skills",
            OWN,
            Higher(best_exponent(2.0), best_exponent(0.0), "best exponent of training", 0.25),
        ),
        Statement(
            "judged by uniform skills, exponent 1 ends above exponent 2",
            OWN,
            Higher(_final(1.0, 0.0), _final(2.0, 0.0), "final accuracy", MARGIN),
        ),
        Statement(
            "judged by a power law of exponent 2, uniform training ends below exponent 1",
            OWN,
            Higher(_final(1.0, 2.0), _final(0.0, 2.0), "final accuracy", MARGIN),
        ),
    ]
    for alpha in TESTED:
        judged = f"a power law of exponent {alpha:g}" if alpha else "uniform skills"
        found.append(
            Statement(
                f"judged by {judged}, a law that fades from 1.5 to 0 ends at most {MARGIN:g} below the best fixed law",
                OWN,
                Above(above_the_best(alpha), -MARGIN, "final accuracy, fading minus best fixed"),
            )
        )
    found.append(
        Statement(
            f"trained on exponent 1, uniform-test accuracy is more than {MARGIN:g} above what rank bins tell of it",
            OWN,
            Above(
                Measured(lambda r: r.arm(alpha=1.0).final("test/accuracy") - by_bins(r.arm(alpha=1.0)), {"alpha": 1.0}),
                MARGIN,
                "final accuracy, measured minus by independent hops",
            ),
            history="seen on the rows of `exponent`, S4 with four hops, before this recipe was written",
        )
    )
    return found


def _final(trained: float, tested: float) -> Measured:
    return Measured(lambda r: accuracy(r.arm(alpha=trained), tested)[:, -1], {"alpha": trained})


def figure(r: Results) -> Figure:
    rows = [r.arm(alpha=alpha) for alpha in TRAINED] + [r.arm(**FADES)]
    names = [*("uniform" if a == 0 else f"{a:g}" for a in TRAINED), "1.5 to 0"]
    tests = ["uniform" if a == 0 else f"{a:g}" for a in TESTED]
    last = len(rows[0].steps) - 1
    panels = []
    for at in dict.fromkeys((last // 2, last)):
        values = np.array([[np.median(accuracy(each, alpha)[:, at]) for alpha in TESTED] for each in rows])
        panels.append(
            Heat(
                f"After {rows[0].steps[at]:,} steps",
                "exponent of the test's law",
                "exponent of training's law",
                values,
                "median accuracy",
                x_ticks=tests,
                y_ticks=names,
            )
        )
    return Figure("The law to train on, for the law that is asked by", panels)


recipe = Recipe(
    name="test-law",
    paper="A",
    figure_number="none",
    question="Which law should one train on, if what is asked follows a power law, too?",
    about=__doc__,
    scales={"smoke": (2, 10), "laptop": (8, 1400), "paper": (4,)},
    arms=arms,
    claims=claims(),
    figure=figure,
)
