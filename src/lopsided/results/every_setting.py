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
from lopsided.stats.verdict import Decision, Rivals

Adverse = Mapping[str, Sequence[int]]
"""Verdict -> places, among the arms compared, of those whose other settings must give the same verdict."""


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
    `large`: whether the claim is that an effect is large, or (False) small. Other settings that have fewer seeds than
    the best ones are asked for (`Decision.needs`)."""
    tuned = [best(results, **where) for where in arms]
    chosen = [each.times(axis, at) for each in tuned]
    found = decide(*chosen)
    against = adverse.get(found.verdict, ())
    if not any(len(tuned[i].group) > 1 for i in against):
        return found
    # Other settings are read only where they can change the verdict: looks train them when they are asked for.
    seeds = max(len(each.arm.seeds) for each in tuned)
    if behind := tuple(arm.name for i in against for arm in tuned[i].group if len(arm.seeds) < seeds):
        return found._replace(verdict="inconclusive", needs=behind)
    every = {i: [tuned[i].times_at(arm, axis, at) for arm in tuned[i].group] for i in against}
    options: list[Sequence[Times]] = [every.get(i, [chosen[i]]) for i in range(len(tuned))]
    others = [decide(*times) for times in product(*options)]
    above = (found.verdict == "holds") == large
    return _weakest(found, others, above, tuple(tuned[i].name for i in against))


def _weakest(found: Decision, others: Sequence[Decision], above: bool, sides: tuple[str, ...]) -> Decision:
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
        rivals=Rivals(len(others), sides, same),
    )
