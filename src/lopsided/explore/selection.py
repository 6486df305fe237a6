"""Which arms of a run are shown, and what is saved of them."""

from __future__ import annotations

import csv as writer
import io
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lopsided.explore.curves import ArmCurves, Reader, of_run
from lopsided.explore.runs import ListedRun, PlacedArm, text_of
from lopsided.store.mirror import Mirror
from lopsided.study.others import OTHERS

MOST_ARMS = 16
"""Arms in one picture of lines."""


class Chosen(NamedTuple):
    """Arms of a run, and the metric."""

    run: ListedRun
    metric: str
    arms: tuple[PlacedArm, ...]


def choose(run: ListedRun, metric: str, slices: Mapping[str, Sequence[Any]]) -> Chosen:
    """The arms that lie in every slice: (coordinate, values that will do)."""
    arms = tuple(
        arm for arm in run.arms if all(text_of(arm.at.get(key)) in values for key, values in slices.items())
    )  # fmt: skip
    return Chosen(run, metric, arms)


def read(reader: Reader, chosen: Chosen, everything: bool) -> list[ArmCurves]:
    """Curves of the arms; without `everything` of the first MOST_ARMS arms that have any."""
    if everything:
        return reader.curves(chosen.arms, chosen.metric)
    found: list[ArmCurves] = []
    for i in range(0, len(chosen.arms), MOST_ARMS):
        found += reader.curves(chosen.arms[i : i + MOST_ARMS], chosen.metric)
        if len(found) >= MOST_ARMS:
            break
    return found[:MOST_ARMS]


def left_out(chosen: Chosen, drawn: int) -> str:
    """What the picture does not show."""
    n = len(chosen.arms)
    if drawn == MOST_ARMS < n:
        return f"The first {drawn} of {n} arms are drawn; choose values of the coordinates to see others."
    return "" if drawn == n else f"{n - drawn} of {n} arms have no complete member with this metric."


def diverged_text(drawn: Sequence[ArmCurves], metric: str) -> str:
    """What the picture makes of members that diverged; empty where none did."""
    gone, of = sum(int(each.diverged.sum()) for each in drawn), sum(len(each.seeds) for each in drawn)
    if not gone:
        return ""
    counted = "count as 0 from then on" if metric.endswith("accuracy") else "are in no median or range from then on"
    return f"{gone} of {of} members diverged; they {counted}."


def csv(mirror: Mirror, chosen: Chosen) -> str:
    """What was measured: one line for each complete member and evaluation, of all chosen arms."""
    text = io.StringIO()
    keys = list(dict.fromkeys(key for arm in chosen.arms for key in arm.at))
    columns = ("seed", "step", "samples", "distinct_samples", "seconds", "value")
    lines = writer.writer(text)
    lines.writerow(["arm", *keys, *columns[:-1], chosen.metric])
    found = mirror.rows([arm.digest for arm in chosen.arms], chosen.metric)
    for arm in chosen.arms:
        at = [arm.name, *(text_of(arm.at[key]) if key in arm.at else "" for key in keys)]
        if arm.digest in found:
            rows = of_run(arm, found[arm.digest])
            known = [np.ma.filled(np.ma.asarray(rows[name]).astype(object), "") for name in columns]
            lines.writerows([*at, *row] for row in zip(*known, strict=True))
    return text.getvalue()


def command(chosen: Chosen, root: Path) -> str:
    """The `lopsided query` that gives the rows of all chosen arms."""
    run = chosen.run
    where = f"run = {_quoted(run.label)} AND seed < seeds"
    if run.label == OTHERS:  # their names say what differs, which changes with the members that there are
        digests = ", ".join(_quoted(arm.digest) for arm in chosen.arms)
        # A spec that a recorded run has, too, has a row of `arms` for each stretch of seeds that are a program's.
        seeds = "(seed < seeds OR (seed >= judged_from AND seed < judged_to))"
        where = f"run = {_quoted(OTHERS)} AND spec IN ({digests}) AND {seeds}"
    elif len(chosen.arms) < len(run.arms):
        where += f" AND arm IN ({', '.join(_quoted(arm.name) for arm in chosen.arms)})"
    sql = (
        f"SELECT arm, seed, step, samples, value FROM rows JOIN arms USING (spec) WHERE {where} "
        f"AND metric = {_quoted(chosen.metric)} ORDER BY arm, seed, step"
    )
    quoted = shlex.quote(sql) if set(sql) & set('"$`\\!') else f'"{sql}"'  # double ones read better
    return f"lopsided query {quoted} --out {shlex.quote(str(root))}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
