"""Verdicts that do not hang on which setting the losing side was judged at.

Where two arms are equal and each is judged at its own best setting, chance lets them choose different ones, and then
they do differ. So an arm is ahead of another one only if it is ahead of it at *every* setting of the other's sweep: an
intersection-union test of "faster than the best of them", which needs no correction and no choice on that side. (With
choices on both sides 11 % of equal pairs were told apart: `tests.reference.equal_arms`.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from lopsided.results.stored import Axis, Results
from lopsided.results.sweeps import best
from lopsided.stats.times import Times
from lopsided.stats.verdict import NOT_AT_EACH, Decision

Adverse = Mapping[str, Sequence[int]]
"""For each verdict, the arms (by position) whose other settings would speak against it."""


def at_every_setting(
    results: Results,
    arms: Sequence[Mapping[str, Any]],
    decide: Callable[..., Decision],
    adverse: Adverse,
    axis: Axis = "steps",
    at: float | None = None,
    large: bool = True,
) -> Decision:
    """`decide` on the times of `arms`, each at its best setting; a verdict stands only if it is the same for all
    settings of the arms that are `adverse` to it. `at`: times to this value in place of the rule of the arms' specs.
    `large`: whether the claim is that an effect is large, or (False) small."""
    tuned = [best(results, **where) for where in arms]
    chosen = [each.times(axis, at) for each in tuned]
    found = decide(*chosen)
    against = adverse.get(found.verdict, ())
    if not any(len(tuned[i].group) > 1 for i in against):
        return found
    # Only what can change the verdict is read: other settings may not have been trained before it is needed.
    every = {i: [tuned[i].times_at(arm, axis, at) for arm in tuned[i].group] for i in against}
    options: list[Sequence[Times]] = [every.get(i, [chosen[i]]) for i in range(len(tuned))]
    others = [decide(*times) for times in product(*options)]
    above = (found.verdict == "holds") == large
    return _weakest(found, others, above, " and ".join(repr(tuned[i].name) for i in against))


def _weakest(found: Decision, others: Sequence[Decision], above: bool, sides: str) -> Decision:
    """The verdict if all others share it; the interval reaches as far as any of theirs on the side that speaks against
    the verdict: below it if it says that an effect is large (`above`)."""
    same = all(each.verdict == found.verdict for each in others)
    ends = list(zip(*(each.interval for each in (found, *others)), strict=True))
    low, high = found.interval
    if above:
        low = None if None in ends[0] else min(ends[0])
    else:
        high = None if None in ends[1] else max(ends[1])
    p_values = [each.p_value for each in (found, *others) if each.p_value is not None]
    return found._replace(
        interval=(low, high),
        verdict=found.verdict if same else "inconclusive",
        p_value=max(p_values) if p_values else None,
        test=f"{found.test}; {'at each of' if same else NOT_AT_EACH} {len(others)} settings of {sides}",
    )
