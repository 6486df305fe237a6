"""The picture and the table of the view `run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lopsided.explore import curves, draw
from lopsided.explore.curves import ArmCurves
from lopsided.explore.pages.parts import table
from lopsided.report.text import number
from lopsided.stats.times import Times

MEASURES = {"steps": "steps to learn", "samples": "compute to learn", "final": "last value of the metric"}
"""What a heat map can show."""
NO_RULE = "Say on the left at which value of this metric a member has learned."


class Controls(NamedTuple):
    """What the controls say of the picture."""

    metric: str
    chart: str
    axis: str
    log: Sequence[str]
    """Which of its axes are logarithmic: x, y."""
    each: bool
    """Every member's curve, in place of the median and the range."""
    threshold: float | None
    """Where a member has learned, in arms whose spec has no rule for this metric."""
    rows: str
    columns: str
    measure: str
    """What the cells of a heat map are, of `MEASURES`."""


def figure(drawn: Sequence[ArmCurves], wanted: Controls, colour: str | None) -> Any:
    """Curves, times to learn or a heat map, coloured by a coordinate, or by arm."""
    shades = draw.colours([each.arm for each in drawn], colour)
    if wanted.chart == "curves":
        return draw.lines(drawn, wanted.metric, wanted.axis, wanted.log, wanted.each, shades)
    if wanted.chart == "times":
        found = learned(drawn, wanted.axis, wanted.metric, wanted.threshold)
        return draw.strips(found, wanted.axis, wanted.log, shades) if found else draw.nothing(NO_RULE)
    log = "y" in wanted.log
    return heat(drawn, wanted.metric, wanted.threshold, wanted.rows, wanted.columns, wanted.measure, log)


def cut(drawn: Sequence[ArmCurves], wanted: Controls) -> str:
    """What a picture leaves out to stay readable, in words."""
    if wanted.chart == "times" or (wanted.chart == "curves" and wanted.each):
        few = draw.drawn_each(len(drawn), draw.MOST_DOTS if wanted.chart == "times" else draw.MOST_LINES)
        most = max(len(each.seeds) for each in drawn)
        return f"The first {few} members of each arm are drawn." if few < most else ""
    if wanted.chart == "curves" and len(drawn) > draw.MOST_BANDS:
        return f"Ranges are drawn for at most {draw.MOST_BANDS} arms."
    return ""


def learned(
    drawn: Sequence[ArmCurves], axis: str, metric: str, threshold: float | None
) -> list[tuple[ArmCurves, Times]]:
    """Times of the arms for which somebody says when a member has learned."""
    down = curves.falls(drawn, metric)
    rules = [(each, curves.rule(each, metric, threshold, down)) for each in drawn]
    return [(each, curves.times(each, axis, *rule)) for each, rule in rules if rule is not None]


def heat(
    drawn: Sequence[ArmCurves], metric: str, threshold: float | None, rows: str, columns: str, measure: str, log: bool
) -> Any:
    """A matrix over two coordinates."""
    if not rows:
        return draw.nothing("The arms of this run differ in nothing.")
    if measure == "final":
        values = {each.arm.name: each.values[:, -1] for each in drawn}
    else:
        found = learned(drawn, measure, metric, threshold)
        if not found:
            return draw.nothing(NO_RULE)
        drawn, values = [each for each, _ in found], {each.arm.name: times.ordinal for each, times in found}
    high, wide, cells = curves.cells(drawn, rows, columns, values)
    label = f"last {metric}" if measure == "final" else MEASURES[measure]
    return draw.heat(
        high, wide, cells, (rows, columns, f"median {label}{_over(curves.pooled(drawn, rows, columns))}"), log
    )


def arms_table(drawn: Sequence[ArmCurves], axis: str, metric: str, threshold: float | None) -> Any:
    """The arms: their last values, and when they learned where somebody says what that is."""
    by_arm = {each.arm.name: times for each, times in learned(drawn, axis, metric, threshold)}
    down, lines = curves.falls(drawn, metric), []
    for each in drawn:
        middle, low, high = (band[-1] for band in each.band())
        last, gone = f"{number(middle)} [{number(low)}, {number(high)}]", int(each.diverged.sum())
        line: list[Any] = [each.arm.name, len(each.seeds), last, gone]
        times, rule = by_arm.get(each.arm.name), curves.rule(each, metric, threshold, down)
        if times is not None and rule is not None:
            median = "–" if times.median == float("inf") else number(times.median)
            said = f"{'≤' if rule[1] else '≥'} {number(rule[0])}"
            line += [median, said, f"{int(times.censored.sum())} of {len(each.seeds)}"]
        lines.append(line)
    more = [f"median {curves.AXES[axis]} to learn", "learned at", "never learned"] if by_arm else []
    return table(["arm", "members", "last value: median [range]", "diverged", *more], lines)


def _over(names: list[str]) -> str:
    """`, over all k`: a cell holds arms that differ in it."""
    return f", over all {' and '.join(names)}" if names else ""
