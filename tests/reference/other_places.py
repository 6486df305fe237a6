"""How often equal arms are told apart that were evaluated at other places, end elsewhere, or spread unequally:
python -m tests.reference.other_places 300     # the numbers of docs/comparing.md, section "Is it right?"

At commit 58884b1 the same program printed what the docstrings of `lopsided.api.evaluated`, `ends` and `few_runs` call
told apart before.
"""

import sys

import numpy as np

import lopsided as lop
from lopsided.api.curves import Ragged
from lopsided.stats.crossing import Track

AXIS = 2101


def step(x):
    """A loss that falls by one step at 1,000."""
    return 1 - 1 / (1 + np.exp(-(x - 1000) / 20))


def decay(x):
    """A loss that falls smoothly, to 2.5 at 717."""
    return 2 + 3 * np.exp(-x / 400)


def every(first, apart):
    return np.arange(first, AXIS, apart)


TIMES = {
    "a step, every 100 steps, both": (step, every(100, 100), every(100, 100), 8, 0.05, 0.05),
    "a step, every 100 and 180 steps": (step, every(100, 100), every(180, 180), 8, 0.05, 0.05),
    "a step, every 100 and 190 steps": (step, every(100, 100), every(190, 190), 8, 0.05, 0.05),
    "a step, half a distance later": (step, every(100, 100), every(150, 100), 16, 0.002, 0.05),
    "a decay, every 70 and 100 steps": (decay, every(70, 70), every(100, 100), 20, 0.001, 2.5),
}
"""Curve, evaluations of either side, runs of each, spread of their speeds, goal."""
ENDS = (1000, 990, 980)
SPREAD = {"4 runs against 12, 5 times the spread": (4, 12, 5), "5 runs against 10, 3 times": (5, 10, 3)}


def certain(verdicts):
    return sum(verdict in ("holds", "contradicted") for verdict in verdicts) / len(verdicts)


def side(name, curve, grid, runs, spread, g):
    return lop.Curves(name, grid, curve(grid * np.exp(spread * g.normal(size=(runs, 1)))), "steps")


def times(trials, g, curve, one, two, runs, spread, at):
    pairs = (
        [side(name, curve, grid, runs, spread, g) for name, grid in (("a", one), ("b", two))] for _ in range(trials)
    )
    return certain([lop.Comparison(*pair, "val_loss", small=False).faster(at=at).verdict for pair in pairs])


def own(name, apart, g):
    """Twenty runs of the step, each with evaluations of its own."""
    grids = [np.arange(g.uniform(0, apart), AXIS, apart)[1:] for _ in range(20)]
    return Ragged(name, tuple(Track(x, step(x * np.exp(0.005 * g.normal()))) for x in grids), "steps")


def ends(trials, g, end):
    def arm(name, last):
        axis = np.linspace(last / 20, last, 20)
        return lop.Curves(name, axis, 2.5 + 6 * (axis + 10) ** -0.3 + 0.002 * g.normal(size=(8, 1)), "steps")

    pairs = ((arm("a", 1000), arm("b", end)) for _ in range(trials))
    return certain([lop.Comparison(*pair, "val_loss", small=False).better().verdict for pair in pairs])


def spread(trials, g, few, many, wider):
    def arm(name, runs, by):
        return lop.Curves(name, np.array([1.0, 2.0]), np.stack([np.zeros(runs), by * g.normal(size=runs)], 1), "steps")

    pairs = ((arm("a", few, wider), arm("b", many, 1)) for _ in range(trials))
    return certain([lop.Comparison(*pair, "score", falling=False, small=False).better().verdict for pair in pairs])


def main(trials):
    found = {what: times(trials, np.random.default_rng(0), *case) for what, case in TIMES.items()}
    g = np.random.default_rng(0)
    pairs = [(own("a", 100, g), own("b", 120, g)) for _ in range(trials)]
    found["a step, evaluations of their own, every 100 and 120"] = certain(
        [lop.Comparison(*pair, "val_loss", small=False).faster(at=0.1).verdict for pair in pairs]
    )
    found |= {f"last values, ends at 1,000 and {end:,}": ends(trials, np.random.default_rng(0), end) for end in ENDS}
    found |= {f"last values, {what}": spread(trials, np.random.default_rng(3), *case) for what, case in SPREAD.items()}
    print("| equal arms | told apart |\n|---|---|")
    for what, rate in found.items():
        print(f"| {what} | {rate:.1%} |")


if __name__ == "__main__":
    main(int(sys.argv[1]))
