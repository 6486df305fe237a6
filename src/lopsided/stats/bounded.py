"""A verdict that holds wherever between two evaluations a goal was reached."""

from __future__ import annotations

from collections.abc import Sequence

from lopsided.stats.crossing import Between
from lopsided.stats.times import Times
from lopsided.stats.verdict import Decision

EARLY_LATE: tuple[Between, Between] = ("before", "after")
LATE_EARLY: tuple[Between, Between] = ("after", "before")
"""The baseline as early as its evaluations allow, the candidate as late; and the other way round."""


def bounded(found: Decision, ends: Sequence[Decision]) -> Decision:
    """The decision that holds wherever between its evaluations each run got there: a verdict that both extremes give,
    the larger p-value, and an interval that covers both intervals."""
    same = len({each.verdict for each in (found, *ends)}) == 1
    p_values = [each.p_value for each in (found, *ends)]
    lows, highs = zip(*(each.interval for each in (found, *ends)), strict=True)
    return found._replace(
        verdict=found.verdict if same else "inconclusive",
        reason=found.reason if same else "grid",
        p_value=None if None in p_values else max(p for p in p_values if p is not None),
        interval=(None if None in lows else min(lows), None if None in highs else max(highs)),
        method=f"{found.method}, wherever between evaluations",
    )


UNLIKE = 1.5
"""Ratio of the distances of evaluations from which on times are only known to lie between them."""


def unlike(one: Times, two: Times) -> bool:
    """Whether one side's evaluations lie much farther apart: a line between them then favours one side."""
    fine, coarse = sorted((one.coarseness, two.coarseness))
    return coarse > UNLIKE * fine
