"""qk-tasks: queries and keys on other tasks, where their norm helps one and hurts two.

Paper C, figures 9 and 27 (b): single-index model, in-context regression, modular addition. Paper: a larger initial
scale of W_q, W_k narrows the gap on the single-index model and on regression; QK norm almost closes it on the
single-index model, but hurts both fresh and repeated training on regression and on modular addition.

    lopsided run qk-tasks --scale laptop

`laptop` changes: the tasks, schedules and thresholds of `small-vs-large-transformer`; the scale is 4 times the default.
Learning rates are swept per arm, with a lower one more for QK norm; one seed in three chooses, the others are judged.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes import _sequences as sequences
from lopsided.recipes._repetition import SweptRecipe, panel, swept, tuned
from lopsided.recipes._transformers import FEWER_BETAS, LARGER_BATCH, RATES, SEEDS, Arm, online, phased
from lopsided.report.panels import Figure
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

INDEX, REGRESSION, ADDITION = "single-index", "regression", "addition"
FRESH, REPEATED = "fresh", "repeated"
DEFAULT, NORM, LARGER = "default", "QK norm", "QK scale 4"
SCALE = 4.0
LOWER: dict[str, tuple[float, ...]] = {"smoke": (), "laptop": (0.0005,), "paper": ()}
"""A rate that only QK norm tries in addition, because it was best at a low one on parity."""
INDEX_NORM = Statement("single-index, fresh samples: QK norm needs fewer steps", "closes most of the gap (fig. 9b)")
INDEX_SCALE = Statement("single-index, fresh samples: a larger QK start needs fewer steps", "narrower gap (fig. 9a)")
REGRESSION_SCALE = Statement("regression, fresh samples: a larger QK start needs fewer steps", "narrower gap (fig. 9c)")
HURTS = {
    (REGRESSION, FRESH): Statement("regression, fresh samples: QK norm needs more steps", "hurts (fig. 9d)"),
    (REGRESSION, REPEATED): Statement("regression, four phases: QK norm needs more steps", "hurts (fig. 9d)"),
    (ADDITION, FRESH): Statement("modular addition, fresh samples: QK norm needs more steps", "worse (fig. 27b)"),
    (ADDITION, REPEATED): Statement("modular addition, four phases: QK norm needs more steps", "worse (fig. 27b)"),
}


class QKTasks(SweptRecipe):
    name = "qk-tasks"
    paper = "C: Less Data, Faster Training"
    figure_number = "9, 27 (b)"
    question = "Is it the same with queries and keys on other tasks?"
    threshold = 0.9
    scales: ClassVar = {
        "smoke": Scale(2, 25, "2 CPU cores"),
        "laptop": Scale(SEEDS, 1000, "2 CPU cores"),
        "paper": Scale(SEEDS, 20_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        fresh, wider = online(scale), online(scale, LARGER_BATCH)
        four = phased(scale, sequences.ADDITION_STEPS[scale], sequences.FOUR_SHARES, sequences.FOUR_EPOCHS)
        normed: dict[str, Any] = {"model": {"qk_norm": True}}
        larger = {"groups": [{"match": "*.attention.[qk].weight", "init": SCALE}]}

        def kinds(task: str, make: Any, plans: dict[str, Any]) -> dict[str, Arm]:
            arms = {}
            for plan_name, plan in plans.items():
                arms[_name(task, plan_name, DEFAULT)] = make(scale, plan=plan)
            if task != ADDITION:
                arms[_name(task, FRESH, LARGER)] = make(scale, plan=wider, **larger)
            return arms

        def norms(task: str, make: Any, plans: dict[str, Any]) -> dict[str, Arm]:
            return {_name(task, name, NORM): make(scale, plan=plan, **normed) for name, plan in plans.items()}

        beta = FEWER_BETAS[scale]
        specs = {}
        for task, make, plans, rates in (
            (INDEX, sequences.single_index, {FRESH: wider}, RATES[scale]),
            (
                REGRESSION,
                sequences.regression,
                {FRESH: wider, REPEATED: sequences.regression_phases(scale)},
                sequences.REGRESSION_RATES[scale],
            ),
            (ADDITION, sequences.addition, {FRESH: fresh, REPEATED: four}, RATES[scale]),
        ):
            if scale == "smoke" and task != ADDITION:
                continue  # what is left exercises the code; every arm is a program to compile
            specs |= swept(kinds(task, make, plans), rates, b2=beta)
            specs |= swept(norms(task, make, plans), (*LOWER[scale], *rates), b2=beta)
        return specs

    def statements(self) -> list[Statement]:
        return [INDEX_NORM, INDEX_SCALE, REGRESSION_SCALE, *HURTS.values()]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)

        def times(task: str, plan: str, kind: str) -> Times:
            return tuned(results, _name(task, plan, kind)).times()

        index, regression = (times(task, FRESH, DEFAULT) for task in (INDEX, REGRESSION))
        return [
            INDEX_NORM.faster(*at, index, times(INDEX, FRESH, NORM), "steps"),
            INDEX_SCALE.faster(*at, index, times(INDEX, FRESH, LARGER), "steps"),
            REGRESSION_SCALE.faster(*at, regression, times(REGRESSION, FRESH, LARGER), "steps"),
            *(s.faster(*at, times(*key, NORM), times(*key, DEFAULT), "steps") for key, s in HURTS.items()),
        ]

    def figure(self, results: Results) -> Figure:
        shown = {
            "Single-index model, fresh": (INDEX, "test/loss", [(FRESH, kind) for kind in (DEFAULT, NORM, LARGER)]),
            "In-context regression, fresh": (
                REGRESSION,
                "test/loss",
                [(FRESH, kind) for kind in (DEFAULT, NORM, LARGER)],
            ),
            "In-context regression, repeated": (
                REGRESSION,
                "test/loss",
                [(REPEATED, kind) for kind in (DEFAULT, NORM)],
            ),
            "Modular addition": (
                ADDITION,
                "test/accuracy",
                [(plan, kind) for plan in (FRESH, REPEATED) for kind in (DEFAULT, NORM)],
            ),
        }
        panels = []
        for title, (task, metric, arms) in shown.items():
            if results.scale == "smoke" and task != ADDITION:
                continue
            panels.append(panel([tuned(results, _name(task, *each)) for each in arms], metric, "steps", title))
        return Figure("Queries and keys on other tasks", panels)


def _name(task: str, plan: str, kind: str) -> str:
    return f"{task}, {plan}, {kind}"
