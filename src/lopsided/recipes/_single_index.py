"""Single-index models by gradient descent: a small set first, or a large set from the start (paper C, appendix B.1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lopsided.core.spec import Spec
from lopsided.recipes._repetition import perceptron

SMALL_FIRST, LARGE, RANDOM_FIRST = "small first", "large", "small first, random labels"
LEARNED = 0.6
"""Test loss; answering 0 costs E[y²] / 2 = 3."""
SIZES = {
    "smoke": {6: (2**6, 2**7), 8: (2**6, 2**7)},
    "laptop": {20: (2**11, 2**14), 40: (2**12, 2**14), 50: (2**12, 2**14)},
    "paper": {40: (8_000, 64_000), 50: (8_000, 64_000), 80: (16_000, 256_000)},
}
"""By d: N of the first phase, N of the rest. (In d = 50 and d = 80 the paper names no sizes for perceptrons.)"""
STEPS = {"smoke": (40, 20), "laptop": (800, 100), "paper": (1000, 100)}
"""All, first phase."""
INDEX_RATES = {"smoke": (0.01, 0.02), "laptop": (0.2, 0.3, 0.4), "paper": (0.1, 0.15, 0.2, 0.3, 0.4)}


def index_spec(scale: str, lr: float, d: int, plan: dict[str, Any], steps: int, every: int, **changes: Any) -> Spec:
    """A perceptron on a single-index model in d dimensions."""
    plain: dict[str, Any] = {
        "task": {"name": "single-index", "d": d},
        "plan": plan,
        "loss": "square",
        "steps": steps,
        "evaluation": {"every": every, "samples": 64 if scale == "smoke" else 5000},
        "until": {"metric": "test/loss", "at_most": LEARNED},
    }
    return perceptron(scale, lr, **{**plain, **changes})


def gradient_descent(scale: str, d: int, random: bool = False, **changes: Any) -> dict[str, Callable[..., Spec]]:
    """The two arms by name, each a function of the learning rate; a third has a `random` direction in phase 1."""
    steps, first = STEPS[scale]
    small, large = SIZES[scale][d]
    phases: list[dict[str, Any]] = [{"steps": first, "size": small}, {"steps": steps - first, "size": large}]
    plans: dict[str, dict[str, Any]] = {
        SMALL_FIRST: {"name": "full-batch-phases", "phases": phases},
        LARGE: {"name": "full-batch", "size": large},
    }
    if random:
        plans[RANDOM_FIRST] = {"name": "full-batch-phases", "phases": [{**phases[0], "labels": "random"}, phases[1]]}
    every = 20 if scale == "smoke" else 10
    return {
        name: partial(index_spec, scale, d=d, plan=plan, steps=steps, every=every, **changes)
        for name, plan in plans.items()
    }
