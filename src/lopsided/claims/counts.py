"""How many claims there are, and what their verdicts rest on, in numbers that do not flatter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lopsided.stats.verdict import Claim


@dataclass(frozen=True)
class Counts:
    """Verdicts of the papers' claims and of our own apart; of both, what qualifies them."""

    papers: Counter[str]
    """How many claims of papers have each verdict."""
    own: Counter[str]
    """How many of ours."""
    with_history: int
    """Claims of which something was changed after rows had been seen."""
    several_versions: int
    """Claims whose rows come from several versions of the code."""
    near_trivial: int
    """Claims that could hardly fail."""
    open_because: Counter[str]
    """How many are open for each reason."""

    def as_json(self) -> dict[str, Any]:
        """Every number."""
        return {**asdict(self), "papers": dict(self.papers), "own": dict(self.own)} | {
            "open_because": dict(self.open_because)
        }


def counts(claims: Iterable[Claim]) -> Counts:
    """Count them; those that were not run count as that verdict only."""
    every = list(claims)
    tested = [claim for claim in every if claim.verdict != "not run"]
    return Counts(
        Counter(claim.verdict for claim in every if claim.source == "paper"),
        Counter(claim.verdict for claim in every if claim.source == "own"),
        sum(bool(claim.history) for claim in tested),
        sum(claim.code_versions > 1 for claim in tested),
        sum(bool(claim.near_trivial) for claim in tested),
        Counter(claim.reason for claim in tested if claim.verdict == "inconclusive"),
    )
