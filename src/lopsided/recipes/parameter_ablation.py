"""parameter-ablation: which parameters of a transformer need the small set?

Paper C, figure 30: all parameters but one group repeat a small set (six phases), that group learns from fresh samples.
Paper: W_v needs the small set most; W_q or W_k alone hardly do, but both together slow learning down a lot.

    lopsided run parameter-ablation --scale laptop

`laptop` changes: (10, 4)-parity, a transformer of width 32 with 4 heads, at most 8,000 steps of 32 samples. A step has
two gradients, one of each stream; the axis is steps. Learning rates are swept per arm, beta_2 is .95; one seed in three
chooses, the others are judged.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, panel, swept, swept_names, tuned
from lopsided.recipes._transformers import FEWER_BETAS, RATES, SEEDS, arm, online, six_phases
from lopsided.report.panels import Figure, Panel, over_members
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

ALL = "all parameters repeat"
FRESH_GROUPS = {
    "W_q": "*.attention.q.*",
    "W_k": "*.attention.k.*",
    "W_v": "*.attention.v.*",
    "W_o": "*.attention.o.*",
    "MLP": "*.mlp.*",
    "embeddings": "[ep][mo][bs]*",
    "W_q and W_k": "*.attention.[qk].*",
}
"""Which parameters learn from fresh samples, by the name of the arm. (`[ep][mo][bs]*`: `embedding` and `position`.)"""
SINGLE = ("W_q", "W_k", "W_o", "MLP", "embeddings")
BOTH = "W_q and W_k"
NEEDS = Statement("fresh samples for W_v alone cost steps", "the most of all single groups (fig. 30, left)")
JOINT = Statement("fresh samples for W_q and W_k together cost steps", "a significant slowdown (fig. 30, right)")
MILD = {
    name: Statement(f"fresh samples for {name} alone cost less than 25 % in steps", "a mild effect (fig. 30, left)")
    for name in ("W_q", "W_k")
}


def _more(name: str) -> Statement:
    return Statement(f"W_v needs the small set more than {name} does", "W_v the most (fig. 30, left)")


class ParameterAblation(SweptRecipe):
    name = "parameter-ablation"
    paper = "C: Less Data, Faster Training"
    figure_number = "30"
    question = "Which of a transformer's parameters gain from repetition?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 15, "2 CPU cores"),
        "laptop": Scale(SEEDS, 740, "2 CPU cores"),
        "paper": Scale(SEEDS, 20_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        def split(match: str) -> dict[str, Any]:
            return {
                "name": "by-group",
                "plan": six_phases(scale),
                "others": [{"match": match, "plan": online(scale)}],
            }

        groups = {BOTH: FRESH_GROUPS[BOTH]} if scale == "smoke" else FRESH_GROUPS
        plans = {ALL: six_phases(scale)} | {_fresh(name): split(match) for name, match in groups.items()}
        arms = {name: arm(scale, plan=plan) for name, plan in plans.items()}
        return swept(arms, RATES[scale], b2=FEWER_BETAS[scale])

    def statements(self) -> list[Statement]:
        return [NEEDS, *MILD.values(), JOINT, *map(_more, SINGLE)]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        base = tuned(results, ALL).times()
        fresh = {name: tuned(results, _fresh(name)).times() for name in FRESH_GROUPS}
        return [
            NEEDS.faster(*at, fresh["W_v"], base, "steps"),
            *(statement.not_ahead(*at, fresh[name], base, "steps") for name, statement in MILD.items()),
            JOINT.faster(*at, fresh[BOTH], base, "steps"),
            *(_more(name).faster(*at, fresh["W_v"], fresh[name], "steps") for name in SINGLE),
        ]

    def figure(self, results: Results) -> Figure:
        names = swept_names(results)
        arms = [tuned(results, name) for name in names]
        single = [t for t in arms if BOTH not in t.name]
        pair = [t for t in arms if t.name in (ALL, *map(_fresh, ("W_q", "W_k", BOTH)))]
        steps = [
            over_members(t.name, np.array([float(i)]), t.times().ordinal[:, None], i, "points")
            for i, t in enumerate(arms)
        ]
        return Figure(
            "Which parameters need the small set",
            [
                panel(single, "test/accuracy", "steps", "One group learns from fresh samples", log_x=True),
                panel(pair, "test/accuracy", "steps", "W_q and W_k together", log_x=True),
                Panel("Steps to learn", "arm", "steps", steps, log_y=True),
            ],
        )


def _fresh(name: str) -> str:
    return f"fresh for {name}"
