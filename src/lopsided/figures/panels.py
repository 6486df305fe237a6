"""A figure as data: panels of lines with bands, and matrices. `report.matplotlib_draw` and `report.html` draw the same
object."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from lopsided.results.stored import Results

Axis = Literal["steps", "samples", "distinct"]
AXIS_LABEL = {"steps": "steps", "samples": "compute (samples seen)", "distinct": "data (distinct samples)"}
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#F0E442")
"""Okabe and Ito's colours, told apart by colour-blind readers too."""
METRIC_LABEL = {
    "test/accuracy": "test accuracy",
    "test/loss": "test loss",
    "train/loss": "training loss",
    "population/loss": "expected loss",
    "worked/answer": "share of right final answers",
    "worked/step": "share of right steps",
    "skills/effective": "1 / (R sum p²), 1 for uniform skills",
    "norm/ratio": "norm of last layer / norm of first layer",
}


def metric_label(metric: str) -> str:
    """The label of an axis that shows a metric. `worked/answer-2` (of 2 operations) has that of `worked/answer`."""
    if layer := re.fullmatch(r"norm/layer(\d+)", metric):
        return f"norm of layer {layer[1]}"
    return METRIC_LABEL.get(re.sub(r"-\d+$", "", metric), metric.split("/")[-1])


@dataclass(frozen=True)
class Line:
    """Median over members with a band from the lowest to the highest member."""

    name: str
    x: np.ndarray  # (T,)
    middle: np.ndarray  # (T,)
    low: np.ndarray
    high: np.ndarray
    colour: str
    style: Literal["line", "dashed", "points"] = "line"
    """Dashed lines are theory, by convention."""
    legend: bool = True


@dataclass(frozen=True)
class Heat:
    """A matrix drawn as colours."""

    title: str
    x_label: str
    y_label: str
    values: np.ndarray  # (rows, columns), row 0 on top
    value_label: str
    low: float = 0.0
    high: float = 1.0
    x_ticks: Sequence[str] = ()
    y_ticks: Sequence[str] = ()
    """Labels of columns and rows; without them they are numbered."""
    mark: tuple[int, int] | None = None
    """(row, column) of a cell to mark with a star."""


@dataclass(frozen=True)
class Contour:
    """A surface over a plane as contour lines, with a way across it."""

    title: str
    x_label: str
    y_label: str
    x: np.ndarray  # (columns,)
    y: np.ndarray  # (rows,)
    values: np.ndarray  # (rows, columns)
    value_label: str
    way: np.ndarray  # (C, 2) points in the order of training, the first one marked
    levels: int = 12


@dataclass(frozen=True)
class Panel:
    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    marks: Mapping[str, float] = field(default_factory=dict)
    """Dotted horizontal lines by name, for example chance."""
    moments: Mapping[str, float] = field(default_factory=dict)
    """Dotted vertical lines by name, for example where a stage begins."""
    x_names: Sequence[str] = ()
    """What stands at 1, 2, ... of the horizontal axis, where that is no number."""
    legend_at: str = "best"
    """Where the print figure puts its legend, in matplotlib's words."""

    @property
    def band(self) -> float:
        """How opaque the members' ranges are drawn: less where many overlap."""
        return min(0.15, 0.5 / max(1, sum(line.style == "line" for line in self.lines)))


@dataclass(frozen=True)
class Figure:
    title: str
    panels: Sequence[Panel | Heat | Contour]


def curves(
    results: Results,
    metric: str | Sequence[str],
    axis: Axis,
    title: str,
    arms: Sequence[str] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    marks: Mapping[str, float] | None = None,
    moments: Mapping[str, float] | None = None,
) -> Panel:
    """One line per arm (and per metric, where several are given)."""
    metrics = [metric] if isinstance(metric, str) else list(metric)
    names = list(results.arms if arms is None else arms)
    lines = []
    for arm_name in names:
        arm = results[arm_name]
        for m in metrics:
            values = arm.metric(m)
            label = arm_name if len(metrics) == 1 else _bin_label(m, len(metrics))
            lines.append(over_members(label, arm.along(axis), values, len(lines)))
    label = metric_label(metrics[0])
    return Panel(title, AXIS_LABEL[axis], label, lines, log_x, log_y, marks or {}, moments or {})


def over_members(
    name: str,
    x: np.ndarray,
    values: np.ndarray,
    colour: int | str,
    style: Literal["line", "dashed", "points"] = "line",
    legend: bool = True,
) -> Line:
    """A line through the medians of `values` (M, N) at `x` (N,), with the members' range; `colour` may be a number."""
    shade = PALETTE[colour % len(PALETTE)] if isinstance(colour, int) else colour
    finite = np.where(np.isfinite(values), values, np.nan)
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # a column without any finite value
        middle, low, high = (f(finite, 0) for f in (np.nanmedian, np.nanmin, np.nanmax))
    return Line(name, np.asarray(x, float), middle, low, high, shade, style, legend)


def theory_line(
    name: str, x: np.ndarray, values: np.ndarray, colour: int | str = "#333333", legend: bool = True
) -> Line:
    """A dashed line without a band."""
    return over_members(name, x, np.asarray(values, float)[None], colour, "dashed", legend)


def slope_line(name: str, x: tuple[float, float], through: tuple[float, float], slope: float) -> Line:
    """A dashed straight line on log axes, from x[0] to x[1], through a point."""
    ends = np.array(x, float)
    return theory_line(name, ends, through[1] * (ends / through[0]) ** slope)


def _bin_label(metric: str, bins: int) -> str:
    """`bin2/accuracy` of five bins as `ranks 20-40 %`."""
    name = metric.split("/")[0]
    if not name.removeprefix("bin").isdigit():
        return name
    number = int(name.removeprefix("bin"))
    return f"ranks {100 * (number - 1) // bins}–{100 * number // bins} %"
