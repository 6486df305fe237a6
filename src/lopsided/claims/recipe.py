"""A recipe is a falsifiable statement as data: which arms are trained, what is claimed of them, how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any, cast

from lopsided.claims.assumption import Assumption
from lopsided.claims.nuisance import USUAL, Nuisance
from lopsided.claims.statement import Statement
from lopsided.core.arms import LEARNED_ACCURACY, SCALES, ArmSpec, Scale, ScaleName
from lopsided.core.errors import InputError, unknown
from lopsided.core.spec import Spec
from lopsided.figures.panels import Figure
from lopsided.results.stored import Results
from lopsided.results.sweeps import bests

FILE_MODULE = "lopsided_recipe_"
"""Modules made of recipe files are called this and the file's name."""
PAPERS = {
    "A": "A: The Power of Power Law",
    "B": "B: Emergence and scaling laws in SGD learning of shallow neural networks",
    "C": "C: Less Data, Faster Training",
}
"""Titles by the letter that recipes give."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Recipe:
    """What `lopsided run NAME` trains, decides and draws."""

    name: str
    paper: str
    """A letter of `PAPERS`, or words."""
    figure_number: str
    question: str
    about: str | None
    """The module's docstring: what the paper says, and what each scale changes."""
    scales: Mapping[ScaleName, Any]
    """`Scale`, or its fields as a tuple, by name."""
    arms: Callable[[ScaleName], Iterable[ArmSpec]]
    claims: Sequence[Statement]
    figure: Callable[[Results], Figure]
    shown: Callable[[Results], Sequence[str]] | None = None
    """Names of the arms that tables list; without it all, those of a sweep at their best settings."""
    metric: str = "test/accuracy"
    threshold: float | None = None
    """An arm has learned when `metric` reaches this, where its spec has no rule of its own (`until`). None:
    `LEARNED_ACCURACY` of an accuracy, and infinity of anything else; nobody reaches that, so tables have no times to
    learn."""
    least_evaluations: int = 2
    """With fewer evaluations than this in any arm, no claim is decided and plain curves are drawn."""
    least_seeds: int = 1
    """With fewer seeds, no claim is decided."""
    assumptions: Sequence[Assumption] = ()
    """Settings that the paper does not give."""
    nuisance: Sequence[Nuisance] = USUAL
    """Settings on which the claims should not depend; those that are swept are left out."""

    def __post_init__(self) -> None:
        for name in ("name", "paper", "figure_number", "question", "metric"):
            self._require(name, isinstance(getattr(self, name), str), "text")
        for name in ("arms", "figure"):
            self._require(name, callable(getattr(self, name)), "a function")
        self._require("shown", self.shown is None or callable(self.shown), "a function or None")
        self._require("threshold", isinstance(self.threshold, (int, float, type(None))), "a number or None")
        claims = self.claims if isinstance(self.claims, Sequence) else [None]
        self._require("claims", all(isinstance(each, Statement) for each in claims), "a list of Statements")
        assumed = self.assumptions if isinstance(self.assumptions, Sequence) else [None]
        self._require("assumptions", all(isinstance(each, Assumption) for each in assumed), "a list of Assumptions")
        unsettled = self.nuisance if isinstance(self.nuisance, Sequence) else [None]
        self._require("nuisance", all(isinstance(each, Nuisance) for each in unsettled), "a list of Nuisances")
        scales = dict(self.scales) if isinstance(self.scales, Mapping) else {}
        known = bool(scales) and set(scales) <= set(SCALES) and all(map(_is_cost, scales.values()))
        self._require("scales", known, f"(seeds, seconds) or (seeds,) for some of {', '.join(SCALES)}")
        object.__setattr__(self, "scales", {name: Scale(*cost) for name, cost in scales.items()})
        object.__setattr__(self, "paper", PAPERS.get(self.paper, self.paper))

    @property
    def goal(self) -> float:
        """What `metric` reaches in an arm that has learned; infinity where nothing is said."""
        if self.threshold is not None:
            return self.threshold
        return LEARNED_ACCURACY if self.metric.lower().endswith("accuracy") else inf

    def _require(self, field: str, sound: bool, valid: str) -> None:
        if not sound:
            raise InputError(f"recipe {str(self.name)[:80]!r}: {field} has to be {valid}")

    @cache  # noqa: B019  # a recipe lives as long as the process; making the arms of some takes half a second
    def arms_at(self, scale: ScaleName) -> Mapping[str, ArmSpec]:
        """Arms by name. Raises `InputError` if two have one name, or if one has no spec."""
        arms = list(self.arms(self.scale_named(scale)))
        if not arms or not all(isinstance(each, ArmSpec) and isinstance(each.spec, Spec) for each in arms):
            raise InputError(f"recipe {self.name!r}: arms({scale!r}) has to give arms with a Spec each")
        found = {each.name: each for each in arms}
        if len(found) < len(arms):
            names = [each.name for each in arms]
            double = next(name for name in names if names.count(name) > 1)
            raise InputError(f"recipe {self.name!r}: two arms are {double!r}; their coordinates have to differ")
        self._require_sweeps_that_can_go_on(arms)
        self._require_a_rule_of_swept(arms)
        return found

    def _require_sweeps_that_can_go_on(self, arms: Sequence[ArmSpec]) -> None:
        """Raise `InputError` for a sweep that makes other specs once all arms are there, as it does when its best rate
        lies at an end: a function made in a loop reads the loop's last value."""
        firsts = {id(each.make): each for each in reversed(arms) if each.make is not None}
        for each in firsts.values():
            again = each.moved({key: each.coordinates[key] for key in each.swept})
            if again is not None and again.spec != each.spec:
                raise InputError(
                    f"recipe {self.name!r}: the sweep of {each.name!r} makes another spec when it is called again; a "
                    "function made in a loop reads the loop's last values: give them by functools.partial"
                )

    def _require_a_rule_of_swept(self, arms: Sequence[ArmSpec]) -> None:
        """Raise `InputError` for an arm that is swept and cannot be judged, before anybody trains it for hours."""
        for each in arms:
            if each.swept and each.spec.until is None:
                raise InputError(
                    f"recipe {self.name!r}: arm {each.name!r} is swept, and its spec has no `until`, by which the best "
                    'setting is found: until={"metric": "test/accuracy", "at_least": 0.95}'
                )

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        """Specs by the arm's name."""
        return {name: each.spec for name, each in self.arms_at(scale).items()}

    def scale_named(self, name: str) -> ScaleName:
        """One of the recipe's scales. Raises `InputError` with the nearest name for anything else."""
        if name not in self.scales:
            raise unknown(f"scale of {self.name}", name, self.scales)
        return cast(ScaleName, name)

    def listed(self, results: Results) -> Sequence[str]:
        """Names of the arms that tables list."""
        if self.shown:
            return self.shown(results)
        if any(arm.swept for arm in results.arms.values()):
            return [tuned.arm.name for tuned in bests(results)]
        return list(results.arms)

    def check(self, scale: ScaleName) -> None:
        """Raise `InputError` if a claim reads an arm that this scale does not have."""
        for statement in self.claims:
            statement.check(self.arms_at(scale))


def _is_cost(cost: Any) -> bool:
    if not isinstance(cost, tuple) or len(cost) not in (1, 2, 3):
        return False
    seeds, seconds, *_ = *cost, inf
    return isinstance(seeds, int) and seeds >= 1 and isinstance(seconds, (int, float))
