"""Arms and claims of a run as plain values: what `run --json` prints, what the tables show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lopsided.stats.times import time_to_learn, times_until
from lopsided.stats.verdict import Claim
from lopsided.store.results import Arm, Results


def arm_summary(arm: Arm, metric: str, threshold: float) -> dict[str, Any]:
    """Final metric (median, lowest, highest member) and time to learn in samples and steps, censored members counted.

    An arm with a rule of its own (`until`) is judged by that. Compute is 0 for arms that see no samples (plans
    `population` and `idealised`).
    """
    until = arm.spec.until
    if until is None:
        times, steps = (time_to_learn(axis, arm.metric(metric), threshold) for axis in (arm.samples, arm.steps))
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
        "budget_compute": float(arm.spec.plan.seen(arm.spec.steps)),
        "budget_steps": float(arm.spec.steps),
        "diverged": int(arm.diverged.sum()),
    }


def _known(value: Any) -> float | None:
    """None for what is not a number (a diverged member has no final loss) or not finite."""
    return float(value) if np.isfinite(value) else None


def to_learn(arm: dict[str, Any], unit: str) -> str:
    """Median `compute` or `steps` to learn as text; a dash where no sample is seen."""
    budget, median = arm[f"budget_{unit}"], arm["time_to_learn"][f"median_{unit}"]
    if budget == 0:
        return "–"
    return f"> {number(budget)}" if median is None else number(median)


def arm_summaries(results: Results, recipe: Any) -> list[dict[str, Any]]:
    """`arm_summary` of the arms that a recipe shows, in order."""
    return [arm_summary(results[name], recipe.metric, recipe.threshold) for name in recipe.shown(results)]


def rules(arms: Sequence[dict[str, Any]]) -> str:
    """What counts as learned: `test/accuracy 0.95`, or several where arms have rules of their own."""
    found = dict.fromkeys(f"{a['metric']} {number(a['time_to_learn']['threshold'])}" for a in arms)
    return " or ".join(found)


def claim_rows(claims: Sequence[Claim]) -> list[tuple[str, str, str, str]]:
    """(claim, effect with interval, verdict, the paper's number) as text."""
    return [(c.claim, effect_text(c), c.verdict, c.paper) for c in claims]


def effect_text(claim: Claim) -> str:
    """`12.1 [8.0, 16.4] ratio of median compute to learn`; an unknown end of the interval is written as infinite."""
    if claim.verdict == "not run":
        return "–"
    low, high = claim.interval
    if claim.effect is None:
        return f"unknown: too few members learned ({claim.measure})"
    bound = "≥ " if high is None else ""
    text = f"[{number(low) if low is not None else '−∞'}, {number(high) if high is not None else '∞'}]"
    return f"{bound}{number(claim.effect)} {text} {claim.measure}"


def number(value: float | None) -> str:
    """Three significant digits, thousands grouped; a dash for what is not known."""
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
