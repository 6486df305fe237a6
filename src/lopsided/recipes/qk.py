"""qk: larger steps, a larger start or a norm for queries and keys let fresh samples catch up with a repeated set.

Paper C, figure 8: (20, 6)-parity, mini-batches. Paper: for fresh samples the best rate of W_q, W_k is 3.6 times that of
the rest, their best initial scale 8 times the default; QK norm removes the saddle at the start and almost closes the
gap. Six phases gain little from rate and scale, and QK norm slows them down.

    lopsided run qk --scale laptop

`laptop` changes: (10, 4)-parity, a transformer of width 32 with 4 heads, at most 8,000 steps of 32 samples. Swept per
arm: the learning rate, and beta_2 (default, QK norm) or the factor on W_q and W_k (rate or scale); QK norm's grid goes
to a lower rate and a higher beta_2, where trials had it best. One seed in three chooses, the others are judged. A gap
is the ratio of median steps to learn, fresh samples over six phases.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, Tuned, panel, swept, tuned
from lopsided.recipes._transformers import BETAS, FEWER_BETAS, RATES, SEEDS, Arm, arm, online, six_phases, transformer
from lopsided.report.panels import Figure
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

FRESH, SIX = "fresh", "six phases"
DEFAULT, RATE, SCALE, NORM = "default", "QK rate", "QK scale", "QK norm"
FACTORS = {
    "smoke": ((2.0,), (2.0,)),
    "laptop": ((2.0, 4.0), (2.0, 4.0)),
    "paper": ((1.25, 1.8, 2.5, 3.6, 5.2), (1.0, 2.0, 4.0, 8.0, 16.0)),
}
"""Of the rate, of the initial scale."""
NORM_RATES = {**RATES, "laptop": (0.0005, *RATES["laptop"])}
NORM_BETAS = {**BETAS, "laptop": (*BETAS["laptop"], 0.999)}
"""In trials QK norm was best at a lower rate and a higher beta_2 than the rest, which hardly learns there."""
GAP = Statement("six phases need fewer steps than fresh samples", "a clear gap (fig. 8, solid lines)")
HELPS = {
    RATE: Statement("fresh: W_q, W_k need fewer steps at a rate of their own", "best at 3.6 times the rate (fig. 8a)"),
    SCALE: Statement("fresh: W_q, W_k need fewer steps from a larger start", "best at 8 times the scale (fig. 8b)"),
    NORM: Statement("fresh: QK norm needs fewer steps", "no saddle at the start (fig. 8c)"),
}
NARROWER = {
    kind: Statement(f"the gap is narrower with {what}", "reduced (fig. 8)")
    for kind, what in ((RATE, "a QK rate of its own"), (SCALE, "a larger QK start"), (NORM, "QK norm"))
}
CLOSED = {
    kind: Statement(f"six phases are less than 25 % ahead of fresh samples with {what}", "reduced or reverted (fig. 8)")
    for kind, what in ((RATE, "a QK rate of its own"), (SCALE, "a larger QK start"), (NORM, "QK norm"))
}
"""Decided without the default arm on fresh samples, whose median member may never learn."""
NO_GAIN = {
    RATE: Statement("six phases: without a QK rate of its own at most 25 % more steps", "best at 1.25 times (fig. 8a)"),
    SCALE: Statement("six phases: without a larger QK start at most 25 % more steps", "the default is best (fig. 8b)"),
}
SLOWED = Statement("six phases: QK norm needs more steps", "slowed down (fig. 8c)")


class QK(SweptRecipe):
    name = "qk"
    paper = "C: Less Data, Faster Training"
    figure_number = "8"
    question = "Does the gap of transformers come from queries and keys that start too small?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 15, "2 CPU cores"),
        "laptop": Scale(SEEDS, 1000, "2 CPU cores"),
        "paper": Scale(SEEDS, 30_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        def grouped(plan: dict[str, Any], of: str) -> Arm:
            def make(lr: float, b2: float, x: float) -> Spec:
                return transformer(scale, lr, b2, plan=plan, groups=[{"match": QK_WEIGHTS, of: x}])

            return make

        rates, fewer, (on_rate, on_scale) = RATES[scale], FEWER_BETAS[scale], FACTORS[scale]
        specs: dict[str, Spec] = {}
        for name, plan in ((FRESH, online(scale)), (SIX, six_phases(scale))):
            specs |= swept({f"{name}, {DEFAULT}": arm(scale, plan=plan)}, rates, b2=BETAS[scale])
            specs |= swept({f"{name}, {RATE}": grouped(plan, "lr")}, rates, b2=fewer, x=on_rate)
            specs |= swept({f"{name}, {SCALE}": grouped(plan, "init")}, rates, b2=fewer, x=on_scale)
            normed = arm(scale, plan=plan, model={"qk_norm": True})
            specs |= swept({f"{name}, {NORM}": normed}, NORM_RATES[scale], b2=NORM_BETAS[scale])
        return specs

    def statements(self) -> list[Statement]:
        return [GAP, *HELPS.values(), *NARROWER.values(), *CLOSED.values(), *NO_GAIN.values(), SLOWED]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        fresh, six = ({kind: _arm(results, name, kind).times() for kind in KINDS} for name in (FRESH, SIX))
        gaps: dict[str, tuple[Times, Times]] = {kind: (fresh[kind], six[kind]) for kind in KINDS}
        return [
            GAP.faster(*at, *gaps[DEFAULT], "steps"),
            *(statement.faster(*at, fresh[DEFAULT], fresh[kind], "steps") for kind, statement in HELPS.items()),
            *(statement.wider(*at, gaps[kind], gaps[DEFAULT], "steps") for kind, statement in NARROWER.items()),
            *(statement.not_ahead(*at, fresh[kind], six[DEFAULT], "steps") for kind, statement in CLOSED.items()),
            *(statement.not_ahead(*at, six[DEFAULT], six[kind], "steps") for kind, statement in NO_GAIN.items()),
            SLOWED.faster(*at, six[NORM], six[DEFAULT], "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        panels = []
        for kind, title in ((RATE, "Rate of W_q, W_k"), (SCALE, "Initial scale of W_q, W_k"), (NORM, "QK norm")):
            arms = [_arm(results, name, each) for name in (FRESH, SIX) for each in (DEFAULT, kind)]
            panels.append(panel(arms, "test/accuracy", "steps", title, log_x=True))
        return Figure("Queries and keys", panels)


KINDS = (DEFAULT, RATE, SCALE, NORM)
QK_WEIGHTS = "*.attention.[qk].weight"


def _arm(results: Results, plan: str, kind: str) -> Tuned:
    return tuned(results, f"{plan}, {kind}")
