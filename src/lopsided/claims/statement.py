"""What a recipe claims: the sentence, who says so, and the test that decides it."""

from __future__ import annotations

from dataclasses import dataclass

from lopsided.claims.kind import Kind, Reading
from lopsided.claims.places import Arms, arms_at
from lopsided.core.errors import InputError
from lopsided.stats.verdict import DECISION_FIELDS, NOT_RUN, Claim, Decision, Source


@dataclass(frozen=True)
class Paper:
    """What a paper reports, and where: its figures, theorems or sections, as a reader would look them up."""

    said: str
    figure: str = ""


@dataclass(frozen=True)
class Own:
    """A claim that no paper makes; `why` it is of interest, or what a paper says instead."""

    why: str = ""


OWN = Own()


@dataclass(frozen=True, eq=False)
class Statement:
    """One falsifiable sentence. Raises `InputError` for a test that is no `Kind`."""

    claim: str
    source: Paper | Own
    test: Kind
    number: float | None = None
    """The paper's number in the unit of the effect, where it gives one."""
    history: str = ""
    """What was changed after rows had been seen, and why."""
    near_trivial: str = ""
    """Why the claim could hardly fail, where that is so."""

    def __post_init__(self) -> None:
        if not isinstance(self.source, Paper | Own):
            raise InputError(f"claim {self.claim!r}: its source has to be Paper(said, figure) or Own(why)")
        if not isinstance(self.test, Kind):
            raise InputError(
                f"claim {self.claim!r}: its test has to be a kind of test, as Ahead(fast, of=slow); a function of the "
                "results and the level is Custom(function, of=coordinates)"
            )
        for each in self.test.readings:
            if not isinstance(each, Reading):
                raise InputError(
                    f"claim {self.claim!r}: compares {str(each)[:60]}; valid is what reads a value of each member, as "
                    "Final(coordinates, metric) or Measured(function, coordinates)"
                )

    def check(self, arms: Arms) -> None:
        """Raise `InputError` if the test reads arms that there are not."""
        try:
            self.test.reads(arms)
            for at, _ in self.test.metrics:
                arms_at(arms, at)
        except InputError as error:
            raise InputError(f"claim {self.claim!r}: {error}") from None

    def with_what(self, found: Decision, recipe: str, scale: str) -> Claim:
        """The claim with what was found of it."""
        own = isinstance(self.source, Own)
        source: Source = "own" if own else "paper"
        return Claim(
            recipe=recipe,
            claim=self.claim,
            scale=scale,
            kind=self.test.kind,
            source=source,
            paper=self.source.why if isinstance(self.source, Own) else self.source.said,
            figure="" if isinstance(self.source, Own) else self.source.figure,
            number=self.number,
            near_trivial=self.near_trivial,
            history=self.history,
            **{name: getattr(found, name) for name in DECISION_FIELDS},
        )

    def not_run(self, recipe: str, scale: str) -> Claim:
        """The claim before anything was measured."""
        return self.with_what(NOT_RUN, recipe, scale)
