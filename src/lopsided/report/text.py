"""Numbers and arms in words, for tables and pages. Imports nothing heavy: `lopsided status` uses it too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def to_learn(arm: dict[str, Any], unit: str) -> str:
    """Median `compute` or `steps` to learn as text; a dash where no sample is seen, or nothing counts as learned."""
    budget, median = arm[f"budget_{unit}"], arm["time_to_learn"][f"median_{unit}"]
    if budget == 0 or arm["time_to_learn"]["threshold"] is None:
        return "–"
    return f"> {number(budget)}" if median is None else number(median)


def rules(arms: Sequence[dict[str, Any]]) -> str:
    """What counts as learned: `test/accuracy 0.95`, or several where arms have rules of their own; empty if nothing
    does."""
    goals = [(a["metric"], a["time_to_learn"]["threshold"]) for a in arms]
    return " or ".join(dict.fromkeys(f"{metric} {number(at)}" for metric, at in goals if at is not None))


def never_learned(arm: dict[str, Any]) -> str:
    """How many members had not learned by their budget, of how many; a dash where nothing counts as learned."""
    goal = arm["time_to_learn"]
    return "–" if goal["threshold"] is None else f"{goal['censored']} of {arm['members']}"


def judged_by(judged: int, chose: int, drawn: int | None) -> str:
    """Which seeds decided the claims: up to `judged` new ones, after the first `chose`. `drawn`: arms and curves are of
    so many of the first seeds; None, of the new ones."""
    if drawn is None:
        return f"Verdicts, arms and curves are of up to {judged} new seeds an arm; the first {chose} are left out."
    return (
        f"The verdicts are of up to {judged} new seeds an arm, at settings that the first {chose} seeds chose. "
        f"Arms and curves are those of the first {drawn} seeds."
    )


def first_look(chose: int) -> str:
    """Why no claim is decided yet, although the first `chose` seeds are complete."""
    return (
        f"No claim is decided: the first look of --until-decided is not over. New seeds judge, and the first {chose}, "
        "of which arms and curves are, chose settings. The same command goes on."
    )


def only_chose(first: int) -> str:
    """What a page says that knows a recipe file's rows and not its claims."""
    return (
        f"Arms and curves are of the first {first} seeds, which chose. Others, from seed {first} on, judged the "
        "claims: see the run's own page, which `lopsided run FILE.py --until-decided` writes."
    )


def plan_passed_over(problem: str, seeds: int) -> str:
    """Why the claims were decided from the first seeds, although the folder has a plan of looks."""
    return f"The plan of --until-decided was passed over: {problem}. The verdicts are of the {seeds} seeds shown."


LONGEST = 1e13
"""From here on a number has a power of ten."""


def number(value: float | None) -> str:
    """Three significant digits, thousands grouped; a dash for what is not known."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) >= LONGEST:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def duration(seconds: float) -> str:
    """`3 min`, in the largest unit that fits."""
    if seconds != seconds:
        return "unknown"
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
