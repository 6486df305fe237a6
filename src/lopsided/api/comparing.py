"""Two arms compared, with an effect, an interval and a verdict: lopsided's own results, or anybody's curves."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lopsided.api.curves import Curves, Ragged, direction_of, matched, ragged, values_of
from lopsided.core.errors import InputError
from lopsided.report.words import effect_text, how_decided
from lopsided.stats import decisions
from lopsided.stats.crossing import crossings
from lopsided.stats.seeds_needed import seeds_needed
from lopsided.stats.signflip import MOST_MEMBERS
from lopsided.stats.target import at_target
from lopsided.stats.times import Times, rises
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


class Comparison:
    """`candidate` against `baseline`. Every method gives a `Verdict`, "inconclusive" where nothing can be told. Raises
    `InputError` for numbers that ask nothing: a factor of 0, a goal that every run has reached before it trained.

    `falling`: whether the metric gets smaller as a network learns. If nothing is said, its name decides
    (`lopsided.stats.times`: a loss, an error, an accuracy), and where that says nothing, how the curves move; the
    verdict says which. `paired`: whether members of both sides that have one seed are compared with one another; left
    out, they are where both sides have the same named seeds. `held`: a goal counts as reached at the first evaluation
    at which it is, and still is at the next one; otherwise times lie between evaluations (`lopsided.stats.crossing`).
    `small`: whether a difference of times that is certainly below 25 % is called negligible.
    """

    def __init__(
        self,
        baseline: Curves | Ragged,
        candidate: Curves | Ragged,
        metric: str = "metric",
        falling: bool | None = None,
        paired: bool | None = None,
        held: bool = False,
        diverged: Literal["nan"] | None = None,
        small: bool = True,
    ):
        baseline, candidate = (ragged(each, diverged) for each in (baseline, candidate))
        for each in (baseline, candidate):
            if len(each.tracks) > MOST_MEMBERS:
                raise InputError(f"compare: {each.name!r} has {len(each.tracks):,} members; at most {MOST_MEMBERS:,}")
        if baseline.unit != candidate.unit:
            raise InputError(
                f"compare: {baseline.name!r} is in {baseline.unit}, {candidate.name!r} in {candidate.unit}"
            )
        self.metric, self.held, self.small = metric, held, small
        self.baseline, self.candidate, self.paired, said = matched(baseline, candidate, paired)
        self.falling, direction = direction_of(metric, (baseline, candidate), falling)
        self.notes = tuple(filter(None, [*baseline.notes, *candidate.notes, said, direction]))

    def faster(self, at: float, at_least: float = 1.0) -> Verdict:
        """The candidate reaches `at` with less of the axis, by more than a factor `at_least` > 0.

        A member that never reaches `at` is censored, never dropped. docs/deciding.md says how it is tested.
        """
        _require("at", at, -np.inf)
        _require("at_least", at_least, 0.0)
        more = f", by more than {at_least:g} times" if at_least != 1 else ""
        b, c = self.baseline, self.candidate
        said = f"{c.name} reaches {self._goal(at)} in fewer {c.unit} than {b.name}"
        found = decisions.faster(*self._times(at), c.unit, at_least, paired=self.paired, small=self.small)
        return self._ratio(said + more, found)

    def as_fast(self, at: float, within: float = 1.25) -> Verdict:
        """Neither arm reaches `at` more than a factor `within` > 1 sooner: an equivalence, shown, not assumed."""
        _require("at", at, -np.inf)
        _require("within", within, 1.0)
        names = f"{self.candidate.name} and {self.baseline.name}"
        said = f"{names} reach {self._goal(at)} equally fast (within {within:g} times)"
        found = decisions.as_fast(*self._times(at), self.candidate.unit, within, paired=self.paired)
        return self._ratio(said, found)

    def higher(self) -> Verdict:
        """The candidate's last values exceed the baseline's. Of accuracies (as shares, not in percent), a difference
        that is certainly below 0.05 is "negligible"."""
        said = f"{self.candidate.name} ends with a higher {self.metric} than {self.baseline.name}"
        what = f"final {self.metric}{self._where()}"
        ends = self.baseline.final, self.candidate.final
        return self._verdict(said, decisions.higher(*ends, what, self._small(), paired=self.paired))

    def lower(self) -> Verdict:
        """The candidate's last values lie below the baseline's, as a loss should."""
        b, c = self.baseline, self.candidate
        said = f"{c.name} ends with a lower {self.metric} than {b.name}"
        what = f"final {self.metric}, {b.name} minus {c.name}{self._where()}"
        return self._verdict(said, decisions.higher(c.final, b.final, what, self._small(), paired=self.paired))

    def better(self) -> Verdict:
        """`lower` where the metric falls with learning, `higher` where it rises."""
        return self.lower() if self.falling else self.higher()

    def reaches(self, at: float, level: float = 0.01) -> Verdict:
        """The mean of the candidate's last values is at `at` or beyond it: see `lopsided.api.target`."""
        return reaches(self.candidate, at, self.metric, self.falling, level, self.notes)

    def _goal(self, at: float) -> str:
        return f"{self.metric} {'≤' if self.falling else '≥'} {at:g}"

    def _times(self, at: float) -> tuple[Times, Times]:
        """Raises `InputError` where a member is there at 0 of the axis, since no ratio has a meaning then, and where
        every run is there at its first evaluation, since the direction is then probably another one."""
        arms = self.baseline, self.candidate
        _require_scale(at, self.metric, arms)
        found = [crossings(arm.tracks, at, self.falling, self.held) for arm in arms]
        for arm, times in zip(arms, found, strict=True):
            if ((times.time <= 0) & ~times.censored).any():
                said = f"{arm.name!r} has {self._goal(at)} at 0 {arm.unit}, before it trained"
                raise InputError(f"compare: {said}; valid is an `at` that is reached later")
        if all((~t.censored & (t.time <= _firsts(arm))).all() for arm, t in zip(arms, found, strict=True)):
            other = not self.falling
            raise InputError(
                f"compare: every run has {self._goal(at)} at its first evaluation; valid is an `at` that is reached "
                f"later, or falling={other} if {self.metric} gets {'smaller' if other else 'larger'} with learning"
            )
        return found[0], found[1]

    def _ratio(self, said: str, found: Decision) -> Verdict:
        """The decision on a ratio, with the names of the two arms in its unit."""
        unit = f"{found.unit}, {self.baseline.name} / {self.candidate.name}"
        return self._verdict(said, found._replace(unit=unit))

    def _verdict(self, said: str, found: Decision) -> Verdict:
        claim = Claim.of(said, found)
        fewest = min(len(self.baseline.tracks), len(self.candidate.tracks))
        needed = seeds_needed(claim, fewest) if fewest > 1 else None
        waits = () if needed is None else (f"about {needed:,} runs an arm would probably decide it (now {fewest})",)
        return Verdict(claim, self.notes + waits)

    def _small(self) -> float | None:
        return decisions.FIVE_POINTS if self.small and "accuracy" in self.metric.lower() else None

    def _where(self) -> str:
        """Where the curves end, if they end at different places."""
        ends = [max(float(track.axis[-1]) for track in arm.tracks) for arm in (self.baseline, self.candidate)]
        return "" if ends[0] == ends[1] else f" (after {ends[0]:g} and {ends[1]:g} {self.baseline.unit})"

    def __repr__(self) -> str:
        sizes = [f"{c.name!r}, {len(c.tracks)} members" for c in (self.baseline, self.candidate)]
        return f"Comparison({sizes[0]}, with {sizes[1]}; .faster(at=...), .as_fast(at=...), .higher(), .lower())"


def compare(
    baseline: ArrayLike | Curves | Ragged,
    candidate: ArrayLike | Curves | Ragged,
    axis: Sequence[float] | np.ndarray | None = None,
    metric: str = "metric",
    unit: str | None = None,
    falling: bool | None = None,
    *,
    paired: bool | None = None,
    held: bool = False,
    diverged: Literal["nan"] | None = None,
) -> Comparison:
    """Compare curves from any training loop.

    `baseline` and `candidate`: (M, T) values of a metric, one row a run, or `Curves`, or what `lop.read` gives of an
    arm; `axis`: (T,) steps or samples of the columns, evaluations 1, 2, ... if left out. NaN between values is "not
    evaluated"; NaN to the end is the end of a run, or with `diverged="nan"` a run that diverged; an infinite value is
    one that diverged. `falling`, `paired`, `held`: see `Comparison`. Raises `InputError` for other shapes.

    >>> import numpy as np
    >>> slow = np.repeat(np.linspace(0, 1, 11)[None], 6, axis=0)
    >>> print(compare(slow, np.sqrt(slow), metric="accuracy").faster(at=0.7).verdict)
    holds
    """
    found = []
    for name, curves in (("baseline", baseline), ("candidate", candidate)):
        if not isinstance(curves, Curves | Ragged):
            values = values_of(name, curves)
            if axis is None and len(values) > max(WIDE * values.shape[1], 50):
                raise InputError(
                    f"compare: {name} has {len(values)} rows of {values.shape[1]} values; a row is a run. Valid is the "
                    "other way round (.T), or with axis=..."
                )
            along: Any = np.arange(1, values.shape[1] + 1) if axis is None else axis
            curves = Curves(name, along, values, unit or ("evaluations" if axis is None else "steps"))
        found.append(curves)
    lengths = {np.shape(each.values)[-1] for each in found if isinstance(each, Curves)}
    if (
        axis is None
        and len(lengths) > 1
        and not any(isinstance(each, Curves | Ragged) for each in (baseline, candidate))
    ):
        raise InputError(
            f"compare: {' and '.join(map(str, sorted(lengths)))} evaluations, and no axis: which of them belong "
            "together? Give lop.Curves(name, axis, values) for each side"
        )
    return Comparison(found[0], found[1], metric, falling, paired, held, diverged)


WIDE = 5
"""Rows for each column from which a table is probably the wrong way round."""


def curves_of(arm: Arm, metric: str, axis: str) -> Curves:
    """An arm's curves along `samples`, `steps` or `distinct`."""
    return Curves(arm.name, arm.along(axis), arm.metric(metric), axis, arm.seeds)


def _firsts(arm: Ragged) -> np.ndarray:
    return np.array([track.axis[0] for track in arm.tracks])


def _require_scale(at: float, metric: str, arms: Sequence[Ragged]) -> None:
    """Raise `InputError` for a goal in percent where values are shares, or the other way round."""
    most = max(float(np.max(track.value)) for arm in arms for track in arm.tracks)
    if rises(metric) and at > 1.5 and most <= 1:
        raise InputError(f"at = {at:g}: {metric} is at most {most:g}, a share; {at:g} in percent is {at / 100:g}")
    if rises(metric) and "acc" in metric.lower() and at <= 1 and most > 1.5:
        raise InputError(f"at = {at:g}: {metric} goes up to {most:g}, in percent; valid is {100 * at:g}")


def reaches(
    arm: Ragged, at: float, metric: str, falling: bool, level: float = 0.01, notes: tuple[str, ...] = ()
) -> Verdict:
    """The mean of an arm's last values is at `at` or beyond it: Student's t, one-sided, at `level`. Notes say at which
    evaluation the mean is there for the first time, and where between evaluations, with an interval."""
    _require("at", at, -np.inf)
    _require("level", level, 0.0)
    _require_scale(at, metric, [arm])
    found, more = at_target(arm.tracks, at, falling, level, arm.unit)
    said = f"{arm.name}'s mean final {metric} is {'at most' if falling else 'at least'} {at:g}"
    return Verdict(Claim.of(said, found._replace(unit=f"final {metric}, minus {at:g}")), (*notes, *more))


def _require(name: str, value: Any, above: float) -> None:
    if not (isinstance(value, (int, float, np.number)) and above < value < np.inf):
        raise InputError(f"{name} = {value!r}: a number" + (f" above {above:g}" if np.isfinite(above) else ""))
