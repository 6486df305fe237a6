"""Print figures (PNG and PDF) of a `Figure`, with matplotlib."""

from __future__ import annotations

import textwrap
import uuid
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import EngFormatter, NullFormatter

from lopsided.figures.panels import Contour, Figure, Heat, Panel

LONG_LABELS = 100_000
"""Value from which on labels of a linear axis run into one another, unless they are written in thousands."""
LONG_NAME = 46
"""Characters of a legend's line that fit a panel; longer names get a second one."""
MOST_NAMES = 4
"""In a legend with letters of the usual size."""
MOST_LINES = 16
"""Names that a legend can hold; with more it would cover the axes, and colours come back."""
MOST_TICKS = 16
"""Settings at each of which there is a tick; more would run into one another."""
CHARACTERS = 45
"""Characters of tick labels that fit side by side below a panel, which is some 250 points wide; a digit takes 5.6."""
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "pdf.fonttype": 42,
}


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem`.png (200 dpi) and `stem`.pdf; returns the paths."""
    with mpl.rc_context(STYLE):
        canvas = draw(figure)
        for kind, options in {"png": {"dpi": 200}, "pdf": {"metadata": {"CreationDate": None}}}.items():
            # Never a half-written figure, and under a name at which nobody can have put a link.
            aside = stem.with_name(f".{uuid.uuid4().hex}.{kind}")
            canvas.savefig(aside, **options)
            aside.replace(stem.with_suffix(f".{kind}"))
    return [stem.with_suffix(".png"), stem.with_suffix(".pdf")]


def draw(figure: Figure) -> Canvas:
    """The panels as a Matplotlib figure."""
    figure = _literal(figure)
    shown = max(len(figure.panels), 1)  # a figure without panels is a title
    columns = 2 if shown == 4 else min(3, shown)
    rows = -(-shown // columns)
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(4.2 * columns, 3.3 * rows), layout="constrained")
        FigureCanvasAgg(canvas)
        for place, panel in enumerate(figure.panels):
            ax = canvas.add_subplot(rows, columns, place + 1)
            {Heat: _draw_matrix, Contour: _draw_surface, Panel: _draw}[type(panel)](ax, panel)
        canvas.suptitle(figure.title, fontweight="bold")
    return canvas


def _literal(value: Any) -> Any:
    """Escape every dollar in a figure's texts: names are anybody's, and two dollars would begin a formula."""
    if isinstance(value, str):
        return value.replace("$", r"\$")
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _literal(getattr(value, each.name)) for each in fields(value) if each.init})
    if isinstance(value, dict):
        return {_literal(key): _literal(each) for key, each in value.items()}
    return type(value)(map(_literal, value)) if isinstance(value, list | tuple) else value


def _legend(name: str) -> str:
    """A name as Matplotlib's legends show it, long ones on several lines."""
    # A label that begins with an underscore is left out of legends.
    return (" " if name.startswith("_") else "") + textwrap.fill(name, LONG_NAME)


def _draw(ax: Any, panel: Panel) -> None:
    for line in panel.lines:
        label = _legend(line.name) if line.legend else None
        if line.style == "points":
            reach = np.abs(np.stack([line.low, line.high]) - line.middle)
            ax.errorbar(line.x, line.middle, reach, color=line.colour, label=label, fmt="o", ms=3.5, lw=0.8)
            continue
        dash = "--" if line.style == "dashed" else "-"
        ax.plot(line.x, line.middle, dash, color=line.colour, label=label, lw=1.6 if line.legend else 0.9)
        if line.style == "line":
            ax.fill_between(line.x, line.low, line.high, color=line.colour, alpha=panel.band, lw=0)
    for name, level in panel.marks.items():
        ax.axhline(level, color="0.4", ls=":", lw=1)
        ax.annotate(name, (0.995, level), xycoords=("axes fraction", "data"), ha="right", va="bottom", color="0.4")
    for name, moment in panel.moments.items():
        ax.axvline(moment, color="0.4", ls=":", lw=1)
        ax.annotate(
            name, (moment, 1.0), xycoords=("data", "axes fraction"), va="bottom", ha="center", color="0.4", size=7
        )
    ax.set(xlabel=panel.x_label, ylabel=panel.y_label)
    ax.set_title(panel.title, pad=13 if panel.moments else None)  # names of moments stand between title and axes
    # A logarithmic axis without a positive number on it cannot be drawn; a point without a value is not on it.
    x, y = _all(panel, "x"), _all(panel, "middle")
    positive = [np.nanmax(np.append(c[np.isfinite(y)], 0.0)) > 0 for c in (x, y)]
    ax.set_xscale("log" if panel.log_x and positive[0] else "linear")
    ax.set_yscale("log" if panel.log_y and positive[1] else "linear")
    _label_ticks(ax, panel)
    if panel.y_label.startswith(("test accuracy", "accuracy")) and not panel.log_y:
        ax.set_ylim(-0.02, 1.03)
    named = sum(line.legend for line in panel.lines)
    if named > MOST_LINES:
        ax.annotate(f"{named} lines; the page names each", (0.98, 0.98), xycoords="axes fraction", ha="right", va="top")
    elif named:
        ax.legend(loc=panel.legend_at, fontsize="x-small" if named > MOST_NAMES else "small")


def _label_ticks(ax: Any, panel: Panel) -> None:
    """Readable labels. Logarithmic axes have them at the settings, where points are drawn or lines have few of them;
    otherwise at powers of ten. Large numbers on a linear axis have short ones (`200k`)."""
    if panel.x_names:
        ax.set_xticks(range(1, len(panel.x_names) + 1), panel.x_names)
    elif ax.get_xscale() == "linear" and ax.get_xlim()[1] >= LONG_LABELS:
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    if panel.log_x and ax.get_xscale() == "log":
        every = np.unique(_all(panel, "x"))
        points = [p.x for p in panel.lines if p.style == "points" or len(every) <= MOST_TICKS]
        settings = np.unique(np.concatenate([np.zeros(0), *points]))
        settings = settings[settings > 0]
        if 2 <= len(settings) <= MOST_TICKS:
            kept = _apart(settings)
            ax.set_xticks(kept, labels=[_setting(x) for x in kept])
        if len(settings) >= 2 or _spans(_all(panel, "x"), 30):
            ax.xaxis.set_minor_formatter(NullFormatter())
    if panel.log_y and _spans(_all(panel, "middle"), 100):
        ax.yaxis.set_minor_formatter(NullFormatter())


def _apart(settings: np.ndarray) -> list[float]:
    """Settings, from the first on, that can all be labelled on a logarithmic axis: one whose label would overlap with
    that of the setting before is left out."""
    kept = [settings[0]]
    for x in settings[1:]:
        wide = 1 + (len(_setting(kept[-1])) + len(_setting(x))) / 2
        if np.log(x / kept[-1]) >= np.log(settings[-1] / settings[0]) * wide / CHARACTERS:
            kept.append(x)
    return kept


def _setting(x: float) -> str:
    return f"{x:.3g}" if x < 999.5 else f"{x:.4g}" if x < 1e4 else f"{x:g}" if x < 1e6 else f"{x:.1e}"


def _spans(values: np.ndarray, factor: float) -> bool:
    """Whether positive values reach over at least this factor."""
    values = values[np.isfinite(values) & (values > 0)]
    return len(values) > 0 and float(values.max() / values.min()) >= factor


def _all(panel: Panel, name: str) -> np.ndarray:
    return np.concatenate([getattr(line, name) for line in panel.lines] or [np.zeros(0)])


def _draw_matrix(ax: Any, heat: Heat) -> None:
    n, m = heat.values.shape
    place = {"aspect": "auto", "extent": (0.5, m + 0.5, n + 0.5, 0.5)}
    shown = ax.imshow(heat.values, cmap="viridis", vmin=heat.low, vmax=heat.high, **place)
    ax.figure.colorbar(shown, ax=ax, label=heat.value_label)
    ax.set(title=heat.title, xlabel=heat.x_label, ylabel=heat.y_label)
    if heat.x_ticks:
        ax.set_xticks(range(1, m + 1), heat.x_ticks, rotation=90, fontsize=7)
        ax.set_yticks(range(1, n + 1), heat.y_ticks, fontsize=7)
    if heat.mark is not None:
        ax.plot(heat.mark[1] + 1, heat.mark[0] + 1, "*", color="#D55E00", ms=12, mec="white")
    ax.grid(False)


def _draw_surface(ax: Any, surface: Contour) -> None:
    grid = surface.x, surface.y, surface.values
    shown = ax.contourf(*grid, levels=surface.levels, cmap="viridis")
    ax.contour(*grid, levels=surface.levels, colors="white", linewidths=0.4)
    ax.figure.colorbar(shown, ax=ax, label=surface.value_label)
    inside = (surface.way >= [surface.x[0], surface.y[0]]) & (surface.way <= [surface.x[-1], surface.y[-1]])
    way = surface.way[inside.all(1)]
    ax.plot(way[:, 0], way[:, 1], "-o", color="#D55E00", ms=2.5, lw=1)
    ax.plot(*surface.way[0], "*", color="#D55E00", ms=11, mec="white")
    ax.set(title=surface.title, xlabel=surface.x_label, ylabel=surface.y_label)
    ax.grid(False)
