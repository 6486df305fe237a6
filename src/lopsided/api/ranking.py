"""All arms against one another: an order, and which differences are told apart."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

from lopsided.api.several import beside_others, holm, smallest, table
from lopsided.api.verdict import Verdict
from lopsided.core.errors import InputError
from lopsided.stats.decisions import LEVEL

if TYPE_CHECKING:
    from lopsided.api.runs import Runs

MOST = 60
"""Arms of which all pairs are tested: 1,770 tests."""


class Ranking(NamedTuple):
    """Arms in order, the best first. Arms that share a letter are not told apart at 5 %, by Holm's method over all
    pairs (a compact letter display: H.-P. Piepho, 2004)."""

    rows: list[dict[str, Any]]
    """Rows of `Runs.table`, with `letters`."""
    pairs: dict[tuple[str, str], Verdict]
    """The verdict of each pair (better-placed arm, other arm)."""
    note: str = ""
    """That so few runs can tell no pair apart, whatever they are."""

    def __repr__(self) -> str:
        wide = max(len(row["arm"]) for row in self.rows)
        lines = []
        for place, row in enumerate(self.rows, 1):
            when = f"; {row['time']:.4g}" if "time" in row else ""
            lines.append(
                f"{place:>3}. {row['arm']:<{wide}}  {row['letters']:<4} {row['median']:.4g}{when} ({row['runs']} runs)"
            )
        lines.append(f"arms that share a letter are not told apart ({len(self.pairs)} pairs, Holm, 5 %)")
        return "\n".join([*lines, *filter(None, [self.note])])


def ranking(runs: Runs, metric: str, at: float | None, axis: str, paired: bool | None) -> Ranking:
    """See `Runs.ranking`."""
    rows = table(runs, metric, at, axis)
    order = [row["arm"] for row in rows]
    if not 2 <= len(order) <= MOST:
        raise InputError(f"ranking: {len(order)} arms have {metric}; valid are 2 to {MOST}")
    curves = {arm: runs.observed(arm, metric, axis) for arm in order}
    found, sizes = {}, []
    for first, second in combinations(order, 2):
        compared = beside_others(curves[second], curves[first], metric, paired, "line", comb(len(order), 2))
        found[first, second] = compared.better() if at is None else compared.faster(at)
        sizes.append((len(compared.baseline.tracks), len(compared.candidate.tracks), compared.paired))
    pairs = holm(found)
    apart = {frozenset(pair) for pair, verdict in pairs.items() if verdict.verdict in ("holds", "contradicted")}
    letters = _letters(order, apart)
    return Ranking([{**row, "letters": own} for row, own in zip(rows, letters, strict=True)], pairs, _too_few(sizes))


def _too_few(sizes: list[tuple[int, int, bool]]) -> str:
    """A sentence if no p-value that so few runs can have stays below 5 % with Holm's correction for all pairs of arms;
    empty otherwise."""
    if min(smallest(*each) for each in sizes) * len(sizes) <= LEVEL:
        return ""
    paired = any(each[2] for each in sizes)
    enough = next((n for n in range(2, 64) if smallest(n, n, paired) * len(sizes) <= LEVEL), None)
    could = "fewer arms could" if enough is None else f"{enough} of each arm could"
    return (
        f"so few runs tell no two of these arms apart beside {len(sizes) - 1} other pairs, whatever they are; {could}"
    )


def _letters(order: list[str], apart: set[frozenset[str]]) -> list[str]:
    """Letters of each arm: two arms share one if and only if they are not told apart (insert and absorb)."""
    groups = [set(order)]
    for first, second in (tuple(pair) for pair in sorted(map(sorted, apart))):
        split = []
        for group in groups:
            split += [group - {first}, group - {second}] if {first, second} <= group else [group]
        distinct = [group for i, group in enumerate(split) if group not in split[:i]]
        groups = [group for group in distinct if not any(group < other for other in distinct)]
    groups.sort(key=lambda group: sorted(order.index(arm) for arm in group))
    return ["".join(_letter(i) for i, group in enumerate(groups) if arm in group) for arm in order]


def _letter(number: int) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return alphabet[number] if number < 26 else f"({number + 1})"
