"""A claim and what was found of it, as fields: no sentence here. `lopsided.report.words` makes sentences from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple

Verdict = Literal["holds", "contradicted", "negligible", "inconclusive", "not run"]
"""`negligible`: the claim is of a difference, and a difference, if any, is too small to matter (below 25 % for ratios,
below what the claim names for others)."""
DECIDED: tuple[Verdict, ...] = ("holds", "contradicted", "negligible")
"""Verdicts that more seeds are not asked about."""
Replication = Literal["fully", "in direction", "not", ""]
Source = Literal["paper", "own"]
Reason = Literal["", "budget", "seeds", "edge", "rivals", "grid", "ends", "diverged", "ties"]
"""Why a claim is open: runs too short, too few seeds, the best setting at an end of its sweep, other settings that may
be as good and lead to another verdict, evaluations too far apart, runs of different length, runs that diverged, members
that do not differ at all."""


COARSE = 0.1
"""Evaluations further apart than this share of the time to learn are said to be: an effect is then not known to some
5 %, and an effect of a tenth lies within two of them."""


@dataclass(frozen=True)
class Window:
    """The stretch that a power law was fitted on."""

    begins: float
    ends: float
    along: str
    """What is counted along it."""


@dataclass(frozen=True)
class Rivals:
    """Other settings that a verdict had to hold at, too."""

    settings: int
    of: tuple[str, ...]
    """The sides of the comparison whose settings they are."""
    agree: bool


@dataclass(frozen=True)
class Look:
    """The planned look at which a claim was tested last."""

    number: int
    of: int
    seeds: int
    level: float


@dataclass(frozen=True)
class Difference:
    """A field in which the arms that a claim reads differ from the paper's."""

    field: str
    here: Any
    paper: Any


class Decision(NamedTuple):
    """What a test found. `effect` and `interval` are in `unit`; None where nothing (or no bound) is known."""

    estimand: str
    """What the effect is of the unit: "within-seed ratio of"."""
    unit: str
    effect: float | None
    interval: tuple[float | None, float | None]
    verdict: Verdict
    members: int
    method: str
    """How p-values and interval were found."""
    p_value: float | None = None
    """Two-sided, or the larger one of an equivalence's two; None where there is no such test."""
    small: tuple[float, float] | None = None
    """Effects between these two are too small to matter; None where the claim is not of a difference."""
    ratio: bool = False
    """Whether the effect is a ratio: such effects are compared on a log scale."""
    coverage: float = 0.95
    """Coverage of the interval."""
    bounds: tuple[float, ...] = ()
    """What the effect was tested against: one number, or the two ends of what counts as equal."""
    side: Literal["", "above", "below"] = ""
    """On which side of the bound the claim says that the effect lies."""
    p_values: tuple[float, ...] = ()
    """P-values of the place and the settings that are shown: two-sided, or an equivalence's two one-sided ones."""
    window: Window | None = None
    places: tuple[tuple[str, float], ...] = ()
    """For a claim at several places: the p-value at each."""
    contradicted_at: str = ""
    """The place that contradicts the claim; what is shown otherwise is the weakest one."""
    rivals: Rivals | None = None
    reason: Reason = ""
    coarseness: float = 0.0
    """How far apart evaluations lie, as a share of the time to learn of the arm where that is most; 0 for what is no
    comparison of times."""
    needs: tuple[str, ...] = ()
    """Arms without which nothing can be decided yet, for lack of seeds."""

    @property
    def equivalence(self) -> bool:
        """Whether two one-sided tests were made."""
        return len(self.bounds) == 2


NOT_RUN = Decision("", "", None, (None, None), "not run", 0, "")


@dataclass(frozen=True)
class Neighbour:
    """What a claim's test found at a neighbouring setting."""

    changes: tuple[str, ...]
    """Changes of the recipe's settings, as `--set` takes them."""
    effect: float | None
    interval: tuple[float | None, float | None]
    verdict: Verdict
    seeds: int
    diverged: int
    """How many members of the arms that the claim reads diverged there."""


@dataclass(frozen=True)
class Neighbours:
    """What a claim's test finds where settings that its sentence is not about are others: width, batch, rate, steps."""

    of: int
    """Neighbouring settings that were tried."""
    same: int
    """How many have an effect on the same side as the claim's own; where that has none, on the side that it says."""
    certain: int
    """How many certainly are on that side."""
    against: int
    """How many certainly are on the other side."""
    alike: int
    """How many more measure what another one does, or the run itself: nothing that the claim reads is changed there."""
    unfinished: int
    """How many more were begun, and have members that are not trained yet."""
    at: tuple[Neighbour, ...]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One falsifiable sentence with what was measured; from `estimand` to `coarseness` the fields of `Decision`."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True}
    """For the JSON Schema, which pydantic makes (`lopsided.report.schema`)."""

    recipe: str
    claim: str
    scale: str
    kind: str
    """The name of its test (`lopsided.claims`)."""
    source: Source
    """Whether a paper says so, or we do."""
    paper: str
    """What the paper reports, or why it is of interest where no paper says it."""
    figure: str = ""
    """The paper's figures, theorems or sections."""
    number: float | None = None
    """What the paper reports, in the unit of the effect."""
    near_trivial: str = ""
    """Why the claim could hardly fail."""
    history: str = ""
    """What of the claim, its test or its setting was changed after rows had been seen."""

    estimand: str = ""
    unit: str = ""
    effect: float | None = None
    interval: tuple[float | None, float | None] = (None, None)
    verdict: Verdict = "not run"
    members: int = 0
    method: str = ""
    p_value: float | None = None
    small: tuple[float, float] | None = None
    ratio: bool = False
    coverage: float = 0.95
    bounds: tuple[float, ...] = ()
    side: Literal["", "above", "below"] = ""
    p_values: tuple[float, ...] = ()
    window: Window | None = None
    places: tuple[tuple[str, float], ...] = ()
    contradicted_at: str = ""
    rivals: Rivals | None = None
    reason: Reason = ""
    coarseness: float = 0.0
    """How far apart evaluations lie, as a share of the time to learn; above a tenth, times are known no better."""

    folds_agree: tuple[int, int] | None = None
    """How many folds of seeds, each choosing settings for all others, led to this verdict, and how many there are;
    None where nothing was chosen."""
    look: Look | None = None
    at_edge: tuple[str, ...] = ()
    """Best settings that lie at an end of their sweep."""
    code_versions: int = 1
    """How many versions of the code made its rows."""
    diverged: int | None = None
    """How many members of the arms that it reads diverged: their accuracy counts as 0, and they never learn. None:
    decided before this was counted."""
    setting: tuple[Difference, ...] = ()
    """Where the arms that it reads differ from those of the paper."""
    assumed: tuple[str, ...] = ()
    """Fields that the paper does not give."""
    neighbours: Neighbours | None = None
    """What neighbouring settings say; None where none were tried."""

    @property
    def equivalence(self) -> bool:
        """Whether two one-sided tests were made."""
        return len(self.bounds) == 2

    @property
    def nulls(self) -> tuple[float, ...]:
        """What the effect lies on one side of: a bound, the two ends of what counts as equal, or no difference."""
        # The bounds of a negligible difference are those of what is too small to matter, not of the claim.
        return self.bounds if self.bounds and self.verdict != "negligible" else (float(self.ratio),)

    @property
    def as_said(self) -> bool | None:
        """Whether the effect lies where the claim says, certain or not; None where it is not known."""
        if self.effect is None or self.effect in self.nulls:
            return None
        if len(self.nulls) == 2:
            return min(self.nulls) < self.effect < max(self.nulls)
        return (self.effect < self.nulls[0]) == (self.side == "below")

    @property
    def rivals_disagree(self) -> bool:
        """Whether another setting that may be as good leads to another verdict."""
        return self.rivals is not None and not self.rivals.agree

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
        """Every field, and what follows from them (`lopsided.report.schema`)."""
        return {**asdict(self), "rivals_disagree": self.rivals_disagree, "replicates": self.replicates}

    @classmethod
    def of(cls, said: str, found: Decision) -> Claim:
        """A claim of no recipe, with what was found of it."""
        what = {name: getattr(found, name) for name in DECISION_FIELDS}
        return cls(recipe="", claim=said, scale="", kind="", source="own", paper="", **what)

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Claim:
        """What `as_json` gave."""
        known = {field.name for field in fields(cls)}
        found = {key: _tuples(value) for key, value in data.items() if key in known}
        for key, kind in (("window", Window), ("rivals", Rivals), ("look", Look)):
            if data.get(key) is not None:
                found[key] = kind(**{name: _tuples(value) for name, value in data[key].items()})
        if (said := data.get("neighbours")) is not None:
            at = (Neighbour(**{name: _tuples(value) for name, value in each.items()}) for each in said["at"])
            found["neighbours"] = Neighbours(**{**said, "at": tuple(at)})
        found["setting"] = tuple(Difference(**each) for each in data.get("setting", ()))
        return cls(**found)


DECISION_FIELDS = tuple(name for name in Decision._fields if name != "needs")


def _tuples(value: Any) -> Any:
    """Lists of JSON, at every depth, as the tuples that they were."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
