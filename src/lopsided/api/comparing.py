"""Two arms compared, with an effect, an interval and a verdict: lopsided's own results, or anybody's curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lopsided.api.curves import Curves, Ends, Ragged, direction_of, matched, ragged, require_told, values_of
from lopsided.api.ends import REMEDY, at_one_end, copies, cut_short, of_uneven_ends, same_runs, uneven
from lopsided.api.evaluated import as_early, by_number, evaluated_alike, off_the_line
from lopsided.api.few_runs import runs_that_decide, spreads_apart
from lopsided.api.reaching import reaches
from lopsided.api.scales import require_above, require_one_scale, require_scale
from lopsided.api.verdict import Verdict
from lopsided.core.errors import InputError, unknown
from lopsided.stats import decisions
from lopsided.stats.bounded import ANYWHERE, NOWHERE, Places, bounded, unlike
from lopsided.stats.crossing import Between, Track, crossings
from lopsided.stats.lost import worse_than_all
from lopsided.stats.signflip import MOST_MEMBERS
from lopsided.stats.times import Times
from lopsided.stats.verdict import Claim, Decision

Test = Callable[[tuple[Times, Times]], Decision]
BETWEEN = 0.2
"""Share of the time to learn by which evaluations may lie apart for a time to be read off a line between them."""


class Comparison:
    """`candidate` against `baseline`. Every method gives a `Verdict`, "inconclusive" where nothing can be told. Raises
    `InputError` for numbers that ask nothing: a factor of 0, a goal that every run has reached before it trained.

    `falling`: whether the metric gets smaller as a network learns. If nothing is said, its name decides
    (`lopsided.stats.times`: a loss, an error, an accuracy), and where that says nothing, how the curves move; the
    verdict says which. `paired`: whether members of both sides that have one seed are compared with one another; left
    out, they are where both sides have the same named seeds. `held`: a goal counts as reached at the first evaluation
    at which it is, and still is at the next one; otherwise times lie between evaluations (`lopsided.stats.crossing`).
    `small`: whether a difference of times that is certainly below 25 % is called negligible. `between`: a time is known
    only to lie between two evaluations; "line" takes the point on a straight line, "bounds" assumes nothing: a verdict
    then has to hold with one side as early and the other as late as can be, both ways. `level`: of every test. `ends`:
    last values of runs that end at different places have no verdict, unless a rule of their own ends runs ("own": early
    stopping).
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
        between: Literal["line", "bounds"] = "line",
        level: float = decisions.LEVEL,
        ends: Ends | None = None,
    ):
        if between not in ("line", "bounds"):
            raise unknown("between", between, ("line", "bounds"))
        if held and between == "bounds":
            raise InputError("compare: held=True takes the evaluation itself; between='bounds' has nothing to bound")
        if ends not in (None, "alike", "own"):
            raise unknown("ends", ends, ("alike", "own"))
        baseline, candidate = (ragged(each, diverged) for each in (baseline, candidate))
        if ends is not None:
            baseline, candidate = baseline._replace(ends=ends), candidate._replace(ends=ends)
        for each in (baseline, candidate):
            if len(each.tracks) > MOST_MEMBERS:
                raise InputError(f"compare: {each.name!r} has {len(each.tracks):,} members; at most {MOST_MEMBERS:,}")
        if baseline.unit != candidate.unit:
            raise InputError(
                f"compare: {baseline.name!r} is in {baseline.unit}, {candidate.name!r} in {candidate.unit}"
            )
        self.metric, self.held, self.small, self.between, self.level = metric, held, small, between, level
        self.baseline, self.candidate, self.paired, said = matched(baseline, candidate, paired)
        self.direction = direction_of(metric, (baseline, candidate), falling)
        self.falling = self.direction.falling
        same = same_runs(self.baseline, self.candidate) or "; ".join(
            filter(None, (copies(self.baseline), copies(self.candidate)))
        )
        self.notes = tuple(filter(None, [*baseline.notes, *candidate.notes, said, same, self.direction.said]))
        require_one_scale(metric, (self.baseline, self.candidate))

    def faster(self, at: float, at_least: float = 1.0) -> Verdict:
        """The candidate reaches `at` with less of the axis, by more than a factor `at_least` > 0.

        A member that never reaches `at` is censored, never dropped. docs/deciding.md says how it is tested.
        """
        require_told(self.direction)
        require_above("at", at, -np.inf)
        require_above("at_least", at_least, 0.0)
        more = f", by more than {at_least:g} times" if at_least != 1 else ""
        b, c = self.baseline, self.candidate
        said = f"{c.name} reaches {self._goal(at)} in fewer {c.unit} than {b.name}"

        def test(times: tuple[Times, Times]) -> Decision:
            return decisions.faster(*times, c.unit, at_least, self.level, self.paired, self.small)

        return self._ratio(said + more, at, test, at_least != 1)

    def as_fast(self, at: float, within: float = 1.25) -> Verdict:
        """Neither arm reaches `at` more than a factor `within` > 1 sooner: an equivalence, shown, not assumed."""
        require_above("at", at, -np.inf)
        require_above("within", within, 1.0)
        names = f"{self.candidate.name} and {self.baseline.name}"
        said = f"{names} reach {self._goal(at)} equally fast (within {within:g} times)"

        def test(times: tuple[Times, Times]) -> Decision:
            return decisions.as_fast(*times, self.candidate.unit, within, self.level, self.paired)

        return self._ratio(said, at, test)

    def higher(self) -> Verdict:
        """The candidate's last values exceed the baseline's. Of accuracies (as shares, not in percent), a difference
        that is certainly below 0.05 is "negligible"."""
        said = f"{self.candidate.name} ends with a higher {self.metric} than {self.baseline.name}"
        what = f"final {self.metric}{self._where()}"
        low, high = self.finals()
        return self._ends(said, decisions.higher(low, high, what, self._small(), self.level, self.paired))

    def lower(self) -> Verdict:
        """The candidate's last values lie below the baseline's, as a loss should."""
        b, c = self.baseline, self.candidate
        said = f"{c.name} ends with a lower {self.metric} than {b.name}"
        what = f"final {self.metric}, {b.name} minus {c.name}{self._where()}"
        high, low = self.finals()
        return self._ends(said, decisions.higher(low, high, what, self._small(), self.level, self.paired))

    def better(self) -> Verdict:
        """`lower` where the metric falls with learning, `higher` where it rises."""
        require_told(self.direction)
        return self.lower() if self.falling else self.higher()

    def reaches(self, at: float, level: float = 0.01) -> Verdict:
        """The mean of the candidate's last values is at `at` or beyond it: see `lopsided.api.target`."""
        return reaches(self.candidate, at, self.metric, self.falling, level, self.notes)

    @cached_property
    def _alike(self) -> tuple[tuple[Sequence[Track], Sequence[Track]], str]:
        return evaluated_alike(self.baseline, self.candidate)

    @cached_property
    def _ended(self) -> tuple[list[Ragged], str]:
        return at_one_end((self.baseline, self.candidate))

    def _goal(self, at: float) -> str:
        return f"{self.metric} {'≤' if self.falling else '≥'} {at:g}"

    def times(self, at: float, between: tuple[Between, Between] = ("line", "line")) -> tuple[Times, Times]:
        """When each side's runs reach `at`. Raises `InputError` where a member is there at 0 of the axis, so that no
        ratio has a meaning, and where every run is at its first evaluation: the direction is probably another one."""
        arms = self.baseline, self.candidate
        require_scale(at, self.metric, arms)
        found = self._crossed(at, between)
        for arm, times in zip(arms, found, strict=True):
            if ((times.time <= 0) & ~times.censored).any():
                said = f"{arm.name!r} has {self._goal(at)} at 0 {arm.unit}, before it trained"
                raise InputError(f"compare: {said}; valid is an `at` that is reached later")
        if all((~t.censored & (t.time <= _firsts(arm))).all() for arm, t in zip(arms, found, strict=True)):
            other = not self.falling
            turned = f"falling={other} if {self.metric} gets {'smaller' if other else 'larger'} with learning"
            raise InputError(
                f"compare: every run has {self._goal(at)} at its first evaluation: evaluate more often, or take an "
                f"`at` that is reached later, or {turned}"
            )
        return found

    def _crossed(self, at: float, between: tuple[Between, Between]) -> tuple[Times, Times]:
        sides = zip(self._alike[0], between, strict=True)
        one, two = (crossings(tracks, at, self.falling, self.held, where) for tracks, where in sides)
        return one, two

    def finals(self) -> list[np.ndarray]:
        """Last values of both sides; of a run that diverged one that is worse than all of them."""
        baseline, candidate = self._ended[0]
        return worse_than_all([baseline.final, candidate.final], self.falling)

    def _ends(self, said: str, found: Decision) -> Verdict:
        """The decision on last values. Where so many diverged that they make the effect, it is not known."""
        shares = [float(np.isnan(arm.final).mean()) for arm in (self.baseline, self.candidate)]
        if max(shares) >= (1e-9 if self.paired else 0.5) and max(shares) > 0:
            found = found._replace(effect=None, interval=(None, None), reason="diverged")
        apart = uneven((self.baseline, self.candidate))
        if not apart:
            return self._verdict(said, found, self.finals(), tuple(filter(None, [self._ended[1]])))
        return self._verdict(said, of_uneven_ends(found), self.finals(), (*apart, REMEDY))

    def _ratio(self, said: str, at: float, test: Test, factor: bool = False) -> Verdict:
        """The decision on a ratio, in the arms' names. `factor`: against another than 1, which evaluations may hide."""
        times = self.times(at)
        found = test(times)
        ends, where = self._also(times, found, factor, at)
        if ends:
            late = self._crossed(at, ("after", "after"))
            found = bounded(found, [test(as_early(self._crossed(at, each), late, each)) for each in ends], where)
        unit = f"{found.unit}, {self.baseline.name} / {self.candidate.name}"
        known = not any(each.censored.any() for each in times)
        logs = [np.log(each.time) for each in times] if known else ()
        notes = cut_short(self.baseline, self.candidate, times, self.paired, found.interval[1])
        return self._verdict(said, found._replace(unit=unit), logs, (*notes, *filter(None, [self._alike[1]])))

    def _also(self, times: tuple[Times, Times], found: Decision, factor: bool, at: float) -> Places:
        """Where else between evaluations than on a straight line a decision has to hold."""
        if self.between == "bounds":
            return ANYWHERE
        if self.held:
            return NOWHERE
        if found.coarseness > BETWEEN and (factor or unlike(*times)):
            return ANYWHERE
        if self.baseline.in_time and by_number(*self._alike[0]):
            return NOWHERE
        return off_the_line(self._alike[0], at, self.falling, lambda between: self._crossed(at, between))

    def _verdict(
        self, said: str, found: Decision, values: Sequence[np.ndarray], notes: tuple[str, ...] = ()
    ) -> Verdict:
        """`values` are what decided, of each run of both sides; none where some are not known."""
        claim = Claim.of(said, found)
        fewest = min(len(self.baseline.tracks), len(self.candidate.tracks))
        waits = runs_that_decide(claim, values, self.paired, fewest)
        wide = spreads_apart(values, (self.baseline.name, self.candidate.name))
        return Verdict(claim, (*self.notes, *notes, *filter(None, [wide, waits])))

    def _small(self) -> float | None:
        return decisions.FIVE_POINTS if self.small and "accuracy" in self.metric.lower() else None

    def _where(self) -> str:
        """Where the curves end, if they end at different places."""
        ends = [max(float(track.axis[-1]) for track in arm.tracks) for arm in self._ended[0]]
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
    between: Literal["line", "bounds"] = "line",
    ends: Ends | None = None,
) -> Comparison:
    """Compare curves from any training loop.

    `baseline` and `candidate`: (M, T) values of a metric, one row a run, or `Curves`, or what `lop.read` gives of an
    arm; `axis`: (T,) steps or samples of the columns, evaluations 1, 2, ... if left out. NaN between values is "not
    evaluated"; NaN to the end is the end of a run, or with `diverged="nan"` a run that diverged; an infinite value is
    one that diverged. `falling`, `paired`, `held`, `between`, `ends`: see `Comparison`. Raises `InputError` for other
    shapes.

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
    return Comparison(found[0], found[1], metric, falling, paired, held, diverged, between=between, ends=ends)


WIDE = 5
"""Rows for each column from which a table is probably the wrong way round."""


def _firsts(arm: Ragged) -> np.ndarray:
    return np.array([track.axis[0] for track in arm.tracks])
