"""Claims decided from stored runs. The default is `inconclusive`; nothing here looks at what a paper reported."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from lopsided.stats.compare import Comparison, compare_gaps, compare_times, compare_values, log_rank_p, mean_interval
from lopsided.stats.slopes import PowerLaw
from lopsided.stats.times import Times

Verdict = Literal["holds", "contradicted", "inconclusive", "not run"]
LEVEL = 0.05
ROUNDING = 1e-9


@dataclass(frozen=True)
class Claim:
    """One falsifiable sentence with what was measured.

    `effect` and `interval` are in the unit that `measure` names; None where nothing (or no bound) is known.
    """

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


def _equivalent(low: float, high: float, expected: float, within: float) -> Verdict:
    """Whether an interval lies inside expected +- within, outside, or across an end."""
    if expected - within <= low and high <= expected + within:
        return "holds"
    return "contradicted" if high < expected - within or low > expected + within else "inconclusive"


def _beyond(low: float, high: float) -> Verdict:
    """Whether an interval lies above 0, below, or across; equality up to rounding decides nothing."""
    return "holds" if low > ROUNDING else "contradicted" if high < -ROUNDING else "inconclusive"


@dataclass(frozen=True)
class Statement:
    """A claim's fixed part: what is said, and what the paper reported."""

    claim: str
    paper: str

    def not_run(self, recipe: str, scale: str) -> Claim:
        """The claim before anything was measured."""
        return Claim(recipe, self.claim, self.paper, "", None, (None, None), "not run", 0, scale, "")

    def faster(self, recipe: str, scale: str, slow: Times, fast: Times, axis: str, at_least: float = 1.0) -> Claim:
        """`fast` learns in less of `axis` than `slow`, by more than a factor `at_least`."""
        c = compare_times(slow, fast, at_least)
        test = f"log-rank permutation p = {c.p_value:.3g}; bootstrap interval of the ratio of medians"
        measure = f"ratio of median {axis} to learn"
        return self._decided(recipe, scale, c, at_least, measure, len(slow.time) + len(fast.time), test)

    def closed(self, recipe: str, scale: str, slow: Times, fast: Times, axis: str, within: float = 1.25) -> Claim:
        """Neither arm is more than a factor `within` faster (an equivalence: the interval has to lie inside)."""
        c = compare_times(slow, fast)
        above, below = (log_rank_p(slow, fast, bound) for bound in (within, 1 / within))
        verdict: Verdict = "inconclusive"
        if c.low >= 1 / within and c.high <= within and max(above, below) <= LEVEL:
            verdict = "holds"
        elif (c.low > within and above <= LEVEL) or (c.high < 1 / within and below <= LEVEL):
            verdict = "contradicted"
        test = (
            f"bootstrap interval of the ratio of medians inside {1 / within:.3g} to {within:.3g}; "
            f"log-rank permutation p = {below:.3g} and {above:.3g} against the two ends"
        )
        members = len(slow.time) + len(fast.time)
        return self._claim(
            recipe, scale, f"ratio of median {axis} to learn", c.effect, c.low, c.high, verdict, members, test
        )

    def not_ahead(self, recipe: str, scale: str, slow: Times, fast: Times, axis: str, within: float = 1.25) -> Claim:
        """`fast` is not more than a factor `within` ahead (one side of `closed`)."""
        c, p_value = compare_times(slow, fast), log_rank_p(slow, fast, within)
        verdict = _beyond(within - c.high, within - c.low) if p_value <= LEVEL else "inconclusive"
        test = f"log-rank permutation p = {p_value:.3g}; bootstrap interval of the ratio of medians below {within:.3g}"
        members = len(slow.time) + len(fast.time)
        return self._claim(
            recipe, scale, f"ratio of median {axis} to learn", c.effect, c.low, c.high, verdict, members, test
        )

    def wider(
        self, recipe: str, scale: str, narrow: tuple[Times, Times], wide: tuple[Times, Times], axis: str
    ) -> Claim:
        """The gap slow / fast of `wide` exceeds that of `narrow`."""
        c = compare_gaps(narrow, wide)
        verdict = _beyond(c.low - 1, c.high - 1)
        members = sum(len(t.time) for t in (*narrow, *wide))
        test = "bootstrap error of the log ratio of medians, Student's quantile"
        return self._claim(
            recipe,
            scale,
            f"ratio of two gaps in median {axis} to learn",
            c.effect,
            c.low,
            c.high,
            verdict,
            members,
            test,
        )

    def higher(self, recipe: str, scale: str, low: np.ndarray, high: np.ndarray, what: str) -> Claim:
        """`high`'s final values exceed `low`'s."""
        c = compare_values(low, high)
        test = f"rank permutation p = {c.p_value:.3g}; bootstrap interval of the difference of medians"
        return self._decided(recipe, scale, c, 0.0, f"difference of median {what}", len(low) + len(high), test)

    def below(self, recipe: str, scale: str, values: np.ndarray, bound: float, what: str) -> Claim:
        """The mean of `values` stays below `bound`."""
        mean, low, high = mean_interval(values)
        verdict = _beyond(bound - high, bound - low)
        return self._claim(recipe, scale, f"mean {what}", mean, low, high, verdict, len(values), "Student's interval")

    def above(self, recipe: str, scale: str, values: np.ndarray, bound: float, what: str) -> Claim:
        """The mean of `values` stays above `bound`."""
        mean, low, high = mean_interval(values)
        verdict = _beyond(low - bound, high - bound)
        return self._claim(recipe, scale, f"mean {what}", mean, low, high, verdict, len(values), "Student's interval")

    def near(self, recipe: str, scale: str, values: np.ndarray, expected: float, within: float, what: str) -> Claim:
        """The mean of `values` equals `expected` up to `within` (an equivalence, as in `slope`)."""
        mean, low, high = mean_interval(values)
        test = f"Student's interval inside {expected:.3g} ± {within:.2g}"
        verdict = _equivalent(low, high, expected, within)
        return self._claim(recipe, scale, f"mean {what}", mean, low, high, verdict, len(values), test)

    def slope(self, recipe: str, scale: str, law: PowerLaw, expected: float, within: float, of: str) -> Claim:
        """The slope equals `expected` up to `within`: its interval lies inside expected +- within (an equivalence).

        Contradicted if the interval lies outside; inconclusive if it straddles an end.
        """
        verdict = _equivalent(law.low, law.high, expected, within)
        return self._slope_claim(recipe, scale, law, verdict, f"inside {expected:.3g} ± {within:.2g}", of)

    def at_most(self, recipe: str, scale: str, law: PowerLaw, bound: float, of: str) -> Claim:
        """The slope lies below `bound`."""
        verdict = _beyond(bound - law.high, bound - law.low)
        return self._slope_claim(recipe, scale, law, verdict, f"below {bound:.3g}", of)

    def at_least(self, recipe: str, scale: str, law: PowerLaw, bound: float, of: str) -> Claim:
        """The slope lies above `bound`."""
        verdict = _beyond(law.low - bound, law.high - bound)
        return self._slope_claim(recipe, scale, law, verdict, f"above {bound:.3g}", of)

    def _slope_claim(self, recipe: str, scale: str, law: PowerLaw, verdict: Verdict, where: str, of: str) -> Claim:
        ends = " to ".join(f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (law.begins, law.ends))
        window = f"from {ends}, {of.rsplit(' against ', 1)[-1]}"
        test = f"interval {where} (bootstrap error, Student's quantile); power law {window}"
        return self._claim(recipe, scale, f"slope of {of}", law.slope, law.low, law.high, verdict, law.members, test)

    def _decided(
        self, recipe: str, scale: str, c: Comparison, null: float, measure: str, members: int, test: str
    ) -> Claim:
        significant = c.p_value <= LEVEL
        verdict: Verdict = "inconclusive"
        if significant and c.low > null:
            verdict = "holds"
        elif significant and c.high < null:
            verdict = "contradicted"
        return self._claim(recipe, scale, measure, c.effect, c.low, c.high, verdict, members, test)

    def _claim(
        self,
        recipe: str,
        scale: str,
        measure: str,
        effect: float,
        low: float,
        high: float,
        verdict: Verdict,
        members: int,
        test: str,
    ) -> Claim:
        known = [None if not np.isfinite(v) else float(v) for v in (effect, low, high)]
        return Claim(
            recipe, self.claim, self.paper, measure, known[0], (known[1], known[2]), verdict, members, scale, test
        )
