"""`lopsided compare`: logs of anybody's runs, read and judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from lopsided.cli.options import Json
from lopsided.core.errors import InputError
from lopsided.report.as_json import print_json


def compare(
    *paths: Path,
    metric: str | None = None,
    at: float | None = None,
    baseline: str | None = None,
    axis: Literal["steps", "seconds"] = "steps",
    arm_from: str | None = None,
    seed_from: str | None = None,
    run: str | None = None,
    step: str | None = None,
    seconds: str | None = None,
    pattern: str | None = None,
    task_from: str | None = None,
    sweep: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    between: Literal["line", "bounds"] = "line",
    rank: Annotated[bool, Parameter(negative="")] = False,
    plan: Path | None = None,
    looks: Annotated[tuple[int, ...], Parameter(consume_multiple=True, negative="")] = (),
    target: Annotated[bool, Parameter(negative="")] = False,
    ends: Literal["alike", "own"] = "alike",
    direction: Literal["falls", "rises"] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    as_json: Json = False,
) -> None:
    """Read logs of your own runs, and say which arm is better, by how much, and whether that is certain.

    Parameters
    ----------
    paths
        Files, folders or patterns of logs: CSV, JSON lines, trainer_state.json, TensorBoard, W&B exports, MLflow,
        trackio, text.
    metric
        What is compared; the logs' only one if left out.
    at
        A goal: who reaches it with less of the axis? Left out: whose last values are better?
    baseline
        The arm that all others are compared with; left out, one that is called so, or the first.
    axis
        steps or seconds.
    arm_from
        Where the arm is said: a column, a setting of the configuration, `path` (the folder), or a template of the path,
        "{arm}/seed_{seed}/metrics.csv" (other names in it, "{lr}", are settings).
    seed_from
        Where the seed is said, likewise.
    run
        The column that tells runs apart.
    step
        The column of steps.
    seconds
        The column of times.
    pattern
        For logs in text: a regular expression with named groups, one of them step.
    task_from
        Where a task is said, likewise: arms are compared over all tasks, stratified.
    sweep
        Settings that were swept: each arm is judged at its best, which other seeds than those judged choose.
    between
        Where between two evaluations a goal is reached: on a line, or (bounds) wherever it may be.
    rank
        Test all pairs of arms, and say which are told apart.
    plan
        A file with a plan of looks at one arm against the baseline; written if it is not there, of the arms whose logs
        are. (`lop.looks` in Python writes one before there is any log.)
    looks
        With --plan: runs of each arm at each look, 8 16 32; left out, those of the plan.
    target
        With --at: is each arm's mean last value there (one-sided, at 1 %), and from which evaluation on?
    ends
        Last values are compared of runs of one length; `own` says that a rule of their own ended them (early stopping).
    direction
        Whether the metric falls or rises with learning; left out, its name decides, or how its curves move.
    output
        Write a page: NAME.html.
    as_json
        Print one JSON document on stdout, nothing else.
    """
    from lopsided.api.judged import Question, judged, metric_of
    from lopsided.api.reading import read
    from lopsided.report.page_file import require_page

    if not paths:
        raise InputError("compare: takes files, folders or patterns of logs")
    if target and at is None:
        raise InputError("--target: goes with --at VALUE")
    if looks and plan is None:
        raise InputError("--looks: goes with --plan FILE")
    if output is not None:
        require_page(output)
    if output is not None and task_from is not None:
        raise InputError("--output: a page is of one task; leave out --task-from, or take --json")
    arm: Any = (lambda path, config: path.parent.name) if arm_from == "path" else arm_from
    falling = None if direction is None else direction == "falls"
    runs = read(
        paths,
        arm,
        seed_from,
        run=run,
        step=step,
        seconds=seconds,
        task=task_from,
        pattern=pattern,
        ends=ends,
        falling=falling,
    )
    chosen = metric_of(runs, metric, sweep or ())
    if sweep:
        runs = runs.best(sweep, chosen, at, axis)
    data, verdicts = judged(runs, Question(chosen, at, axis, baseline, target, between, rank, plan, looks))
    if output is not None:
        from lopsided.report.compare_page import write_comparison

        data["report"] = str(write_comparison(output, runs, data, verdicts).absolute())
    if as_json:
        print_json(data)
        return
    from lopsided.report.compare_text import comparison

    comparison(data, verdicts)
