"""depth-width: deeper networks have a wider gap between small and large sets, wider networks a narrower one.

Paper C, figure 11 (perceptrons on (20, 6)-parity, depths 2, 4, 6, 8 and widths 32, 64, 256, 1024, full batches).

    lopsided run depth-width --scale laptop

`laptop` changes: (14, 6)-parity, N = 2^11 against all 2^14 inputs; depths 2 and 3 at width 64, widths 32, 64, 128 at
depth 2. Rates are swept per arm; one seed in three chooses, the others are judged. A gap is the ratio of median steps
to learn.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lopsided.core.recipe import Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.recipes._repetition import (
    FEWER_SEEDS,
    SEEDS,
    SMALL,
    SweptRecipe,
    full_batch,
    panel,
    perceptron,
    swept,
    tuned,
)
from lopsided.report.panels import Figure, Panel, over_members
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Statement
from lopsided.store.results import Results

SHAPES = {
    "smoke": ((2, 16), (3, 16)),
    "laptop": ((2, 64), (3, 64), (2, 32), (2, 128)),
    "paper": ((2, 64), (4, 64), (6, 64), (8, 64), (2, 32), (2, 256), (2, 1024)),
}
"""(depth, width); the first is the one that all others are compared with."""
DEEP_RATES = {
    "smoke": (0.5, 1.0),
    "laptop": (0.5, 1.0, 1.5, 2.0),
    "paper": (0.1, 0.12, 0.144, 0.173, 0.207, 0.25),
}
FLAT_RATES = {"smoke": (0.5, 1.0), "laptop": (1.0, 1.5, 2.0, 3.0, 4.0), "paper": (0.36, 0.43, 0.52, 0.62, 0.75, 0.9)}
STEPS = {"smoke": 60, "laptop": 1600, "paper": 6000}
DEEPER = Statement("the gap in steps is wider in the deepest network than at depth 2", "wider with depth (fig. 11a)")
WIDER = Statement(
    "the gap in steps is narrower in the widest network than in the narrowest", "narrower with width (fig. 11b)"
)
GAP = Statement("depth 2: the small set needs fewer steps", "a gap (fig. 11)")


class DepthWidth(SweptRecipe):
    name = "depth-width"
    paper = "C: Less Data, Faster Training"
    figure_number = "11 (a, b)"
    question = "Do deeper and narrower networks gain more from a small set?"
    threshold = 0.95
    scales: ClassVar = {
        "smoke": Scale(2, 8, "2 CPU cores"),
        "laptop": Scale(FEWER_SEEDS, 430, "2 CPU cores"),
        "paper": Scale(SEEDS, 5_000_000, "2 CPU cores, estimated"),
    }

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        def arm(depth: int, width: int, size: int | None):
            model = {"depth": depth, "width": width}
            return lambda lr: perceptron(scale, lr, steps=STEPS[scale], **full_batch(scale, size), model=model)

        specs = {}
        for depth, width in SHAPES[scale]:
            arms = {_arm(depth, width, s): arm(depth, width, n) for s, n in (("small", SMALL[scale]), ("all", None))}
            specs |= swept(arms, (FLAT_RATES if depth == 2 else DEEP_RATES)[scale])
        return specs

    def statements(self) -> list[Statement]:
        return [GAP, DEEPER, WIDER]

    def claims(self, results: Results) -> list[Claim]:
        at, shapes = (self.name, results.scale), SHAPES[results.scale]
        plain = shapes[0]
        deepest = max(shapes)
        narrow, wide = (f((s for s in shapes if s[0] == 2), key=lambda s: s[1]) for f in (min, max))
        all_inputs, small = _pair(results, plain)
        return [
            GAP.faster(*at, all_inputs, small, "steps"),
            DEEPER.wider(*at, _pair(results, plain), _pair(results, deepest), "steps"),
            WIDER.wider(*at, _pair(results, wide), _pair(results, narrow), "steps"),
        ]

    def figure(self, results: Results) -> Figure:
        shapes = SHAPES[results.scale]
        panels = [
            panel([tuned(results, _arm(d, w, s)) for s in ("small", "all")], "test/accuracy", "steps", f"Depth {d}")
            for d, w in (shapes[0], max(shapes))
        ]
        flat = sorted(s for s in shapes if s[0] == 2)
        deep = sorted(s for s in shapes if s[1] == shapes[0][1])
        for title, chosen, axis, at in (("By width", flat, "width", 1), ("By depth", deep, "depth", 0)):
            lines = []
            for i, size in enumerate(("small", "all")):
                steps = np.stack([tuned(results, _arm(d, w, size)).times().ordinal for d, w in chosen], axis=1)
                lines.append(over_members(size, np.array([float(shape[at]) for shape in chosen]), steps, i, "points"))
            panels.append(Panel(title, axis, "steps to learn", lines, log_x=True, log_y=True))
        return Figure("The gap, by depth and width", panels)


def _arm(depth: int, width: int, size: str) -> str:
    return f"depth {depth}, width {width}, {size}"


def _pair(results: Results, shape: tuple[int, int]) -> tuple[Times, Times]:
    """Steps to learn (all inputs, small set)."""
    depth, width = shape
    return tuned(results, _arm(depth, width, "all")).times(), tuned(results, _arm(depth, width, "small")).times()
