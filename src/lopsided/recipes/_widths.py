"""Students of several widths on one teacher: the members that `scaling-width` and `compute-frontier` share."""

from __future__ import annotations

from typing import Any

from lopsided.core.spec import Spec
from lopsided.recipes._strength import additive

WIDTHS = {"smoke": (3, 6), "laptop": (4, 8, 16, 32, 64), "paper": (16, 32, 64, 128, 256, 512)}
DIRECTIONS = {"smoke": 16, "laptop": 256, "paper": 4096}
STEPS = {
    "smoke": {0.75: 200, 1.0: 200, 1.5: 200},
    "laptop": {0.75: 10_000, 1.0: 15_000, 1.5: 60_000},
    "paper": {0.75: 200_000, 1.0: 400_000, 1.5: 2_000_000},
}
"""Until the widest student has stopped: small features, and so large beta, take longer."""


def student(scale: str, width: int, beta: float, plan: dict[str, Any], probes: tuple[str, ...]) -> Spec:
    """A student of `width` neurons, trained until it has stopped."""
    p = DIRECTIONS[scale]
    return additive(
        d=p,
        directions=p,
        width=width,
        beta=beta,
        plan=plan,
        lr=0.3,
        steps=STEPS[scale][beta],
        per_decade=30,
        probes=probes,
    )
