"""Logs judged as a whole: a table of arms, verdicts against one of them, a paragraph; for a terminal, a page, JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lopsided.api.looks import looks as planned
from lopsided.api.runs import Runs
from lopsided.api.several import table
from lopsided.api.verdict import Verdict
from lopsided.core.errors import InputError, unknown
from lopsided.report.words import effect_text


class Question(NamedTuple):
    """What is asked of runs."""

    metric: str
    at: float | None = None
    axis: Literal["steps", "seconds"] = "steps"
    baseline: str | None = None
    target: bool = False
    """Whether each arm is judged against `at`, rather than against the baseline."""
    between: Literal["line", "bounds"] = "line"
    rank: bool = False
    plan: Path | None = None
    looks: tuple[int, ...] = ()


class Answers(NamedTuple):
    """Answers: `data` is what the command prints as JSON, `verdicts` by arm."""

    data: dict[str, Any]
    verdicts: dict[str, Verdict]


def metric_of(runs: Runs, asked: str | None, swept: Sequence[str] = ()) -> str:
    """The metric `asked`; if none is, the only one of the logs, whose columns of `swept` settings count as no metric.
    Raises `InputError` where there are several."""
    if asked is not None:
        if asked not in runs.metrics:
            raise unknown("metric", asked, runs.metrics)
        return asked
    names = [name for name in runs.metrics if name not in swept] or runs.metrics
    if len(names) > 1:
        raise InputError(f"--metric: which one? {', '.join(names)}")
    return names[0]


def judged(runs: Runs, asked: Question) -> Answers:
    """Judge runs. Raises `InputError` for arms that are not there, and for questions that do not fit the runs."""
    metric, at, axis = asked.metric, asked.at, asked.axis
    having = {run.arm for run in runs.all if metric in run.metrics}
    runs = runs.where(lambda run: run.arm in having)
    arms, tasks = list(runs.arms), runs.tasks
    if not arms:
        raise unknown("metric", metric, [])
    baseline = asked.baseline or next((arm for arm in arms if "baseline" in arm.lower()), arms[0])
    if baseline not in arms:
        raise unknown("arm", baseline, arms)
    if len(arms) < 2 and not asked.target:
        raise InputError(f"compare: the logs are all of one arm, {arms[0]!r}; --arm-from says where the arm is named")
    rows = [] if tasks else table(runs, metric, at, axis)
    verdicts = _verdicts(runs, asked, baseline)
    data: dict[str, Any] = {
        "metric": metric,
        "falling": runs.falls(metric, axis),
        "at": at,
        "axis": axis,
        "baseline": baseline,
        "target": asked.target,
        "arms": rows,
        "verdicts": {name: {**v.claim.as_json(), "notes": list(v.notes)} for name, v in verdicts.items()},
        "notes": list(runs.notes),
        "in_words": _plain(runs, verdicts, metric, at),
    }
    if asked.rank and not tasks:
        ranked = runs.ranking(metric, at, axis)
        data["ranking"] = [{"arm": row["arm"], "letters": row["letters"]} for row in ranked.rows]
        data["ranking_note"] = ranked.note
    if tasks:
        data["tasks"] = tasks
        if at is not None:
            data["profile"] = runs.profile(metric, at, axis).scores
    return Answers(data, verdicts)


def _verdicts(runs: Runs, asked: Question, baseline: str) -> dict[str, Verdict]:
    metric, at, axis = asked.metric, asked.at, asked.axis
    others = [arm for arm in runs.arms if arm != baseline]
    if asked.plan is not None:
        if asked.between != "line" or asked.rank or asked.target:
            raise InputError(
                "--plan: goes with neither --between bounds nor --rank nor --target, which it does not hold"
            )
        if len(others) != 1:
            raise InputError(f"--plan: looks at two arms; the logs have {len(runs.arms)}: {', '.join(runs.arms)}")
        how: dict[str, Any] = {"metric": metric, "at": at, "axis": axis, "runs": asked.looks or None}
        return {others[0]: planned(asked.plan, baseline=baseline, candidate=others[0], **how).judge(runs)}
    if runs.tasks:
        return {arm: runs.over_tasks(baseline, arm, metric, at, axis) for arm in others}
    if asked.target and at is not None:
        return {arm: runs.reaches(arm, metric, at, axis=axis) for arm in runs.arms}
    return runs.against(baseline, metric, at, axis, between=asked.between)


def _plain(runs: Runs, verdicts: Mapping[str, Verdict], metric: str, at: float | None) -> str:
    """One paragraph that one may publish."""
    of = f" of {len(runs.tasks)} tasks" if runs.tasks else ""
    goal = "" if at is None else f" at {at:g}"
    sentences = [f"We compared {len(runs.arms)} arms ({len(runs.all)} runs{of}) by {metric}{goal}."]
    for verdict in verdicts.values():
        claim = verdict.claim
        p = "" if claim.p_value is None else f", p = {claim.p_value:.2g}"
        known = {"holds": "", "contradicted": "The contrary holds: ", "negligible": "No difference that matters: "}
        start = known.get(verdict.verdict, "Not decided: ")
        sentences.append(f"{start}{claim.claim} ({effect_text(claim)}{p}; {claim.members} runs).")
    several = len(verdicts) > 1 and not runs.tasks
    sentences.append("Intervals are of 95 %" + ("; p-values are Holm's." if several else "."))
    return " ".join(sentences)
