"""Verdicts on times to learn that hold wherever between its two evaluations each run reached its goal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.stats.crossing import Between
from lopsided.stats.times import Times
from lopsided.stats.verdict import COARSE, Decision

EARLY_LATE: tuple[Between, Between] = ("before", "after")
LATE_EARLY: tuple[Between, Between] = ("after", "before")
"""The baseline as early as its evaluations allow, the candidate as late; and the other way round."""


AFTER = 1 + 1e-6
"""Factor by which a goal is reached after the last evaluation at which it was not, at the least: who is there at an
evaluation at which the other side is not, was faster."""
BENT: tuple[Between, Between] = ("bend", "bend")
"""Another curve than the line, for both."""
Places = tuple[tuple[tuple[Between, Between], ...], str]
"""Where else between evaluations than on a line a decision has to hold, and that in words."""
ANYWHERE: Places = (EARLY_LATE, LATE_EARLY), "wherever between evaluations"
NOWHERE: Places = (), ""


def bounded(found: Decision, ends: Sequence[Decision], where: str = ANYWHERE[1]) -> Decision:
    """The decision that holds wherever between its evaluations each run got there, or with other curves between them
    (`where`, in words): a verdict that all of `ends` give, too, the largest p-value, and an interval that covers all.
    """
    same = len({each.verdict for each in (found, *ends)}) == 1
    p_values = [each.p_value for each in (found, *ends)]
    lows, highs = zip(*(each.interval for each in (found, *ends)), strict=True)
    return found._replace(
        verdict=found.verdict if same else "inconclusive",
        reason=found.reason if same else "grid",
        p_value=None if None in p_values else max(p for p in p_values if p is not None),
        interval=(None if None in lows else min(lows), None if None in highs else max(highs)),
        method=f"{found.method}, {where}",
    )


def coarseness(*arms: Times) -> float:
    """How far apart evaluations lie in the arm where that is most, as a share of the time to learn."""
    return max(times.coarseness for times in arms)


def no_finer_than_seen(found: Decision, within: float, *arms: Times) -> Decision:
    """A decision on times, with how far apart evaluations lie.

    If that is more than what counts as no difference, arms that differ by a factor `within` may have reached their
    goals between the same two evaluations. That they do not differ is then said only if it is so wherever between them
    each arm got there.
    """
    apart = coarseness(*arms)
    if apart > within - 1 and found.bounds and found.verdict in ("holds", "negligible"):
        low, high = found.interval
        least = (low or 0.0) * max(0.0, 1 - apart)
        most = np.inf if high is None or apart >= 1 else high / (1 - apart)
        if most > found.bounds[0] or (found.equivalence and least < found.bounds[1]):
            found = found._replace(verdict="inconclusive", reason="grid")
    return on_a_grid(found, apart)


ROUNDING = 1 + 1e-9
"""Factor by which logarithms and their exponentials may have moved the end of an interval."""


def on_a_grid(found: Decision, apart: float) -> Decision:
    """A decision on a ratio of times, with how far apart evaluations lie. That is why it is open if an arm learned by
    its first evaluation, or if the whole interval lies within two evaluations, both ends included, since intervals on a
    grid end on ratios of evaluations: no seeds tell these apart."""
    found = found._replace(coarseness=apart)
    low, high = (end or np.nan for end in found.interval)
    within = apart >= 1 or (apart > 0 and low >= (1 - apart) / ROUNDING and high <= ROUNDING / (1 - apart))
    is_open = found.verdict == "inconclusive" and not found.reason and found.effect is not None
    return found._replace(reason="grid") if is_open and within else found


def made_of_times(found: Decision, apart: float) -> Decision:
    """Decision on numbers that a function makes of times to learn, with how far apart evaluations lie, as a share of
    these times. Above `COARSE` the claim is open: the numbers then say when was evaluated, and more seeds do not help.
    """
    if apart <= COARSE:
        return found
    return found._replace(
        verdict="inconclusive", reason=found.reason or "grid", coarseness=max(found.coarseness, apart)
    )


UNLIKE = 1.5
"""Ratio of the distances of evaluations from which on times are only known to lie between them."""


def unlike(one: Times, two: Times) -> bool:
    """Whether one side's evaluations lie much farther apart: a line between them then favours one side."""
    fine, coarse = sorted((one.coarseness, two.coarseness))
    return coarse > UNLIKE * fine
