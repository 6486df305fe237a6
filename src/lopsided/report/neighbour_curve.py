"""A specification curve (SVG): a claim's effect at every neighbouring setting, sorted, over marks of what was changed.

After U. Simonsohn, J. Simmons and L. Nelson, "Specification curve analysis" (2020).
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

from lopsided.report.forest import COLOURS, WORDS
from lopsided.report.text import number
from lopsided.report.words import measure, neighbours_text
from lopsided.stats.verdict import Claim, Neighbour

LEFT, STEP, TALL, ROW, HEAD, FOOT = 170, 34, 170, 16, 44, 20
"""Pixels: of names on the left, of a setting, of the effects, of a row of marks, above and below all."""
HERE = "as it is"
Place = Callable[[float | None, float], float]
"""Height of an effect; for one that is not known, a share of the picture's."""


def curve(claim: Claim) -> str:
    """An SVG of the claim's effect here and at its neighbours; empty where none were tried, or none has an effect."""
    if claim.neighbours is None:
        return ""
    own = Neighbour((HERE,), claim.effect, claim.interval, claim.verdict, 0, claim.diverged or 0)
    known = [each for each in (own, *claim.neighbours.at) if each.effect is not None]
    rows = sorted(
        (each for each in known if (each.effect or 0.0) > 0 or not claim.ratio), key=lambda each: each.effect or 0.0
    )
    if not rows:
        return ""
    changes = sorted({change for each in rows for change in each.changes} - {HERE})
    place = _scale(rows, claim)
    height = HEAD + TALL + ROW * (len(changes) + 1) + FOOT
    width = LEFT + STEP * len(rows) + 20
    title = f"{claim.claim}: {neighbours_text(claim)}"
    parts = [
        f'<svg viewBox="0 0 {max(width, 620)} {height}" width="{max(width, 620)}" role="img" '
        f'aria-label="{html.escape(title)}" xmlns="http://www.w3.org/2000/svg" '
        'font-family="system-ui, sans-serif" font-size="11">',
        f'<text x="0" y="14" font-size="13" font-weight="600">{html.escape(claim.claim)}</text>',
        f'<text x="0" y="30" fill="#555">{html.escape(f"{measure(claim)}: {neighbours_text(claim)}")}</text>',
        *_axis(rows, claim, place, width),
    ]
    for i, each in enumerate(rows):
        parts.append(_mark(each, LEFT + STEP * (i + 0.5), place, [HERE, *changes]))
    for i, change in enumerate([HERE, *changes]):
        y = HEAD + TALL + ROW * (i + 1)
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end" fill="#222">{html.escape(_text(change))}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def _text(change: str) -> str:
    return change.replace("*=", " × ").replace("=", " = ")


def _scale(rows: Sequence[Neighbour], claim: Claim) -> Place:
    """Where an effect lies between top and bottom: on a log axis for ratios; what it is tested against is there."""
    ratio = claim.ratio
    known = [*claim.nulls, *(each.effect for each in rows if each.effect is not None)]
    known += [end for each in rows for end in each.interval if end is not None and (end > 0 or not ratio)]
    low, high = (f(map(math.log, known)) if ratio else f(known) for f in (min, max))
    if ratio:  # an interval may end at 10^6 times its effect, and would squeeze all others
        middle = sorted(math.log(each.effect) for each in rows if each.effect)[len(rows) // 2]
        low, high = max(low, middle - math.log(64)), min(high, middle + math.log(64))
    span = (high - low) or 1.0

    def place(value: float | None, missing: float) -> float:
        if value is None or (ratio and value <= 0):
            return HEAD + missing * TALL
        share = ((math.log(value) if ratio else value) - low) / span
        return HEAD + TALL * (1 - min(max(share, 0.0), 1.0))

    return place


def _axis(rows: Sequence[Neighbour], claim: Claim, place: Place, width: float) -> list[str]:
    effects = [each.effect for each in rows if each.effect is not None]
    lines, used = [], list[float]()
    for value in dict.fromkeys([*claim.nulls, claim.effect, min(effects), max(effects)]):
        if value is None or any(abs(place(value, 0) - other) < 12 for other in used):
            continue
        used.append(y := place(value, 0))
        lines.append(
            f'<line x1="{LEFT}" x2="{width - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#999" '
            f'stroke-width="{1 if value in claim.nulls else 0.3}"/>'
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{number(value)}</text>'
        )
    return lines


def _mark(each: Neighbour, x: float, place: Place, changes: Sequence[str]) -> str:
    low, high = each.interval
    colour, verdict = COLOURS[each.verdict], WORDS.get(each.verdict, each.verdict)
    said = f"{', '.join(map(_text, each.changes))}: {number(each.effect)}, {verdict}"
    said += f", {each.diverged} members diverged" if each.diverged else ""
    fills = ["#222" if change in each.changes else "#ddd" for change in changes]
    dots = "".join(
        f'<circle cx="{x}" cy="{HEAD + TALL + ROW * (i + 1)}" r="4" fill="{fill}"/>' for i, fill in enumerate(fills)
    )
    ends = f'y1="{place(low, 1):.1f}" y2="{place(high, 0):.1f}"'
    return (
        f"<g><title>{html.escape(said)}</title>"
        f'<line x1="{x}" x2="{x}" {ends} stroke="{colour}" stroke-width="1.6"/>'
        f'<circle cx="{x}" cy="{place(each.effect, 0):.1f}" r="4" fill="{colour}"/>{dots}</g>'
    )
