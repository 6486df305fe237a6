"""Modular addition, in-context regression and single-index models for transformers, by scale."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lopsided.core.spec import Spec
from lopsided.recipes._transformers import BATCH, INDEX_BATCH, NARROW, SAMPLES, transformer
from lopsided.theory.in_context import least_squares_loss

ADDITION = {"smoke": (8, 5, 8), "laptop": (100, 7, 10), "overnight": (1000, 17, 10), "paper": (10_000, 97, 10)}
"""N, p, base; the paper names none of them."""
ADDITION_STEPS = {"smoke": 60, "laptop": 8000, "overnight": 20_000, "paper": 200_000}
EVERY = {"smoke": 20, "laptop": 100, "overnight": 200, "paper": 1000}
"""Steps between evaluations."""
ADDED = 0.9
"""Test accuracy at which modular addition counts as learned."""
FOUR_SHARES, FOUR_EPOCHS = (0.005, 0.02, 0.05, 0.1), (20, 5, 4, 6)
"""Paper C, appendix B.1: modular addition's four phases."""


def addition(scale: str, **changes: Any) -> Callable[..., Spec]:
    """A causal transformer on modular addition."""
    n, p, base = ADDITION[scale]
    plain: dict[str, Any] = {
        "task": {"name": "modular-addition", "n": n, "p": p, "base": base},
        "loss": "cross-entropy",
        "steps": ADDITION_STEPS[scale],
        "until": {"metric": "test/accuracy", "at_least": ADDED},
        "evaluation": {
            "every": EVERY[scale],
            "samples": SAMPLES[scale],
        },
    }
    model = {**NARROW[scale], "attention": "causal", **changes.pop("model", {})}
    return partial(transformer, scale, **{**plain, **changes, "model": model})


REGRESSION = {"smoke": (2, 3), "laptop": (3, 5), "overnight": (4, 15), "paper": (4, 15)}
"""Dimension and examples of in-context regression."""
REGRESSION_STEPS = {"smoke": 60, "laptop": 6000, "overnight": 15_000, "paper": 15_000}
REGRESSION_RATES = {
    "smoke": (0.001,),
    "laptop": (0.001, 0.002),
    "overnight": (0.0005, 0.001, 0.002),
    "paper": (0.0002, 0.00024, 0.00029, 0.00035),
}
"""Lower than the others': its plateau is longer at high rates."""
WORTH = 1
"""In-context regression counts as learned at the loss of least squares on so many examples."""
REGRESSION_SHARES, REGRESSION_STEPS_SHARES = (0.005, 0.02, 0.05, 0.1), (0.1, 0.1, 0.1, 0.7)
"""Paper C, appendix B.1: shares of the online run's data, and of the steps (1,500, 1,500, 1,500 and 10,500)."""


def regression(scale: str, **changes: Any) -> Callable[..., Spec]:
    """An encoder on in-context linear regression."""
    dimension, examples = REGRESSION[scale]
    plain: dict[str, Any] = {
        "task": {"name": "icl-regression", "dimension": dimension, "examples": examples},
        "loss": "square",
        "steps": REGRESSION_STEPS[scale],
        "until": {"metric": "test/loss", "at_most": float(least_squares_loss(dimension, WORTH))},
        "evaluation": {
            "every": EVERY[scale],
            "samples": SAMPLES[scale],
        },
    }
    return partial(transformer, scale, **{**plain, **changes, "model": {**NARROW[scale], **changes.pop("model", {})}})


def regression_phases(scale: str) -> dict[str, Any]:
    """The paper's four phases for in-context regression."""
    steps = REGRESSION_STEPS[scale]
    phases: list[dict[str, Any]] = [
        {"share": share, "steps": round(part * steps)}
        for share, part in zip(REGRESSION_SHARES, REGRESSION_STEPS_SHARES, strict=True)
    ]
    del phases[-1]["steps"]
    return {"name": "phases", "batch": BATCH[scale], "phases": phases, "online_steps": steps}


INDEX = {"smoke": 6, "laptop": 12, "overnight": 20, "paper": 50}
"""Dimension of the single-index model."""
INDEX_STEPS = {"smoke": 60, "laptop": 6000, "overnight": 20_000, "paper": 50_000}
INDEX_FIRST = {"smoke": (16, 20), "laptop": (960, 800), "overnight": (4000, 800), "paper": (32_000, 800)}
"""Samples and steps of the first phase: half a percent of the online run's data (paper C, appendix B.1)."""
INDEX_LEARNED = 1.0
"""Test loss; answering 0 costs 3."""


def single_index(scale: str, **changes: Any) -> Callable[..., Spec]:
    """An encoder on a single-index model, every coordinate a position."""
    plain: dict[str, Any] = {
        "task": {"name": "single-index", "d": INDEX[scale]},
        "loss": "square",
        "steps": INDEX_STEPS[scale],
        "until": {"metric": "test/loss", "at_most": INDEX_LEARNED},
        "evaluation": {
            "every": {"smoke": 20, "laptop": 100, "overnight": 200, "paper": 500}[scale],
            "samples": 5 * SAMPLES[scale] // 4,
        },
    }
    return partial(transformer, scale, **{**plain, **changes, "model": {**NARROW[scale], **changes.pop("model", {})}})


def small_first(scale: str) -> dict[str, Any]:
    """The paper's two phases for the single-index model: a small set, then fresh samples."""
    size, steps = INDEX_FIRST[scale]
    # Draws are with replacement: a set far larger than all that is drawn stands for fresh samples.
    phases = [{"size": size, "steps": steps}, {"size": 2**30, "steps": INDEX_STEPS[scale] - steps}]
    return {"name": "phases", "batch": INDEX_BATCH[scale], "phases": phases}
