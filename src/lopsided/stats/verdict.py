"""A claim, decided from stored runs: what is said, what the paper reported, what was measured, and the verdict.

Nothing here looks at what a paper reported. The tests themselves are in `lopsided.stats.decisions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from lopsided.core.errors import InputError

Verdict = Literal["holds", "contradicted", "inconclusive", "not run"]


class Decision(NamedTuple):
    """What a test found. `effect` and `interval` are in the unit that `measure` names; None where nothing (or no bound)
    is known."""

    measure: str
    effect: float | None
    interval: tuple[float | None, float | None]
    verdict: Verdict
    members: int
    test: str


NOT_RUN = Decision("", None, (None, None), "not run", 0, "")


@dataclass(frozen=True)
class Claim:
    """One falsifiable sentence with what was measured; the last fields are those of `Decision`."""

    recipe: str
    claim: str
    paper: str
    measure: str
    effect: float | None
    interval: tuple[float | None, float | None]
    verdict: Verdict
    members: int
    scale: str
    test: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Statement:
    """What a recipe claims: the sentence, what the paper reported, and the test that decides it.

    `test` is given `lopsided.results.stored.Results`, or what the recipe's `measure` makes of them.
    """

    claim: str
    paper: str
    test: Callable[[Any], Decision]

    def __post_init__(self) -> None:
        if not callable(self.test):
            raise InputError(f"claim {self.claim!r}: its test has to be a function of the results")

    def decide(self, measured: Any, recipe: str, scale: str) -> Claim:
        """The claim with its verdict."""
        found = self.test(measured)
        if not isinstance(found, Decision):
            raise InputError(
                f"claim {self.claim!r}: its test has to return a Decision, as the functions of "
                f"lopsided.stats.decisions do, not {type(found).__name__}"
            )
        return self._claim(found, recipe, scale)

    def not_run(self, recipe: str, scale: str) -> Claim:
        """The claim before anything was measured."""
        return self._claim(NOT_RUN, recipe, scale)

    def _claim(self, found: Decision, recipe: str, scale: str) -> Claim:
        return Claim(recipe=recipe, claim=self.claim, paper=self.paper, scale=scale, **found._asdict())
