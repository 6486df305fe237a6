"""A claim, decided from stored runs: what is said, what the paper reported, what was measured, and the verdict.

Nothing here looks at what a paper reported. The tests themselves are in `lopsided.stats.decisions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from lopsided.core.errors import InputError

AT_AN_END = "best at the end of its sweep"
"""Words in a claim's `test`: the best of the swept settings is the first or last one, so the claim stays undecided."""
NOT_AT_EACH = "but not at each of the"
"""Words in a claim's `test`: the claim is decided at the settings that did best in a sweep, but not at every other
setting that may be as good."""
EQUIVALENCE = "two one-sided tests"
"""Words in the test of a claim that two things are equal up to a margin."""
Verdict = Literal["holds", "contradicted", "negligible", "inconclusive", "not run"]
"""`negligible`: the claim is of a difference, and a difference, if any, is too small to matter (below 25 % for ratios,
below what the claim names for others)."""
DECIDED: tuple[Verdict, ...] = ("holds", "contradicted", "negligible")
"""Verdicts that more seeds are not asked about."""
Replication = Literal["fully", "in direction", "not", ""]


class Decision(NamedTuple):
    """What a test found. `effect` and `interval` are in the unit that `measure` names; None where nothing (or no bound)
    is known."""

    measure: str
    effect: float | None
    interval: tuple[float | None, float | None]
    verdict: Verdict
    members: int
    test: str
    p_value: float | None = None
    """Two-sided, or the larger one of an equivalence's two; None where there is no such test."""
    small: tuple[float, float] | None = None
    """Effects between these two are too small to matter; None where the claim is not of a difference."""


NOT_RUN = Decision("", None, (None, None), "not run", 0, "")


@dataclass(frozen=True)
class Claim:
    """One falsifiable sentence with what was measured; the fields from `measure` to `small` are those of
    `Decision`."""

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
    p_value: float | None = None
    small: tuple[float, float] | None = None
    number: float | None = None
    """What the paper reports, in the unit of the effect."""
    history: str = ""
    """What of the claim, its test or its setting was changed after rows had been seen."""

    @property
    def is_ratio(self) -> bool:
        """Whether the effect is a ratio: such effects are compared on a log scale."""
        return "ratio" in self.measure.split()

    @property
    def replicates(self) -> Replication:
        """Whether the paper's number is measured again: it lies in the interval, or only the direction is the same.
        Empty where the paper gives no number, or nothing is decided."""
        low, high = self.interval
        if self.number is None or self.verdict not in DECIDED:
            return ""
        inside = (low is None or low <= self.number) and (high is None or self.number <= high)
        if self.verdict == "contradicted" or (self.verdict == "negligible" and not inside):
            return "not"
        return "fully" if inside else "in direction"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "replicates": self.replicates}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Claim:
        """What `as_json` gave."""
        fields = {key: value for key, value in data.items() if key not in ("replicates", "seeds_needed")}
        pairs = {key: tuple(data[key]) for key in ("interval", "small") if data.get(key) is not None}
        return cls(**{**fields, **pairs})


@dataclass(frozen=True)
class Statement:
    """What a recipe claims: the sentence, what the paper reported, and the test that decides it.

    `test` is given `lopsided.results.stored.Results`, or what the recipe's `measure` makes of them.
    """

    claim: str
    paper: str
    test: Callable[[Any], Decision]
    number: float | None = None
    """The paper's number in the unit of the effect, where it gives one."""
    history: str = ""
    """What was changed after rows had been seen, and why."""

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
        said = {"claim": self.claim, "paper": self.paper, "number": self.number, "history": self.history}
        return Claim(recipe=recipe, scale=scale, **said, **found._asdict())
