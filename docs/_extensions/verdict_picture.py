"""All claims as one picture: a line a recipe, a square a claim, as HTML that needs nothing else."""

from __future__ import annotations

import html
import math

from lopsided.report.forest import COLOURS, WORDS, forest
from lopsided.report.words import effect_text, setting_text
from lopsided.stats.verdict import Claim

FAR = 10
"""A setting that is more than so many times smaller or larger than the paper's is far from it."""
STYLE = """<style>
.claims { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; font-size: 13px; margin: 1em 0; }
.claims i { display: inline-block; width: 13px; height: 13px; margin: 1px; border-radius: 2px; }
.claims i.own { border-radius: 50%; }
.claims i.far { opacity: 0.45; }
.claims-legend i { display: inline-block; width: 13px; height: 13px; margin: 0 4px 0 14px;
  border-radius: 2px; }
.claims-filter { width: 100%; padding: 6px 8px; margin: 1em 0; font-size: 15px; }
</style>"""
FILTER = """<input class="claims-filter" placeholder="Show rows that contain …" aria-label="Show rows that contain"
  oninput="for (const row of document.querySelectorAll('article table tbody tr'))
    row.hidden = !row.textContent.toLowerCase().includes(this.value.toLowerCase())">"""


def picture(claims: dict[str, list[Claim]]) -> str:
    """The picture, its legend, and a field that filters the tables of the page."""
    rows = [
        f'<a href="recipes/{html.escape(name)}.html">{html.escape(name)}</a><span>{"".join(map(_square, many))}</span>'
        for name, many in claims.items()
    ]
    legend = "".join(
        f'<i style="background: {colour}"></i>{WORDS.get(verdict, verdict)}' for verdict, colour in COLOURS.items()
    )
    return (
        f"```{{raw}} html\n{STYLE}\n"
        f'<p class="claims-legend">{legend}. Squares are claims of the papers, circles our own; pale: some setting is '
        f"more than {FAR} times smaller or larger than the paper's. Point at one to read it.</p>\n"
        f'<div class="claims">\n{chr(10).join(rows)}\n</div>\n{FILTER}\n```'
    )


def _square(claim: Claim) -> str:
    verdict = WORDS.get(claim.verdict, claim.verdict)
    ours = "our own claim" if claim.source == "own" else "the setting of the paper"
    said = f"{claim.claim}: {verdict}; {effect_text(claim)}; {setting_text(claim) or ours}"
    kind = " ".join(filter(None, ["own" if claim.source == "own" else "", "far" if _far(claim) else ""]))
    colour = COLOURS[claim.verdict]
    return f'<i class="{kind}" style="background: {colour}" title="{html.escape(said, quote=True)}"></i>'


def _far(claim: Claim) -> bool:
    """Whether a number of the setting is far from the paper's."""
    for each in claim.setting:
        pair = (each.here, each.paper)
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0 for v in pair)
        if numbers and abs(math.log(each.here / each.paper)) > math.log(FAR):
            return True
    return False


def forests(papers: dict[str, list[Claim]]) -> str:
    """The ratios of each paper's claims with their intervals, a picture a paper."""
    drawn = [forest([c for c in claims if c.source == "paper"], paper) for paper, claims in papers.items()]
    return "\n\n".join(f"```{{raw}} html\n{picture}\n```" for picture in filter(None, drawn))
