"""biased-online: giving fresh samples the bias of a small set does not make them as good as the small set.

Paper C, figures 3 (b) and 17. Every coordinate of an online stream gets the mean that it has on 2^m samples drawn
beforehand. Paper: minor effects unless 2^m is tiny.

    lopsided run biased-online --scale laptop

`laptop` changes: N = 2^13 for the small set, m in {4, 6, 8, 10, 12}, (20, 6)-parity with mini-batches of 128 as in the
paper. A biased stream is tested on unbiased inputs. Rates are swept per arm; one seed in three chooses, the others are
judged.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import SEEDS, SweptRecipe, chosen_rates, panel, perceptron, swept, swept_names, tuned
from lopsided.report.panels import Figure
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

SMALL, FRESH = "small set", "fresh samples"
POWERS = {"smoke": (4, 6), "laptop": (4, 6, 8, 10, 12), "paper": (4, 6, 8, 10, 12)}
SIZES = {"smoke": (8, 2, 2**6, 16, 60), "laptop": (20, 6, 2**13, 128, 3000), "paper": (20, 6, 2**14, 128, 20_000)}
"""d, k, N, batch, steps."""
RATES = {"smoke": (0.5, 1.0), "laptop": (2.0, 3.0, 4.0, 5.0), "paper": (0.25, 0.3, 0.36, 0.43, 0.52, 0.62, 0.75, 0.9)}
AHEAD = Statement("a repeated small set needs fewer steps than fresh samples", "ahead throughout (fig. 2a, 3b)")


def _still(power: int) -> Statement:
    return Statement(
        f"… and than fresh samples with the bias of 2^{power} samples", "not closed unless 2^m is tiny (fig. 3b)"
    )


class BiasedOnline(SweptRecipe):
    name = "biased-online"
    paper = "C: Less Data, Faster Training"
    figure_number = "3 (b)"
    question = "Is it enough to give fresh samples the bias of a small set?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 3, "2 CPU cores"),
        "laptop": Scale(60, 75, "2 CPU cores"),
        "paper": Scale(SEEDS, 2_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        d, k, size, batch, steps = SIZES[scale]

        def arm(plan: dict[str, Any], biased_by: int | None = None):
            return lambda lr: perceptron(
                scale,
                lr,
                task={"name": "sparse-parity", "d": d, "k": k},
                plan={**plan, "batch": batch},
                training_set={"biased_by": biased_by},
                steps=steps,
            )

        arms = {SMALL: arm({"name": "fixed", "size": size}), FRESH: arm({"name": "online"})}
        arms |= {_biased(m): arm({"name": "online"}, 2**m) for m in POWERS[scale]}
        return swept(arms, RATES[scale])

    def statements(self) -> list[Statement]:
        return [AHEAD, *map(_still, POWERS["laptop"])]

    def claims(self, results: Results) -> list[Claim]:
        at = (self.name, results.scale)
        small = tuned(results, SMALL).times()
        slower = {AHEAD: FRESH} | {_still(m): _biased(m) for m in POWERS["laptop"]}
        return [s.faster(*at, tuned(results, name).times(), small, "steps") for s, name in slower.items()]

    def figure(self, results: Results) -> Figure:
        names = swept_names(results)
        arms = [tuned(results, name) for name in names]
        return Figure(
            "The bias of the inputs is not what helps",
            [
                panel(arms, "test/accuracy", "steps", "Mini-batch SGD"),
                panel(arms, "norm/ratio", "steps", "‖a‖ / ‖W‖"),
                chosen_rates(results, names),
            ],
        )


def _biased(power: int) -> str:
    return f"fresh, bias of 2^{power}"
