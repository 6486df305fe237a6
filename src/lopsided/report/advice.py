"""A finished race in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lopsided.report.words import effect_text
from lopsided.stats.race import Advice
from lopsided.stats.verdict import Claim, Decision


def words(advice: Advice, at_most: int) -> list[str]:
    """Lines; the first is the recommendation. `at_most`: fresh seeds that the plan allowed."""
    effects = [f"  against {name}: {_effect(found)}" for name, found in advice.against.items()]
    other = [f"Runner-up in the screening: {advice.runner_up}."] if advice.runner_up else []
    if advice.failed:
        counts = ", ".join(f"{count} of {name}" for name, count in advice.failed.items())
        other.append(f"Runs without a score (diverged or failed): {counts}. They count as the worst.")
    if advice.outcome == "use":
        return [f"Use {advice.winner}.", *effects, *other]
    if not advice.told_apart:
        return [f"No shape beats {advice.winner} here: on every seed of the screening all shapes score alike.", *other]
    if advice.tied:
        tied = " and ".join(advice.tied)
        return [f"No shape beats {advice.winner} here: none ranks ahead of it, and {tied} as it does.", *other]
    if not advice.against:
        return [f"No shape beats {advice.winner} here: it won the screening itself.", *other]
    names = " and ".join(name for name, found in advice.against.items() if found.verdict != "holds")
    if advice.outcome == "keep":
        return [f"No shape beats {names} here. The best of the others, {advice.winner}:", *effects, *other]
    seeds = f"Undecided after {advice.seeds} of {at_most} fresh seeds"
    said = f"{seeds}: {advice.winner} is not certainly better than {names}."
    return [said, *effects, *other]


def keeps(looks: Sequence[int]) -> str:
    """That a race goes on with the looks that it was planned with."""
    return (
        f"looks at {', '.join(map(str, looks))} fresh seeds, as planned before the first; --budget changes nothing now"
    )


def as_json(advice: Advice) -> Mapping[str, Any]:
    """What `words` says, as JSON."""
    return {
        "outcome": advice.outcome,
        "winner": advice.winner,
        "runner_up": advice.runner_up,
        "fresh_seeds": advice.seeds,
        "runs": advice.runs,
        "mean_ranks": dict(advice.screened),
        "tied": list(advice.tied),
        "told_apart": advice.told_apart,
        "failed": dict(advice.failed),
        "against": {name: _claim(found).as_json() for name, found in advice.against.items()},
    }


def _effect(found: Decision) -> str:
    claim = _claim(found)
    words = {"holds": "better", "contradicted": "worse", "negligible": "neither better nor worse by 25 %"}
    said = words.get(found.verdict, "not certainly better")
    return f"{said}, {effect_text(claim)} ({found.members} members)"


def _claim(found: Decision) -> Claim:
    return Claim.of("better", found)
