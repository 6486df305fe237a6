"""`lopsided compare`: logs of anybody's runs, read and judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from lopsided.cli.options import Json
from lopsided.core.errors import InputError, unknown
from lopsided.report.as_json import print_json

if TYPE_CHECKING:
    from lopsided.api.runs import Runs
    from lopsided.api.verdict import Verdict


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
    target: Annotated[bool, Parameter(negative="")] = False,
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
        "{arm}/seed_{seed}/metrics.csv".
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
    target
        With --at: is each arm's mean last value there (one-sided, at 1 %), and from which evaluation on?
    output
        Write a page: NAME.html.
    as_json
        Print one JSON document on stdout, nothing else.
    """
    from lopsided.api.reading import read
    from lopsided.api.several import table

    if not paths:
        raise InputError("compare: takes files, folders or patterns of logs")
    if target and at is None:
        raise InputError("--target: goes with --at VALUE")
    if output is not None and output.suffix not in (".html", ".htm"):
        raise InputError(f"--output {str(output)!r}: a page is HTML; name a file that ends in .html")
    arm: Any = (lambda path, config: path.parent.name) if arm_from == "path" else arm_from
    runs = read(paths, arm, seed_from, run=run, step=step, seconds=seconds, pattern=pattern)
    chosen = _metric(runs, metric)
    arms = [name for name, each in runs.arms.items() if any(chosen in r.metrics for r in each)]
    first = baseline or next((arm for arm in arms if "baseline" in arm.lower()), arms[0])
    if first not in arms:
        raise unknown("arm", first, arms)
    if len(arms) < 2 and not target:
        raise InputError(f"compare: the logs are all of one arm, {arms[0]!r}; --arm-from says where the arm is named")
    rows = table(runs, chosen, at, axis)
    verdicts = _verdicts(runs, chosen, at, axis, first, arms, target)
    said = _plain(rows, verdicts, chosen, at, axis, first)
    data = {
        "metric": chosen,
        "at": at,
        "axis": axis,
        "baseline": first,
        "arms": rows,
        "verdicts": {name: {**v.claim.as_json(), "notes": list(v.notes)} for name, v in verdicts.items()},
        "notes": list(runs.notes),
        "in_words": said,
    }
    if output is not None:
        from lopsided.report.compare_page import write_comparison

        data["report"] = str(write_comparison(output, runs, data, verdicts).absolute())
    if as_json:
        print_json(data)
        return
    from lopsided.report.compare_text import comparison

    comparison(data, verdicts)


def _metric(runs: Runs, asked: str | None) -> str:
    names = runs.metrics
    if asked is not None:
        if asked not in names:
            raise unknown("metric", asked, names)
        return asked
    if len(names) > 1:
        raise InputError(f"--metric: which one? {', '.join(names)}")
    return names[0]


def _verdicts(
    runs: Runs, metric: str, at: float | None, axis: str, baseline: str, arms: list[str], target: bool
) -> dict[str, Verdict]:
    if target and at is not None:
        return {arm: runs.reaches(arm, metric, at, axis=axis) for arm in arms}
    found = runs.where(lambda each: each.arm in arms)
    return found.against(baseline, metric, at, axis)


def _plain(
    rows: list[dict[str, Any]], verdicts: dict[str, Verdict], metric: str, at: float | None, axis: str, baseline: str
) -> str:
    """One paragraph that one may publish."""
    from lopsided.report.words import effect_text

    runs = sum(row["runs"] for row in rows)
    sentences = [f"We compared {len(rows)} arms ({runs} runs) by {metric}{'' if at is None else f' at {at:g}'}."]
    for arm, verdict in verdicts.items():
        claim = verdict.claim
        p = "" if claim.p_value is None else f", p = {claim.p_value:.2g}"
        known = {"holds": "", "contradicted": "The contrary holds: ", "negligible": "No difference that matters: "}
        start = known.get(verdict.verdict, "Not decided: ")
        sentences.append(f"{start}{claim.claim} ({effect_text(claim)}{p}; {claim.members} runs).")
        del arm
    sentences.append("Intervals are of 95 %; p-values are Holm's where several arms were compared with one.")
    return " ".join(sentences)
