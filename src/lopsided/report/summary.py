"""Arms of a run as plain values: what `run --json` prints, what the tables show."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.results.stored import Arm, Results
from lopsided.stats.times import times_until


def arm_summary(arm: Arm, metric: str, threshold: float) -> dict[str, Any]:
    """Final metric (median, lowest, highest member) and time to learn in samples and steps, censored members counted.

    An arm with a rule of its own (`until`) is judged by that. Compute is 0 for arms that see no samples (plans
    `population` and `idealised`).
    """
    until = arm.spec.until
    if until is None:
        times, steps = arm.times(metric, threshold, "samples"), arm.times(metric, threshold, "steps")
    else:
        metric = until.metric
        threshold = float(until.at_least if until.at_least is not None else until.at_most or 0.0)
        times, steps = (times_until(axis, arm.metric(metric), until) for axis in (arm.samples, arm.steps))
    final = arm.final(metric)
    median = times.median
    return {
        "name": arm.name,
        "members": len(arm.seeds),
        "metric": metric,
        "final": {name: _known(f(final)) for name, f in (("median", np.median), ("low", np.min), ("high", np.max))},
        "time_to_learn": {
            "threshold": _known(threshold),
            "median_compute": None if np.isinf(median) else median,
            "median_steps": None if np.isinf(steps.median) else steps.median,
            "censored": int(times.censored.sum()),
        },
        "budget_compute": float(arm.spec.plan.seen(int(arm.steps[-1]))),  # an unfinished arm has come no further
        "budget_steps": float(arm.steps[-1]),
        "diverged": int(arm.diverged.sum()),
    }


def _known(value: Any) -> float | None:
    """None for what is not a number (a diverged member has no final loss) or not finite."""
    return float(value) if np.isfinite(value) else None


def arm_summaries(results: Results, recipe: Any) -> list[dict[str, Any]]:
    """`arm_summary` of the arms that a recipe shows, in order; those without what it is judged by (a theory's, in the
    remembered run of somebody's own recipe) are left out."""
    shown = (results[name] for name in recipe.listed(results))
    having = (arm for arm in shown if (arm.spec.until.metric if arm.spec.until else recipe.metric) in arm.values)
    return [arm_summary(arm, recipe.metric, recipe.goal) for arm in having]
