"""Which arms of a run are shown, and what is saved of them."""

from __future__ import annotations

import csv as writer
import io
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lopsided.explore.curves import Curves, Reader
from lopsided.explore.runs import OTHERS, Placed, Run, text_of

MOST_ARMS = 16
"""Arms in one picture of lines."""


class Chosen(NamedTuple):
    """Arms of a run, and the metric."""

    run: Run
    metric: str
    arms: tuple[Placed, ...]


def choose(run: Run, metric: str, slices: Mapping[str, Sequence[Any]]) -> Chosen:
    """The arms that lie in every slice: (coordinate, values that will do)."""
    arms = tuple(
        arm for arm in run.arms if all(text_of(arm.at.get(key)) in values for key, values in slices.items())
    )  # fmt: skip
    return Chosen(run, metric, arms)


def read(reader: Reader, chosen: Chosen, everything: bool) -> list[Curves]:
    """Their curves; without `everything` at most MOST_ARMS arms."""
    return reader.curves(chosen.arms if everything else chosen.arms[:MOST_ARMS], chosen.metric)


def left_out(chosen: Chosen, drawn: int, everything: bool) -> str:
    """What the picture does not show."""
    n = len(chosen.arms)
    if everything or n <= MOST_ARMS:
        return "" if drawn == n else f"{n - drawn} of {n} arms have no complete member with this metric."
    return f"The first {drawn} of {n} arms are drawn; choose values of the coordinates to see others."


def csv(found: Sequence[Curves], metric: str) -> str:
    """One line for each member and evaluation."""
    text = io.StringIO()
    keys = list(dict.fromkeys(key for each in found for key in each.arm.at))
    lines = writer.writer(text)
    lines.writerow(["arm", *keys, "seed", "step", "samples", "distinct_samples", "seconds", metric])
    for each in found:
        at = [each.arm.name, *(text_of(each.arm.at[key]) if key in each.arm.at else "" for key in keys)]
        axes = list(zip(each.steps, each.samples, each.distinct, each.seconds, strict=True))
        for seed, values in zip(each.seeds, each.values, strict=True):
            lines.writerows([*at, seed, *axis, value] for axis, value in zip(axes, values, strict=True))
    return text.getvalue()


def command(chosen: Chosen, root: Path) -> str:
    """The `lopsided query` that gives the rows of the picture."""
    run = chosen.run
    if run.label == OTHERS:
        names = ", ".join(f"'{arm.digest}'" for arm in chosen.arms)
        where, source, name = f"spec IN ({names})", "rows", "spec"
    else:
        where = f"recipe = {_quoted(run.recipe)} AND scale = {_quoted(run.scale)}"
        source, name = "rows JOIN arms USING (spec)", "arm"
        if len(chosen.arms) < len(run.arms):
            where += f" AND arm IN ({', '.join(_quoted(arm.name) for arm in chosen.arms)})"
    sql = (
        f"SELECT {name}, seed, step, samples, value FROM {source} WHERE {where} AND metric = {_quoted(chosen.metric)} "
        f"ORDER BY {name}, seed, step"
    )
    quoted = shlex.quote(sql) if set(sql) & set('"$`\\!') else f'"{sql}"'  # double ones read better
    return f"lopsided query {quoted} --out {shlex.quote(str(root))}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
