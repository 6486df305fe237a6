"""`lopsided forecast`: runs that have not learned yet, judged by those of the same arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from lopsided.cli.options import Json
from lopsided.core.errors import InputError
from lopsided.report.as_json import print_json


def forecast(
    *paths: Path,
    at: float,
    metric: str | None = None,
    axis: Literal["steps", "seconds"] = "steps",
    arm_from: str | None = None,
    seed_from: str | None = None,
    run: str | None = None,
    step: str | None = None,
    seconds: str | None = None,
    pattern: str | None = None,
    direction: Literal["falls", "rises"] | None = None,
    as_json: Json = False,
) -> None:
    """Read logs of runs, and say of each that has not reached a goal whether waiting is worth it.

    Asked are the other runs of its arm, which should differ by their seeds alone: how many of those that had not
    learned by then did so later, and when.

    Parameters
    ----------
    paths
        Files, folders or patterns of logs, as `lopsided compare` reads them.
    at
        The goal: a value of the metric.
    metric
        What has to reach it; the logs' only one if left out.
    axis
        steps or seconds.
    arm_from
        Where the arm is said, as in `lopsided compare`.
    seed_from
        Where the seed is said.
    run
        The column that tells runs apart.
    step
        The column of steps.
    seconds
        The column of times.
    pattern
        For logs in text: a regular expression with named groups, one of them step.
    direction
        Whether the metric falls or rises with learning; left out, its name decides, or how its curves move.
    as_json
        Print one JSON document on stdout, nothing else.
    """
    from lopsided.api.forecasting import left_out, open_runs
    from lopsided.api.judged import metric_of
    from lopsided.api.reading import read

    if not paths:
        raise InputError("forecast: takes files, folders or patterns of logs")
    arm: Any = (lambda path, config: path.parent.name) if arm_from == "path" else arm_from
    falling = None if direction is None else direction == "falls"
    runs = read(paths, arm, seed_from, run=run, step=step, seconds=seconds, pattern=pattern, falling=falling)
    chosen = metric_of(runs, metric)
    found = open_runs(runs, chosen, at, axis)
    aside = left_out(runs, chosen, at, axis)
    if as_json:
        print_json({"metric": chosen, "at": at, "left_out": aside, "runs": [
            {"arm": each.arm, "run": each.run, "advice": each.forecast.advice, **vars(each.forecast)} for each in found
        ]})  # fmt: skip
        return
    for note in runs.notes:
        print(f"note: {note}")
    for said in aside:
        print(f"left out: {said}")
    if not found and not aside:
        print(f"every run of these logs has reached {chosen} {at:g}")
    for each in found:
        print(f"{each.arm}, {each.run}: {each.forecast}")
