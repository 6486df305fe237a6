"""What the recipes about feature strength share: their specs, and curves by teacher direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from lopsided.core.spec import Spec
from lopsided.stats.transitions import crossing
from lopsided.store.results import Arm

FLOW = {"name": "population", "dynamics": "flow"}
FAST = {"name": "population", "precision": 32}
IDEALISED = {"name": "idealised"}


def additive(
    *,
    d: int,
    directions: int,
    width: int,
    plan: dict[str, Any],
    lr: float,
    steps: int,
    beta: float = 1.0,
    degree: int = 4,
    first: int = 10,
    per_decade: int = 40,
    sigma_0: float = 1e-3,
    probes: Sequence[dict[str, Any] | str] = ("directions", "population-loss"),
    **changes: Any,
) -> Spec:
    """Student and additive teacher with the same link h_degree; evaluations on a geometric grid."""
    return Spec.parse(
        {
            "task": {
                "name": "additive-teacher",
                "d": d,
                "directions": directions,
                "beta": beta,
                "link": f"h{degree}",
            },
            "model": {"name": "student", "width": width, "link": f"h{degree}", "sigma_0": sigma_0},
            "plan": plan,
            "optimizer": {"name": "sgd", "lr": lr},
            "loss": "square",
            "steps": steps,
            "evaluation": {"every": min(first, steps), "per_decade": per_decade, "samples": 256},
            "probes": [p if isinstance(p, dict) else {"name": p} for p in probes],
            **changes,
        }
    )


def by_direction(arm: Arm, name: str) -> np.ndarray:
    """(M, P, T) curves of the metrics name/1, ..., name/P."""
    count = arm.spec.task.directions  # type: ignore[attr-defined]
    return np.stack([arm.metric(f"{name}/{p}") for p in range(1, count + 1)], axis=1)


def learned_at(arm: Arm, level: float = 0.5, name: str = "strength") -> np.ndarray:
    """(M, P) step at which each direction's strength reaches `level` and stays there; NaN: never."""
    return np.stack([crossing(arm.steps, curves, level) for curves in by_direction(arm, name)])


def predicted(arm: Arm, name: str = "time") -> np.ndarray:
    """(M, P) steps that theory predicts, from the rows of an idealised arm."""
    return by_direction(arm, f"predicted/{name}")[:, :, -1]


def relative_error(measured: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """(M,) median over directions of |measured / expected - 1|; a direction that was not learned counts as infinite."""
    error = np.abs(measured / expected - 1)
    error = np.where(np.isfinite(error), error, np.inf)
    return np.array(
        [
            np.median(row[np.isfinite(e)]) if np.isfinite(e).any() else np.inf
            for row, e in zip(error, expected, strict=True)
        ]
    )


def rank_correlation(measured: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """(M,) Spearman correlation over the directions that were learned; 0 if fewer than three were."""
    found = []
    for pair in zip(measured, expected, strict=True):
        a, b = (x[np.isfinite(pair[0]) & np.isfinite(pair[1])] for x in pair)
        varied = len(a) > 2 and np.ptp(a) > 0 and np.ptp(b) > 0
        found.append(float(np.corrcoef(rankdata(a), rankdata(b))[0, 1]) if varied else 0.0)
    return np.array(found)
