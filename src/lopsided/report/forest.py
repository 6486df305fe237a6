"""Effects with their intervals, a line a claim, as a picture (SVG) that needs nothing else."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from lopsided.report.words import effect_text, setting_text
from lopsided.stats.verdict import Claim

# Of Okabe and Ito, told apart by all eyes.
COLOURS = {
    "holds": "#0072b2",
    "contradicted": "#d55e00",
    "negligible": "#f0c75e",
    "inconclusive": "#9a9282",
    "not run": "#e6e6e6",
}
WORDS = {"inconclusive": "open"}
WIDTH, NAMES, ROW, HEAD = 860, 400, 17, 34
"""Pixels: of the picture, of the names on its left, of a row, above the first one."""
LETTERS = 74
"""Letters of a name that fit."""
LARGEST = 64.0
"""Ratios beyond this, or below its inverse, are drawn there, with an arrow."""
TICKS = (1 / 32, 1 / 8, 1 / 2, 1, 2, 8, 32)
"""Ratios at which the axis is marked."""


def drawable(claims: Sequence[Claim]) -> list[Claim]:
    """The claims whose effect is a ratio, those of which it is known; others have no axis in common."""
    return [claim for claim in claims if claim.ratio and claim.effect is not None and claim.effect > 0]


def forest(claims: Sequence[Claim], title: str) -> str:
    """An SVG of the ratios among these claims, in their order; empty if there is none."""
    rows = drawable(claims)
    if not rows:
        return ""
    height = HEAD + ROW * len(rows) + 40
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" width="100%" role="img" aria-label="{html.escape(title)}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="11">',
        f'<text x="0" y="14" font-size="13" font-weight="600">{html.escape(title)}</text>',
    ]
    for tick in TICKS:
        x, weight, end = _x(tick), 1 if tick == 1 else 0.5, height - 34
        name = f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}"
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{HEAD - 6}" y2="{end}" stroke="#999" stroke-width="{weight}"/>'
            f'<text x="{x:.1f}" y="{height - 20}" text-anchor="middle" fill="#555">{name}</text>'
        )
    parts += [_row(claim, HEAD + ROW * i + ROW / 2) for i, claim in enumerate(rows)]
    parts.append(_legend(rows, height - 4))
    return "\n".join([*parts, "</svg>"])


def _row(claim: Claim, y: float) -> str:
    name = f"{claim.recipe}: {claim.claim}"
    shown = name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
    said = f"{name}: {WORDS.get(claim.verdict, claim.verdict)}; {effect_text(claim)}"
    if apart := setting_text(claim):
        said += f"; {apart}"
    low, high = claim.interval
    ends = [_x(low) if low else NAMES + 8.0, _x(high) if high is not None else WIDTH - 8.0]
    colour, dot = COLOURS[claim.verdict], 'r="3.4"' if claim.source == "paper" else 'r="2.2"'
    assert claim.effect is not None
    return (
        f"<g><title>{html.escape(said)}</title>"
        f'<text x="{NAMES - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#222">{html.escape(shown)}</text>'
        f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="1.6"/>'
        f'<circle cx="{_x(claim.effect):.1f}" cy="{y:.1f}" {dot} fill="{colour}"/></g>'
    )


def _legend(rows: Sequence[Claim], y: float) -> str:
    x, parts = 0, []
    for verdict in dict.fromkeys(claim.verdict for claim in rows):
        parts.append(
            f'<circle cx="{x + 5}" cy="{y - 4}" r="4" fill="{COLOURS[verdict]}"/>'
            f'<text x="{x + 13}" y="{y}">{WORDS.get(verdict, verdict)}</text>'
        )
        x += 90
    return "".join(
        [*parts, f'<text x="{NAMES}" y="{y}" fill="#555">ratio and 95 % interval; small dots are our own</text>']
    )


def _x(ratio: float) -> float:
    """Where a ratio lies on the logarithmic axis."""
    share = math.log(min(max(ratio, 1 / LARGEST), LARGEST)) / math.log(LARGEST)
    return NAMES + (WIDTH - NAMES) * (0.5 + 0.47 * share)
