"""depth-width: paper C says that small sets are further ahead in deeper networks, less far in wider ones.

Paper C, figure 11 (perceptrons on (20, 6)-parity, depths 2, 4, 6, 8 and widths 32, 64, 256, 1024, full batches).

    lopsided run depth-width --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against all 2^14 inputs; depths 2, 3 and 4 at width 64, widths 32, 64, 128
at depth 2. Rates are swept per arm; each third of the seeds is judged at what the others choose. A gap is, seed by
seed, the ratio of steps to learn: all inputs over the small set.
"""

from __future__ import annotations

from functools import partial

from lopsided.recipe import (
    Ahead,
    Arms,
    Figure,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    WiderGap,
    best,
    bests,
    swept,
    tuned_curves,
    tuned_times,
)
from lopsided.recipes._assumed import PERCEPTRONS
from lopsided.recipes._repetition import FEWER_SEEDS, SEEDS, perceptron, small_and_all

SHAPES = {
    "smoke": {"plain": (2, 16), "deepest": (3, 16)},
    "laptop": {"plain": (2, 64), "deep": (3, 64), "deepest": (4, 64), "narrowest": (2, 32), "widest": (2, 128)},
    "paper": {
        "plain": (2, 64),
        "deep": (4, 64),
        "deeper": (6, 64),
        "deepest": (8, 64),
        "narrowest": (2, 32),
        "wide": (2, 256),
        "widest": (2, 1024),
    },
}
"""(depth, width)."""
DEEP_RATES = {"smoke": (0.5, 1.0), "laptop": (0.25, 0.5, 1.0, 1.5, 2.0), "paper": (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)}
FLAT_RATES = {"smoke": (0.5, 1.0), "laptop": (1.0, 1.5, 2.0, 3.0, 4.0), "paper": (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)}
STEPS = {"smoke": 60, "laptop": 1600, "paper": 6000}
PLAIN, DEEPEST, NARROWEST, WIDEST = ({"shape": s} for s in ("plain", "deepest", "narrowest", "widest"))
SMALL, ALL = {"data": "small"}, {"data": "all"}


def arms(scale: ScaleName) -> Arms:
    for shape, (depth, width) in SHAPES[scale].items():
        for data, sets in small_and_all(scale).items():
            make = partial(perceptron, scale, steps=STEPS[scale], model={"depth": depth, "width": width}, **sets)
            grid = {"lr": (FLAT_RATES if depth == 2 else DEEP_RATES)[scale]}
            yield from swept(make, grid, shape=shape, depth=depth, width=width, data=data)


def figure(r: Results) -> Figure:
    shapes = SHAPES[r.scale]
    panels = [
        tuned_curves(bests(r, shape=s), "test/accuracy", "steps", f"Depth {shapes[s][0]}") for s in ("plain", "deepest")
    ]
    flat = sorted((width, s) for s, (depth, width) in shapes.items() if depth == 2)
    deep = sorted((depth, s) for s, (depth, width) in shapes.items() if width == shapes["plain"][1])
    for title, along, axis in (("By width", flat, "width"), ("By depth", deep, "depth")):
        times = {data: [best(r, shape=s, data=data) for _, s in along] for data in ("small", "all")}
        panels.append(tuned_times(times, [x for x, _ in along], axis, title))
    return Figure("The gap, by depth and width", panels)


recipe = Recipe(
    name="depth-width",
    paper="C",
    figure_number="11 (a, b)",
    question="Do deeper and narrower networks gain more from a small set?",
    about=__doc__,
    scales={"smoke": (2, 8), "laptop": (FEWER_SEEDS, 300), "paper": (SEEDS,)},
    assumptions=PERCEPTRONS,
    arms=arms,
    claims=[
        Statement(
            "depth 2: the small set needs fewer steps", Paper("a gap", "fig. 11"), Ahead(PLAIN | SMALL, of=PLAIN | ALL)
        ),
        Statement(
            "the gap in steps is wider in the deepest network than at depth 2",
            Paper("wider with depth", "fig. 11a"),
            WiderGap(DEEPEST, PLAIN, slow=ALL, fast=SMALL),
            history="first with depth 3 as the deepest, 0.67 times as wide, contradicted; depth 4 since 2026-11-27",
        ),
        Statement(
            "the gap in steps is narrower in the widest network than in the narrowest",
            Paper("narrower with width", "fig. 11b"),
            WiderGap(NARROWEST, WIDEST, slow=ALL, fast=SMALL),
        ),
    ],
    figure=figure,
)
