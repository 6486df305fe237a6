"""Several arms at once: all against one, and a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from lopsided.api.comparing import Comparison
from lopsided.api.curves import Ragged, direction_of
from lopsided.api.verdict import Verdict
from lopsided.core.telling import counted
from lopsided.stats.crossing import crossings
from lopsided.stats.decisions import LEVEL
from lopsided.stats.sequential import SIDE, seeds_needed
from lopsided.stats.signflip import SAMPLED, SEED
from lopsided.stats.times import median
from lopsided.stats.verdict import Claim

if TYPE_CHECKING:
    from lopsided.api.runs import Runs

RESAMPLED = 1_999
"""Draws, as many as for the interval of a verdict (`stats.compare`)."""


def against(
    runs: Runs,
    baseline: str,
    metric: str,
    at: float | None,
    axis: str,
    paired: bool | None,
    between: Literal["line", "bounds"] = "line",
) -> dict[str, Verdict]:
    """See `Runs.against`."""
    others = [arm for arm in runs.arms if arm != baseline]
    one, found = runs.observed(baseline, metric, axis), dict[str, Verdict]()
    for arm in others:
        compared = beside_others(one, runs.observed(arm, metric, axis), metric, paired, between, len(others))
        found[arm] = compared.better() if at is None else compared.faster(at)
    return holm(found)


def beside_others(
    baseline: Ragged,
    candidate: Ragged,
    metric: str,
    paired: bool | None,
    between: Literal["line", "bounds"],
    comparisons: int,
) -> Comparison:
    """One of several comparisons, which share the 5 %. Runs with common seeds are paired, unless so few pairs could
    tell no two arms apart beside the other comparisons, and independent runs could: six pairs have no p-value below
    0.031, twice that is above 5 %, and six runs against six have 0.0022. (The number of runs alone says so.)"""
    compared = Comparison(baseline, candidate, metric, None, paired, small=False, between=between)
    if paired is not None or not compared.paired:
        return compared
    pairs, sides = len(compared.baseline.tracks), (len(baseline.tracks), len(candidate.tracks))
    if smallest(pairs, pairs, True) * comparisons <= LEVEL or smallest(*sides, False) * comparisons > LEVEL:
        return compared
    said = f"{pairs} pairs could tell no arms apart beside {counted(comparisons - 1, 'other comparison')}: independent"
    candidate = candidate._replace(notes=(*candidate.notes, f"{candidate.name}: {said}"))
    return Comparison(baseline, candidate, metric, None, False, small=False, between=between)


def smallest(one: int, two: int, paired: bool) -> float:
    """The smallest two-sided p-value of a permutation test of so many runs."""
    return max(2.0 ** (1 - min(one, two)) if paired else 2 / comb(one + two, one), 2 / (SAMPLED + 1))


K = TypeVar("K", bound=Hashable)


def holm(found: Mapping[K, Verdict]) -> dict[K, Verdict]:
    """The verdicts with Holm's p-values (S. Holm, 1979); one that is decided at 5 % alone, and not with the others
    beside it, is open."""
    p_values = {arm: p for arm, v in found.items() if (p := v.claim.p_value) is not None}
    tested = sorted(p_values, key=lambda arm: p_values[arm])
    corrected, before = dict(found), 0.0
    for rank, arm in enumerate(tested):
        verdict = found[arm]
        before = max(before, min(1.0, p_values[arm] * (len(tested) - rank)))
        decided = verdict.verdict in ("holds", "contradicted") and before > LEVEL
        claim = replace(
            verdict.claim,
            p_value=before,
            p_values=(before,),
            method=f"{verdict.claim.method}, Holm's of {len(tested)}",
            verdict="inconclusive" if decided else verdict.verdict,
            reason="seeds" if decided else verdict.claim.reason,
        )
        waits = _beside_others(claim, p_values[arm], len(tested) - rank) if decided else ()
        corrected[arm] = Verdict(claim, verdict.notes + waits)
    return corrected


def _beside_others(claim: Claim, p_value: float, tests: int) -> tuple[str, ...]:
    """How many runs would probably decide a claim whose p-value is small enough alone, and not as one of so many."""
    runs = claim.members // 2
    needed = seeds_needed(p_value, runs, side=SIDE / tests)
    return (f"about {needed:,} runs of each side would probably decide it beside the others (now {runs})",)


def table(runs: Runs, metric: str, at: float | None, axis: str) -> list[dict[str, Any]]:
    """See `Runs.table`."""
    every = {
        arm: runs.observed(arm, metric, axis) for arm in runs.arms if any(metric in r.metrics for r in runs.arms[arm])
    }
    falling = direction_of(metric, list(every.values()), None).falling
    rows = []
    for arm, curves in every.items():
        # A run that diverged ended worse than all others: with more than half of them there is no median.
        finals = np.where(np.isnan(curves.final), np.inf if falling else -np.inf, curves.final)
        known = finals[np.isfinite(finals)]
        low, high = (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)
        middle = float(np.median(finals)) if finals.size else np.nan
        row: dict[str, Any] = {"arm": arm, "runs": len(curves.tracks), "median": middle, "low": low, "high": high}
        row["diverged"] = int(sum(track.diverged for track in curves.tracks))
        if at is not None:
            times = crossings(curves.tracks, at, falling)
            pick = np.random.default_rng([SEED, len(times.time)]).integers(
                0, len(times.time), (RESAMPLED, len(times.time))
            )
            drawn = np.sort(median(times.ordinal[pick]))
            row |= {
                "time": times.median,
                "followed": float(times.time[times.censored].min()) if times.censored.any() else None,
                "interval": (float(drawn[int(0.025 * RESAMPLED)]), float(drawn[int(0.975 * RESAMPLED)])),
                "never": int(times.censored.sum()),
            }
        rows.append(row)
    best = min if falling else max
    return sorted(rows, key=lambda row: (row.get("time", 0.0), row["median"] if best is min else -row["median"]))
