"""A decided claim, as a terminal and a notebook show it."""

from __future__ import annotations

import html
from typing import NamedTuple

from lopsided.report.words import effect_text, how_decided
from lopsided.stats.verdict import Claim

COLOURS = {
    "holds": "#0b6b3a",
    "contradicted": "#9b1c0c",
    "negligible": "#0d4f6e",
    "inconclusive": "#7a5200",
    "not run": "#4a5363",
}


class Verdict(NamedTuple):
    """A decided claim that prints itself well; `claim` has every number."""

    claim: Claim
    notes: tuple[str, ...] = ()
    """What was assumed about the curves, and what would probably decide an open claim."""

    @property
    def verdict(self) -> str:
        """ "holds", "contradicted", "negligible" (a difference, if any, is below 25 %) or "inconclusive"."""
        return self.claim.verdict

    @property
    def effect(self) -> float | None:
        """In the unit that `claim.unit` names; None if it is not known."""
        return self.claim.effect

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """95 %; None where an end is not known."""
        return self.claim.interval

    def __str__(self) -> str:
        c = self.claim
        lines = [f"{c.claim}: {c.verdict}", effect_text(c), f"{how_decided(c)}; {c.members} members", *self.notes]
        return "\n  ".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        c = self.claim
        text = [html.escape(part) for part in (c.claim, c.verdict, effect_text(c))]
        small = [html.escape(part) for part in (f"{how_decided(c)}; {c.members} members", *self.notes)]
        return (
            f'<p>{text[0]}: <b style="color: {COLOURS[c.verdict]}">{text[1]}</b><br>{text[2]}<br>'
            f"<small>{'<br>'.join(small)}</small></p>"
        )
