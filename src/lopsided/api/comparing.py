"""Two arms compared, with an effect, an interval and a verdict: lopsided's own results, or anybody's curves."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lopsided.core.errors import InputError
from lopsided.report.words import effect_text, how_decided
from lopsided.stats import decisions
from lopsided.stats.times import Times, falls, time_to_learn
from lopsided.stats.verdict import Claim, Decision

if TYPE_CHECKING:  # curves of anybody need no laboratory
    from lopsided.results.stored import Arm

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
        return f"{c.claim}: {c.verdict}\n  {effect_text(c)}\n  {how_decided(c)}; {c.members} members"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        c = self.claim
        text = [
            html.escape(part) for part in (c.claim, c.verdict, effect_text(c), f"{how_decided(c)}; {c.members} members")
        ]
        return (
            f'<p>{text[0]}: <b style="color: {COLOURS[c.verdict]}">{text[1]}</b><br>{text[2]}<br>'
            f"<small>{text[3]}</small></p>"
        )


def _verdict(said: str, found: Decision) -> Verdict:
    return Verdict(Claim.of(said, found))


class Curves(NamedTuple):
    """Members' learning curves from anywhere.

    `axis` (T,): samples, steps or seconds, rising. `values` (M, T): a metric of each of M seeds. Where several arms
    share their seeds, the members are in the same order.
    """

    name: str
    axis: np.ndarray
    values: np.ndarray
    unit: str = "samples"

    def times(self, at: float, falling: bool = False) -> Times:
        """When each member reached `at` (from above, if `falling`) and still held it at the next evaluation; else it is
        censored at its end."""
        return time_to_learn(self.axis, -self.values, -at) if falling else time_to_learn(self.axis, self.values, at)


class Comparison:
    """`candidate` against `baseline`. Every method gives a `Verdict`, "inconclusive" where nothing can be told. Raises
    `InputError` for numbers that ask nothing: a factor of 0, a goal that a member has reached before it trained.

    `falling`: the metric gets smaller as a network learns. If nothing is said, a loss, an error, a perplexity and the
    like fall (`lopsided.stats.times.FALLING`), anything else rises.
    """

    def __init__(self, baseline: Curves, candidate: Curves, metric: str = "metric", falling: bool | None = None):
        baseline, candidate = _checked(baseline), _checked(candidate)
        if baseline.unit != candidate.unit:
            raise InputError(
                f"compare: {baseline.name!r} is in {baseline.unit}, {candidate.name!r} in {candidate.unit}"
            )
        self.baseline, self.candidate, self.metric = baseline, candidate, metric
        self.falling = falls(metric) if falling is None else falling

    def faster(self, at: float, at_least: float = 1.0) -> Verdict:
        """The candidate reaches `at` with less of the axis, by more than a factor `at_least` > 0.

        Six members and more are paired by their place, fewer are two independent samples; docs/deciding.md says how
        either is tested. A member that never reaches `at` is censored, never dropped.
        """
        _require("at", at, -np.inf)
        _require("at_least", at_least, 0.0)
        more = f", by more than {at_least:g} times" if at_least != 1 else ""
        b, c = self.baseline, self.candidate
        said = f"{c.name} reaches {self.metric} {at:g} in fewer {c.unit} than {b.name}"
        return self._ratio(said + more, decisions.faster(*self._times(at), self.candidate.unit, at_least))

    def as_fast(self, at: float, within: float = 1.25) -> Verdict:
        """Neither arm reaches `at` more than a factor `within` > 1 sooner: an equivalence, shown, not assumed."""
        _require("at", at, -np.inf)
        _require("within", within, 1.0)
        names = f"{self.candidate.name} and {self.baseline.name}"
        said = f"{names} reach {self.metric} {at:g} equally fast (within {within:g} times)"
        return self._ratio(said, decisions.as_fast(*self._times(at), self.candidate.unit, within))

    def _times(self, at: float) -> tuple[Times, Times]:
        """Raises `InputError` where a member is there at 0 of the axis: no ratio has a meaning then."""
        found = []
        for curves in (self.baseline, self.candidate):
            found.append(curves.times(at, self.falling))
            if ((found[-1].time <= 0) & ~found[-1].censored).any():
                said = f"{curves.name!r} has {self.metric} {at:g} at 0 {curves.unit}, before it trained"
                raise InputError(f"compare: {said}; valid is an `at` that is reached later")
        return found[0], found[1]

    def _ratio(self, said: str, found: Decision) -> Verdict:
        """The decision on a ratio, with the names of the two arms in its unit."""
        return _verdict(said, found._replace(unit=f"{found.unit}, {self.baseline.name} / {self.candidate.name}"))

    def higher(self) -> Verdict:
        """The candidate's last values exceed the baseline's. Of accuracies (as shares, not in percent), a difference
        that is certainly below 0.05 is "negligible"."""
        said = f"{self.candidate.name} ends with a higher {self.metric} than {self.baseline.name}"
        ends = self.baseline.values[:, -1], self.candidate.values[:, -1]
        return _verdict(said, decisions.higher(*ends, f"final {self.metric}{self._where()}", self._small()))

    def lower(self) -> Verdict:
        """The candidate's last values lie below the baseline's, as a loss should."""
        b, c = self.baseline, self.candidate
        said = f"{c.name} ends with a lower {self.metric} than {b.name}"
        what = f"final {self.metric}, {b.name} minus {c.name}{self._where()}"
        return _verdict(said, decisions.higher(c.values[:, -1], b.values[:, -1], what, self._small()))

    def _small(self) -> float | None:
        return decisions.FIVE_POINTS if "accuracy" in self.metric.lower() else None

    def _where(self) -> str:
        """Where the curves end, if they end at different places."""
        ends = [curves.axis[-1] for curves in (self.baseline, self.candidate)]
        return "" if ends[0] == ends[1] else f" (after {ends[0]:g} and {ends[1]:g} {self.baseline.unit})"

    def __repr__(self) -> str:
        sizes = [f"{c.name!r}, {len(c.values)} members" for c in (self.baseline, self.candidate)]
        return f"Comparison({sizes[0]}, with {sizes[1]}; .faster(at=...), .as_fast(at=...), .higher(), .lower())"


def compare(
    baseline: ArrayLike | Curves,
    candidate: ArrayLike | Curves,
    axis: Sequence[float] | np.ndarray | None = None,
    metric: str = "metric",
    unit: str = "steps",
    falling: bool | None = None,
) -> Comparison:
    """Compare curves from any training loop.

    `baseline` and `candidate`: (M, T) values of a metric, one row a seed, or `Curves`; `axis`: (T,) steps or samples of
    the columns, 1, 2, ... if left out; `falling`: whether the metric gets smaller with learning (a metric whose name
    says loss, error, perplexity or the like does). Raises `InputError` for other shapes.

    >>> import numpy as np
    >>> slow = np.repeat(np.linspace(0, 1, 11)[None], 6, axis=0)
    >>> print(compare(slow, np.sqrt(slow), metric="accuracy").faster(at=0.7).verdict)
    holds
    """
    found = []
    for name, curves in (("baseline", baseline), ("candidate", candidate)):
        if not isinstance(curves, Curves):
            values = _values(name, curves)
            along: Any = np.arange(1, values.shape[1] + 1) if axis is None else axis
            curves = Curves(name, along, values, unit)
        found.append(curves)
    return Comparison(found[0], found[1], metric, falling)


def curves_of(arm: Arm, metric: str, axis: str) -> Curves:
    """An arm's curves along `samples`, `steps` or `distinct`."""
    return Curves(arm.name, arm.along(axis), arm.metric(metric), axis)


def _values(name: str, values: Any) -> np.ndarray:
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"compare: {name} has to be numbers, one row for each seed") from None
    if found.ndim != 2 or not found.size:
        raise InputError(f"compare: {name} has shape {found.shape}; valid is (seeds, evaluations)")
    return found


def _checked(curves: Curves) -> Curves:
    """With arrays. Raises `InputError` for what does not fit."""
    values = _values(curves.name, curves.values)
    try:
        axis = np.asarray(curves.axis, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"compare: the axis of {curves.name!r} has to be numbers") from None
    if axis.shape != values.shape[1:]:
        raise InputError(
            f"compare: {curves.name!r} has values {values.shape} on an axis {axis.shape}; valid are (M, T) and (T,)"
        )
    if not (np.diff(axis) > 0).all() or not np.isfinite(axis).all() or axis[0] < 0:
        raise InputError(f"compare: the axis of {curves.name!r} has to rise, from 0 or more")
    return curves._replace(axis=axis, values=values)


def _require(name: str, value: Any, above: float) -> None:
    if not (isinstance(value, (int, float, np.number)) and above < value < np.inf):
        raise InputError(f"{name} = {value!r}: a number" + (f" above {above:g}" if np.isfinite(above) else ""))
