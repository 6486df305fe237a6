"""Panels of arms at the best of their swept settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lopsided.figures.panels import AXIS_LABEL, Panel, metric_label, over_members
from lopsided.results.stored import Axis, Results
from lopsided.results.sweeps import Tuned, kept_name


def tuned_curves(
    arms: Sequence[Tuned],
    metric: str,
    axis: Axis,
    title: str,
    log_y: bool = False,
    log_x: bool = False,
    marks: Mapping[str, float] | None = None,
    moments: Mapping[str, float] | None = None,
) -> Panel:
    """Curves of the judged members, up to where the last member of any arm left."""
    curves = [t.curve(metric) for t in arms]
    last = max(_last_change(c) for c in curves) + 2
    lines = [
        over_members(t.label, t.arm.along(axis)[:last], c[:, :last], i)
        for i, (t, c) in enumerate(zip(arms, curves, strict=True))
    ]
    label = metric_label(metric)
    return Panel(title, AXIS_LABEL[axis], label, lines, log_x or axis == "samples", log_y, marks or {}, moments or {})


def tuned_times(groups: Mapping[str, Sequence[Tuned]], x: Sequence[float], x_label: str, title: str) -> Panel:
    """Steps to learn against a number: for every line's name, one arm at each of `x`."""
    lines = [
        over_members(name, np.array(x, float), np.stack([t.times().ordinal for t in arms], axis=1), i, "points")
        for i, (name, arms) in enumerate(groups.items())
    ]
    return Panel(title, x_label, "steps to learn", lines, log_x=True, log_y=True)


def chosen_rates(results: Results, title: str = "Best learning rates", **coordinates: object) -> Panel:
    """Median steps to learn against the learning rate: what the choice was made from. Where something else was swept
    too, its best value at each rate."""
    found: dict[str, dict[float, list[np.ndarray]]] = {}
    for arm in results.where(**coordinates):
        rates = found.setdefault(kept_name(arm), {})
        rates.setdefault(arm.setting("optimizer.lr"), []).append(arm.times_by_its_rule("steps").ordinal)
    lines = []
    for i, (name, rates) in enumerate(found.items()):
        steps = np.stack([min(rates[rate], key=np.median) for rate in sorted(rates)], axis=1)
        lines.append(over_members(name, np.array(sorted(rates)), steps, i))
    return Panel(title, "learning rate", "steps to learn", lines, log_x=True, log_y=True)


def _last_change(curve: np.ndarray) -> int:
    """The last evaluation at which some member differs from the one before."""
    moved = np.flatnonzero((np.diff(np.nan_to_num(curve), axis=1) != 0).any(0))
    return int(moved[-1]) + 1 if len(moved) else 0
