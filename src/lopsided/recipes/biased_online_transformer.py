"""biased-online-transformer: fresh samples with the bias of a small set, for a transformer.

Paper C, figure 17: (20, 6)-parity; every coordinate of an online stream gets the mean that it has on 2^m samples drawn
beforehand, m = 2, ..., 6. Paper: faster for certain m (best m = 3), but as fast as the phases only with the bias of an
extremely small set.

    lopsided run biased-online-transformer --scale laptop

`laptop` changes: (10, 4)-parity, a transformer of width 32 with 4 heads, six phases of an online run of 8,000 steps.
Tested on unbiased inputs. Learning rates are swept per arm, beta_2 is .95; one seed in three chooses, the others are
judged.
"""

from __future__ import annotations

from typing import ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SweptRecipe, chosen_rates, panel, swept, swept_names, tuned
from lopsided.recipes._transformers import FEWER_BETAS, RATES, SEEDS, arm, online, six_phases
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

SIX, FRESH = "six phases", "fresh samples"
POWERS = (2, 3, 4, 5, 6)
AHEAD = Statement("six phases need fewer steps than fresh samples", "ahead (fig. 17)")


def _still(power: int) -> Statement:
    return Statement(
        f"… and than fresh samples with the bias of 2^{power} samples", "not closed unless 2^m is tiny (fig. 17)"
    )


class BiasedOnlineTransformer(SweptRecipe):
    name = "biased-online-transformer"
    paper = "C: Less Data, Faster Training"
    figure_number = "17"
    question = "Is it enough for a transformer to give fresh samples the bias of a small set?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 6, "2 CPU cores"),
        "laptop": Scale(SEEDS, 600, "2 CPU cores"),
        "paper": Scale(SEEDS, 15_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        def biased(power: int):
            return arm(scale, plan=online(scale), training_set={"biased_by": 2**power})

        arms = {SIX: arm(scale, plan=six_phases(scale)), FRESH: arm(scale, plan=online(scale))}
        arms |= {_biased(power): biased(power) for power in POWERS}
        return swept(arms, RATES[scale], b2=FEWER_BETAS[scale])

    def statements(self) -> list[Statement]:
        return [AHEAD, *map(_still, POWERS)]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        six = tuned(results, SIX).times()
        slower = {AHEAD: FRESH} | {_still(m): _biased(m) for m in POWERS}
        return [s.faster(*at, tuned(results, name).times(), six, "steps") for s, name in slower.items()]

    def figure(self, results: Results) -> Figure:
        names = swept_names(results)
        return Figure(
            "The bias of the inputs is not what helps a transformer",
            [
                panel([tuned(results, n) for n in names], "test/accuracy", "steps", "Mini-batch AdamW", log_x=True),
                chosen_rates(results, names),
            ],
        )


def _biased(power: int) -> str:
    return f"fresh, bias of 2^{power}"
