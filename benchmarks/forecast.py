"""Can it be told, half-way, when a run will learn? Scored on the published rows, without training.

    python -m benchmarks.forecast [FOLDER OF ROWS]

Two ways: the other seeds of the same setting (`lop.forecast`), and the run's own signal, extrapolated: the ratio of the
layers' norms (log-linear, to where it stood when others learned) and, where it is known, the overlap c with what is to
be learned (of a link of degree 4, 1/c² falls on a line in gradient flow). What an extrapolation is off by is corrected
by its median, and its interval taken, on settings that are not scored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np

from lopsided.api.curves import Curves
from lopsided.api.forecasting import LEVEL, forecast

ACCURACY = {
    "biased-online": 0.9, "dense-parity": 0.9, "set-size": 0.9, "layer-lr": 0.9, "bias-removal": 0.9,
}  # fmt: skip
"""Recipes with accuracies, and what counts as learned."""
FEWEST = 12
"""Seeds of a setting that is scored: a forecast is of one by the others."""
WAITED = (0.5, 1.0, 1.5)
"""When it is asked, as shares of the median time to learn of the setting."""


class Run(NamedTuple):
    """One member's curves on its steps."""

    spec: str
    seed: int
    step: np.ndarray
    value: np.ndarray


def runs(folder: Path, recipe: str, metric: str, arrays: bool = False) -> Iterator[Run]:
    """Every member's curve of a metric."""
    column = "elements" if arrays else "value"
    rows = duckdb.execute(
        f"SELECT spec, seed, list(step ORDER BY step), list({column} ORDER BY step) FROM read_parquet(?) "
        "WHERE metric = ? GROUP BY spec, seed ORDER BY spec, seed",
        [str(folder / f"{recipe}.parquet"), metric],
    ).fetchall()
    for spec, seed, step, value in rows:
        yield Run(spec, seed, np.array(step, float), np.array(value, float))


def by_siblings(folder: Path, recipe: str, at: float) -> dict[str, Any] | None:
    """How often the interval of `lop.forecast` holds the time, each run asked of the other seeds of its setting."""
    settings: dict[str, list[Run]] = {}
    for run in runs(folder, recipe, "test/accuracy"):
        settings.setdefault(run.spec, []).append(run)
    held, factors, said = [], [], {"wait": 0, "stop": 0, "unknown": 0}
    stopped_late = 0
    for group in settings.values():
        axis = max((run.step for run in group), key=len)
        if len(group) < FEWEST or any(len(run.step) > len(axis) for run in group):
            continue
        values = np.array([np.append(run.value, np.full(len(axis) - len(run.step), run.value[-1])) for run in group])
        there = values >= at
        times = np.where(there.any(1), axis[there.argmax(1)], np.inf)
        if not np.isfinite(np.median(times)):
            continue
        for i, time in enumerate(times):
            others = Curves(recipe, axis, np.delete(values, i, axis=0), "steps")
            for share in WAITED:
                now = share * float(np.median(times))
                if time <= now:
                    continue
                found = forecast(others, at, now)
                said[found.advice] += 1
                if found.advice == "wait":
                    held.append(found.low <= time <= found.high)
                    factors.append(found.high / found.low)
                elif found.advice == "stop":
                    stopped_late += bool(np.isfinite(time))
    if not held:
        return None
    return {"held": np.mean(held), "factor": np.median(factors), **said, "late": stopped_late}


def extrapolated(step: np.ndarray, signal: np.ndarray, now: float, goal: float) -> float:
    """When `signal`, going on as steeply as in the second half up to `now`, gets to `goal`; infinite if it does not."""
    seen = np.flatnonzero((step <= now) & (step >= now / 2))
    if len(seen) < 4:
        return np.nan
    slope, last = np.polyfit(step[seen], signal[seen], 1)[0], seen[-1]
    wait = (goal - signal[last]) / slope if slope else np.inf
    return step[last] + wait if wait > 0 else (now if (goal - signal[last]) * slope <= 0 and slope > 0 else np.inf)


def _log(ratio: float) -> float:
    """The logarithm; minus infinity for a forecast without end."""
    return float(np.log(ratio)) if ratio else -np.inf


def by_norms(folder: Path, recipe: str, share: float, goal: float | None) -> tuple[list[str], np.ndarray, float]:
    """Settings, log(time / forecast) of each run from the ratio of its layers' norms, and the ratio at learning."""
    ratios = {(run.spec, run.seed): run for run in runs(folder, recipe, "norm/ratio")}
    learned = []
    for run in runs(folder, recipe, "test/accuracy"):
        there = np.flatnonzero(run.value >= 0.9)
        if there.size and there[0] >= 12:
            learned.append((run.spec, run.step[there[0]], ratios[run.spec, run.seed]))
    usual = float(np.median([np.interp(time, r.step, np.log(r.value)) for _, time, r in learned]))
    goal = usual if goal is None else goal
    found = [_log(float(t) / extrapolated(r.step, np.log(r.value), float(share * t), goal)) for _, t, r in learned]
    return [spec for spec, *_ in learned], np.array(found), usual


def by_overlaps(folder: Path, share: float) -> tuple[list[str], np.ndarray]:
    """Settings, and log(time / forecast) of each direction of `online-sgd`: strengths are as c^4, and -1/c² a line."""
    specs, found = [], []
    for run in runs(folder, "online-sgd", "strength", arrays=True):
        for m in np.abs(run.value).T:
            there = np.flatnonzero(m >= 0.5)
            if there.size and there[0] >= 12:
                time = run.step[there[0]]
                specs.append(run.spec)
                found.append(_log(float(time) / extrapolated(run.step, -(m**-0.5), float(share * time), 0.0)))
    return specs, np.array(found)


def scored(name: str, choose: np.ndarray, judge: np.ndarray) -> str:
    """A row: the interval of errors on one half, and how often it holds the others'."""
    choose, judge = np.where(np.isfinite(choose), choose, -np.inf), np.where(np.isfinite(judge), judge, -np.inf)
    low, high = np.quantile(choose, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    width = f"{np.exp(high - low):.2g}" if np.isfinite(low) else "∞"
    held = np.mean((judge >= low) & (judge <= high))
    middle = float(np.median(choose))
    return f"| {name} | {len(judge):,} | × {np.exp(middle):.2f} | {width} | {held:.0%} |"


def main(folder: Path) -> None:
    print("| recipe, asked of the other seeds | wait | stop | unknown | high / low, median | holds (promised 80 %) | "
          "stopped, though it learned |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for recipe, at in ACCURACY.items():
        found = by_siblings(folder, recipe, at)
        if found:
            counts = " | ".join(f"{found[each]:,}" for each in ("wait", "stop", "unknown"))
            print(f"| {recipe} | {counts} | {found['factor']:.2f} | {found['held']:.0%} | {found['late']} |")
    print("\n| own signal, extrapolated | runs | off by | high / low | holds (promised 80 %) |\n|---|---|---|---|---|")
    for share in (0.25, 0.5, 0.75):
        specs, errors = by_overlaps(folder, share)
        half = np.isin(specs, sorted(set(specs))[::2])
        print(scored(f"overlap, at {share:.0%} of the time, other step sizes", errors[half], errors[~half]))
        specs, errors, usual = by_norms(folder, "biased-online", share, None)
        half = np.isin(specs, sorted(set(specs))[::2])
        print(scored(f"norms, at {share:.0%}, other settings of one recipe", errors[half], errors[~half]))
        _, other, _ = by_norms(folder, "dense-parity", share, usual)
        print(scored(f"norms, at {share:.0%}, another task (dense parity)", errors, other))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
