"""A figure as data: panels of lines with bands. `report.matplotlib_draw` and `report.html` draw the same object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from lopsided.store.results import Results

Axis = Literal["steps", "samples", "distinct"]
AXIS_LABEL = {"steps": "steps", "samples": "compute (samples seen)", "distinct": "data (distinct samples)"}
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#F0E442")
"""Okabe and Ito's colours, told apart by colour-blind readers too."""
METRIC_LABEL = {
    "test/accuracy": "test accuracy",
    "test/loss": "test loss",
    "train/loss": "training loss",
    "norm/ratio": "norm of last layer / norm of first layer",
}


@dataclass(frozen=True)
class Line:
    """Median over members with a band from the lowest to the highest member."""

    name: str
    x: np.ndarray  # (T,)
    middle: np.ndarray  # (T,)
    low: np.ndarray
    high: np.ndarray
    colour: str


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


@dataclass(frozen=True)
class Figure:
    title: str
    panels: Sequence[Panel]


def curves(
    results: Results,
    metric: str | Sequence[str],
    axis: Axis,
    title: str,
    arms: Sequence[str] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    marks: Mapping[str, float] | None = None,
) -> Panel:
    """One line per arm (and per metric, where several are given)."""
    metrics = [metric] if isinstance(metric, str) else list(metric)
    names = list(arms or results.arms)
    lines = []
    for arm_name in names:
        arm = results[arm_name]
        for m in metrics:
            values = arm.metric(m)
            label = arm_name if len(metrics) == 1 else _bin_label(m, len(metrics))
            colour = PALETTE[len(lines) % len(PALETTE)]
            x = getattr(arm, axis)
            lines.append(Line(label, x, *(f(values, 0) for f in (np.nanmedian, np.nanmin, np.nanmax)), colour=colour))
    label = METRIC_LABEL.get(metrics[0], metrics[0].split("/")[-1])
    return Panel(title, AXIS_LABEL[axis], label, lines, log_x, log_y, marks or {})


def _bin_label(metric: str, bins: int) -> str:
    """`bin2/accuracy` of five bins as `ranks 20-40 %`."""
    name = metric.split("/")[0]
    if not name.removeprefix("bin").isdigit():
        return name
    number = int(name.removeprefix("bin"))
    return f"ranks {100 * (number - 1) // bins}–{100 * number // bins} %"
