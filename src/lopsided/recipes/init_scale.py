"""init-scale: the right initial scales close the gap for the whole population; a small set hardly needs them.

Paper C, figures 5 and 6 (the paper's 42 million runs): final accuracy of a perceptron with two hidden layers over
(scale of the first layer, scale of the others), each cell at its best learning rate, trained on the whole population
of (20, 6)-parity and on random subsets of 2^14. Paper: at the default scales the whole population is behind; a smaller
first layer and larger others close the gap; the small set is robust.

    lopsided run init-scale --scale laptop

`laptop` changes: (12, 5)-parity, two hidden layers of width 32, N = 2^9 against all 2^12 inputs, 200 steps of gradient
descent, 12 x 12 scales from 1/8 to 5.7, four learning rates, nine seeds: 10,368 runs, of which those that are solved or
diverge leave early. One seed in three chooses each cell's rate, the others are shown and judged. A scale multiplies a
layer's weights and biases.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import CHOOSER, SOLVED, SweptRecipe, perceptron
from lopsided.report.panels import Figure, Heat
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

SETTING = {"smoke": (6, 2, 2**4, 8, 40), "laptop": (12, 5, 2**9, 32, 200), "paper": (20, 6, 2**14, 64, 2000)}
"""d, k, N of the small set, width, steps."""
GRID = {
    "smoke": (0.25, 1.0, 4.0),
    "laptop": tuple(2.0 ** np.arange(-3, 3, 0.5)),
    "paper": tuple(2.0 ** np.arange(-4, 4, 0.5)),
}
"""Scales of either kind of layer; 1 is PyTorch's default."""
RATES = {"smoke": (0.3, 1.0), "laptop": (0.1, 0.3, 1.0, 3.0), "paper": tuple(1.2 ** np.arange(-12, 8))}
GOOD = 0.9
CLOSE = 0.02
STATEMENTS = [
    Statement("default scales: the small set ends with a higher accuracy", "the whole population is behind (fig. 5)"),
    Statement("whole population: a smaller first and larger other layers beat the default", "no gap there (fig. 5)"),
    Statement("at its best scales the whole population is within .02 of the small set's best", "no gap left (fig. 5)"),
    Statement("the small set is good (0.9) at a larger share of all scales", "much more robust (fig. 5)"),
]


class InitScale(SweptRecipe):
    name = "init-scale"
    paper = "C: Less Data, Faster Training"
    figure_number = "5, 6"
    question = "Can the right initial scales replace a small set?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 5, "2 CPU cores"),
        "laptop": Scale(9, 630, "2 CPU cores"),
        "paper": Scale(256, 10**8, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        d, k, small, width, steps = SETTING[scale]
        specs = {}
        cells = list(product(GRID[scale], GRID[scale], RATES[scale]))
        for size, (first, other, rate) in product(("small", "all"), cells):
            groups = [{"match": "layers.0.*", "init": first}, {"match": "layers.[12].*", "init": other}]
            specs[cell_name(size, first, other, rate)] = perceptron(
                scale,
                rate,
                task={"name": "sparse-parity", "d": d, "k": k},
                model={"depth": 3, "width": width},
                plan={"name": "full-batch", "size": small if size == "small" else 2**d},
                training_set={"remove": "repeats"},
                groups=groups,
                steps=steps,
                evaluation={"every": 20, "samples": 64 if scale == "smoke" else 1024},
                probes=[],
            )
        return specs

    def statements(self) -> list[Statement]:
        return STATEMENTS

    def claims(self, results: Results) -> list[Claim]:
        at, grid = (self.name, results.scale), np.array(GRID[results.scale])
        chosen = {size: _map(results, size) for size in ("small", "all")}
        middle = int(np.argmin(abs(np.log(grid))))
        default = {size: accuracy[middle, middle] for size, (accuracy, _) in chosen.items()}
        region = np.ix_(grid < 1, grid > 1)
        everything, small = chosen["all"][0], chosen["small"][0]
        best = {size: accuracy[_best(choosing)] for size, (accuracy, choosing) in chosen.items()}
        share = {size: (accuracy >= GOOD).mean((0, 1)) for size, accuracy in (("all", everything), ("small", small))}
        what = "final test accuracy"
        return [
            STATEMENTS[0].higher(*at, default["all"], default["small"], what),
            STATEMENTS[1].higher(*at, default["all"], everything[region].mean((0, 1)), f"{what}, mean over the region"),
            STATEMENTS[2].above(*at, best["all"] - best["small"], -CLOSE, f"{what}, all minus small by seed"),
            STATEMENTS[3].higher(*at, share["all"], share["small"], "share of cells with an accuracy of 0.9"),
        ]

    def figure(self, results: Results) -> Figure:
        ticks = [f"{s:.2g}" for s in GRID[results.scale]]
        default = int(np.argmin(abs(np.log(GRID[results.scale]))))
        titles = {"all": "Whole population", "small": f"Small set, N = {SETTING[results.scale][2]}"}
        labels = "scale of the other layers", "scale of the first layer"
        return Figure(
            "Initial scales",
            [
                Heat(
                    title,
                    *labels,
                    _map(results, size)[0].mean(2)[::-1],
                    "test accuracy at the best rate",
                    0.5,
                    1.0,
                    x_ticks=ticks,
                    y_ticks=ticks[::-1],
                    mark=(len(ticks) - 1 - default, default),
                )
                for size, title in titles.items()
            ],
        )

    def shown(self, results: Results) -> list[str]:
        """The default cell of both sets, at its best rate, and each set's best cell."""
        grid = GRID[results.scale]
        middle = int(np.argmin(abs(np.log(grid))))
        names = []
        for size in ("small", "all"):
            for i, j in ((middle, middle), _best(_map(results, size)[1])):
                rates = RATES[results.scale]
                arms = [results[cell_name(size, grid[i], grid[j], rate)] for rate in rates]
                names.append(max(arms, key=lambda a: float(a.final("test/accuracy").mean())).name)
        return list(dict.fromkeys(names))


def cell_name(size: str, first: float, other: float, rate: float) -> str:
    """Name of the arm of one cell at one rate."""
    return f"{size}, scales {first:.3g} and {other:.3g}, lr {rate:.3g}"


def _map(results: Results, size: str) -> tuple[np.ndarray, np.ndarray]:
    """Final accuracy (first, other, V) of judged members at each cell's best rate, and the choosing members' mean
    accuracy there (first, other). With fewer than two seeds everybody chooses and is judged."""
    grid, rates = GRID[results.scale], RATES[results.scale]
    final = np.array(
        [[[_final(results, size, f, o, rate) for rate in rates] for o in grid] for f in grid]
    )  # (first, other, rate, M)
    seeds = np.array(next(iter(results.arms.values())).seeds)
    chooses = seeds % CHOOSER == 0 if len(seeds) > 1 else np.ones(len(seeds), bool)
    judged = ~chooses if len(seeds) > 1 else chooses
    choosing = final[..., chooses].mean(-1)
    best = choosing.argmax(-1)[..., None, None]
    return np.take_along_axis(final[..., judged], best, axis=2)[:, :, 0], choosing.max(-1)


def _final(results: Results, size: str, first: float, other: float, rate: float) -> Sequence[float]:
    """(M,) accuracies at the end; a run that was solved, and left, counts as 1: where it stood then says nothing."""
    curve = results[cell_name(size, first, other, rate)].metric("test/accuracy")
    return np.where((curve[:, -2:] >= SOLVED).all(1), 1.0, curve[:, -1]).tolist()


def _best(choosing: np.ndarray) -> tuple[int, int]:
    i, j = np.unravel_index(int(choosing.argmax()), choosing.shape)
    return int(i), int(j)
