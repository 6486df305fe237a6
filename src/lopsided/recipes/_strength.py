"""What the recipes about feature strength share: their specs, and curves by teacher direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from lopsided.core.spec import Spec
from lopsided.results.stored import Arm
from lopsided.stats.transitions import crossing, evaluations_apart

FLOW = {"name": "population", "dynamics": "flow"}
FAST = {"name": "population", "precision": 32}
IDEALISED = {"name": "idealised"}
LEARNED_BEFORE = 0.75


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
    link: dict[str, float] | None = None,
    first: int = 10,
    per_decade: int = 40,
    sigma_0: float = 1e-3,
    ambient: int | None = None,
    probes: Sequence[dict[str, Any] | str] = ("directions", "population-loss"),
    **changes: Any,
) -> Spec:
    """Spec of a student network that is trained to imitate an additive teacher.

    The teacher projects its input onto several directions, applies one function (the link) to each projection, and adds
    up the results with weights. The student's neurons apply the same link. It is the Hermite polynomial of this
    `degree`, or a sum of several (`link`: their coefficients by degree). Evaluations lie on a geometric grid of steps.
    """
    same = link or f"h{degree}"
    return Spec.parse(
        {
            "task": {"name": "additive-teacher", "d": d, "directions": directions, "beta": beta, "link": same},
            "model": {"name": "student", "width": width, "link": same, "sigma_0": sigma_0, "ambient": ambient},
            "plan": plan,
            "optimizer": {"name": "sgd", "lr": lr},
            "loss": "square",
            "steps": steps,
            "evaluation": {"every": min(first, steps), "per_decade": per_decade, "samples": 256},
            "probes": [p if isinstance(p, dict) else {"name": p} for p in probes],
            **changes,
        }
    )


def expected_loss(arm: Arm) -> np.ndarray:
    """(M, T) exact expected loss; float32 rounding below 1e-7 is cut off."""
    return np.maximum(arm.metric("population/loss"), 1e-7)


def geometric_mean(curves: np.ndarray) -> np.ndarray:
    """(T,) mean over members of the logarithm, as slopes are fitted to."""
    return np.exp(np.log(curves).mean(0))


def learned_from(x: np.ndarray, curves: np.ndarray) -> float:
    """Where the mean curve has fallen to LEARNED_BEFORE of the teacher's 1/2: before, there is no law to look for."""
    fallen = geometric_mean(curves) < LEARNED_BEFORE * 0.5
    return float(x[np.argmax(fallen)]) if fallen.any() else float(x[-1])


def by_direction(arm: Arm, name: str) -> np.ndarray:
    """(M, P, T) curves of a metric with a number for each direction."""
    return np.moveaxis(arm.metric(name), 2, 1)


def learned_at(arm: Arm, level: float = 0.5, name: str = "strength") -> np.ndarray:
    """(M, P) step at which each direction's strength reaches `level` and stays there; NaN: never."""
    return np.stack([crossing(arm.steps, curves, level) for curves in by_direction(arm, name)])


def apart(arm: Arm) -> float:
    """How far apart evaluations lie, as a share of the steps at which directions are learned."""
    return evaluations_apart(arm.steps, learned_at(arm))


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
        found.append(float(np.corrcoef(scipy.stats.rankdata(a), scipy.stats.rankdata(b))[0, 1]) if varied else 0.0)
    return np.array(found)
