"""Figures as they are drawn: what is written on them can be read."""

from itertools import pairwise

import numpy as np

from lopsided.figures.panels import Figure, Panel, metric_label, over_members
from lopsided.report.matplotlib_draw import MOST_LINES, draw


def test_names_of_moments_are_not_written_over_the_title():
    x = np.arange(1.0, 5.0)
    lines = [over_members("a line", x, x[None], 0)]
    panels = [Panel("A title", "x", "y", lines, moments={"stage 2": 2.5}), Panel("Another", "x", "y", lines)]
    canvas = draw(Figure("Two panels", panels))
    canvas.draw_without_rendering()
    ax, plain = canvas.axes
    (name,) = ax.texts
    assert not ax.title.get_window_extent().overlaps(name.get_window_extent())
    assert plain.title.get_window_extent().y0 - plain.bbox.y1 < ax.title.get_window_extent().y0 - ax.bbox.y1


def test_labels_of_close_rates_do_not_overlap():
    rates = 0.00089 * 1.5 ** np.arange(8.0)
    lines = [over_members("a line", rates, rates[None], 0)]
    panels = [Panel(title, "learning rate", "steps", lines, log_x=True, log_y=True) for title in "abc"]
    canvas = draw(Figure("Three panels", panels))
    canvas.draw_without_rendering()
    for ax in canvas.axes:
        labels = [each.get_window_extent() for each in ax.get_xticklabels()]
        assert len(labels) >= 3
        assert all(left.x1 < right.x0 for left, right in pairwise(labels))


def test_a_metric_of_some_samples_is_labelled_as_that_of_all():
    assert metric_label("worked/answer-2") == metric_label("worked/answer") == "share of right final answers"
    assert metric_label("plane/share-1") == "share-1"


def test_many_lines_have_no_legend_over_the_axes():
    x = np.arange(1.0, 5.0)
    lines = [over_members(f"arm {i}", x, x[None], i) for i in range(MOST_LINES + 1)]
    for shown, legend in ((lines[:-1], True), (lines, False)):
        (ax,) = draw(Figure("many", [Panel("p", "x", "y", shown)])).axes
        assert (ax.get_legend() is not None) == legend
        assert bool(ax.texts) != legend


def test_a_long_name_goes_on_at_the_start_of_the_next_line():
    x = np.arange(1.0, 5.0)
    names = ["_hidden", "power law, annealed from exponent 1.5 to uniform skills over the whole of training"]
    lines = [over_members(name, x, x[None], i) for i, name in enumerate(names)]
    (ax,) = draw(Figure("names", [Panel("p", "x", "y", lines)])).axes
    shown = [each.get_text() for each in ax.get_legend().get_texts()]
    assert shown == [" _hidden", "power law, annealed from exponent 1.5 to\nuniform skills over the whole of training"]
