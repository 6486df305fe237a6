"""How often verdicts are wrong, and how often an effect is found, by simulation.

python -m tests.reference.calibration [trials]      # the table of docs/deciding.md

Log times of two arms share a seed's part (correlation .4). `never`: share of the members of an arm with the usual
spread that do not learn within the budget, which both arms have.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from lopsided.stats import decisions
from lopsided.stats.slopes import of_points
from lopsided.stats.times import Times
from lopsided.stats.verdict import Verdict

SIZES = (8, 16, 24, 64)
SPREAD, UNEQUAL = (0.5, 0.5), (0.2, 0.8)
"""Standard deviations of the two arms' log times."""
SHARED = 0.4
SETTINGS = np.array([8.0, 16.0, 32.0, 64.0])
Draw = Callable[[np.random.Generator, int], Verdict]


class Case(NamedTuple):
    """A kind of claim under a truth."""

    kind: str
    truth: str
    wrong: tuple[Verdict, ...]
    """Verdicts that are wrong under this truth; none: `right` is right."""
    draw: Draw
    limit: bool = False
    """A known limit of the test, which is printed and not asked for: see docs/deciding.md."""
    right: Verdict = "holds"


def logs(rng: np.random.Generator, n: int, spread: tuple[float, float], shared: float = SHARED) -> np.ndarray:
    """(2, n) log times of two arms."""
    common, own = rng.standard_normal(n), rng.standard_normal((2, n))
    return (shared**0.5 * common + (1 - shared) ** 0.5 * own) * np.array(spread)[:, None]


def cut(log_times: np.ndarray, never: float) -> Times:
    budget = np.inf if never == 0 else np.exp(SPREAD[0] * QUANTILE[never])
    return Times(np.minimum(np.exp(log_times), budget), np.exp(log_times) > budget)


QUANTILE = {0.15: 1.0364, 0.3: 0.5244, 0.6: -0.2533}
"""Of the normal distribution: so many standard deviations lie above with this probability."""


def arms(rng: np.random.Generator, n: int, ratio: float, spread: tuple[float, float], never: float) -> list[Times]:
    slow, fast = logs(rng, n, spread)
    return [cut(slow + np.log(ratio), never), cut(fast, never)]


def cases() -> Iterator[Case]:
    for never in (0, 0.3, 0.6):
        at = f", {never:.0%} never" if never else ""
        for name, spread in (("", SPREAD), (", unequal spread", UNEQUAL)):
            yield Case(
                "faster", f"equal medians{name}{at}", ("holds", "contradicted"),
                lambda rng, n, s=spread, q=never: decisions.faster(*arms(rng, n, 1, s, q), "steps").verdict,
                limit=never == 0.6 and spread == UNEQUAL,
            )  # fmt: skip
        for ratio in (1.25, 1.5):
            yield Case(
                "faster", f"{ratio:g} times{at}", (),
                lambda rng, n, r=ratio, q=never: decisions.faster(*arms(rng, n, r, SPREAD, q), "steps").verdict,
            )  # fmt: skip
        yield Case(
            "as fast", f"1.25 times, the bound{at}", ("holds",),
            lambda rng, n, q=never: decisions.as_fast(*arms(rng, n, 1.25, SPREAD, q), "steps").verdict,
        )  # fmt: skip
        yield Case(
            "faster", f"1.25 times: not negligible{at}", ("negligible", "contradicted"),
            lambda rng, n, q=never: decisions.faster(*arms(rng, n, 1.25, SPREAD, q), "steps").verdict,
        )  # fmt: skip
        yield Case(
            "not ahead", f"1.25 times, the bound{at}", ("holds", "contradicted"),
            lambda rng, n, q=never: decisions.not_ahead(*arms(rng, n, 1.25, SPREAD, q), "steps").verdict,
        )  # fmt: skip
    tight = (0.2, 0.2)
    for ratio, wrong in ((1.25, ("negligible", "contradicted")), (1.0, ())):
        yield Case(
            "faster", f"{ratio:g} times, spread .2: {'not ' if wrong else ''}negligible", wrong,
            lambda rng, n, r=ratio: decisions.faster(*arms(rng, n, r, tight, 0), "").verdict, right="negligible",
        )  # fmt: skip
    yield Case(
        "as fast", "equal, spread .2", (), lambda rng, n: decisions.as_fast(*arms(rng, n, 1, tight, 0), "").verdict
    )
    for never in (0, 0.3):
        at = f", {never:.0%} never" if never else ""
        yield Case("wider", f"equal gaps{at}", ("holds", "contradicted"), _gaps(1.0, never))
        yield Case("wider", f"twice the gap{at}", (), _gaps(2.0, never))
    at = "the narrow gap's slow arm: 15% never"
    yield Case("wider", f"equal gaps, {at}", ("holds", "contradicted"), _gaps(1.0, 0, 0.15))
    yield Case("wider", f"four times the gap, {at}", (), _gaps(4.0, 0, 0.15))
    for name, spread in (("", SPREAD), (", unequal spread", UNEQUAL)):
        yield Case("higher", f"equal{name}", ("holds", "contradicted"), _values(0.0, spread))
    yield Case("higher", "one standard deviation", (), _values(0.5, SPREAD))
    yield Case(
        "below", "lognormal at the bound", ("holds", "contradicted"),
        lambda rng, n: decisions.below(rng.lognormal(0, 0.8, n), 1.0, "", ratio=True).verdict,
    )  # fmt: skip
    yield Case(
        "above", "a ratio of 1.25, spread .2: not negligible", ("negligible", "contradicted"),
        lambda rng, n: decisions.above(1.25 * rng.lognormal(0, 0.2, n), 1.0, "", ratio=True).verdict,
    )  # fmt: skip
    yield Case(
        "near", "at the bound", ("holds",),
        lambda rng, n: decisions.near(rng.normal(1.1, 0.2, n), 1.0, 0.1, "").verdict,
    )  # fmt: skip
    yield Case(
        "near", "a ratio at the bound, spread .4", ("holds",),
        lambda rng, n: decisions.near(1.1 * rng.lognormal(0, 0.4, n), 1.0, 0.1, "", ratio=True).verdict,
    )  # fmt: skip
    yield Case(
        "near", "a ratio of 1, spread .4", ("contradicted",),
        lambda rng, n: decisions.near(rng.lognormal(0, 0.4, n), 1.0, 0.1, "", ratio=True).verdict,
    )  # fmt: skip
    yield Case(
        "members above", "two thirds, the bound", ("holds", "contradicted"),
        lambda rng, n: decisions.members_above(rng.random(n) < 2 / 3, 2 / 3, "").verdict,
    )  # fmt: skip
    yield Case(
        "slope below", "at the bound", ("holds", "contradicted"),
        lambda rng, n: decisions.slope_below(_law(rng, n, -0.5), -0.5, "a against b").verdict,
    )  # fmt: skip
    yield Case(
        "slope near", "at the bound", ("holds",),
        lambda rng, n: decisions.slope_near(_law(rng, n, -0.6), -0.5, 0.1, "a against b").verdict,
    )  # fmt: skip
    yield Case(
        "slope near", "equal", (),
        lambda rng, n: decisions.slope_near(_law(rng, n, -0.5), -0.5, 0.1, "a against b").verdict,
    )  # fmt: skip


def _gaps(ratio: float, never: float, narrow_never: float = 0) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Verdict:
        slow, fast = logs(rng, n, SPREAD)
        narrow = cut(slow, narrow_never), cut(fast, 0)
        slow, fast = logs(rng, n, SPREAD)
        return decisions.wider((narrow[0], narrow[1]), (cut(slow + np.log(ratio), never), cut(fast, 0)), "").verdict

    return draw


def _values(shift: float, spread: tuple[float, float]) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Verdict:
        low, high = logs(rng, n, spread)
        return decisions.higher(low, high + shift, "").verdict

    return draw


def _law(rng: np.random.Generator, n: int, slope: float):
    return of_points(SETTINGS, SETTINGS**slope * rng.lognormal(0, 0.3, (n, len(SETTINGS))))


def share(case: Case, n: int, trials: int, seed: int = 0) -> float:
    """Share of trials with a wrong verdict, or with the right one where there is one."""
    rng = np.random.default_rng([seed, n])
    found = [case.draw(rng, n) for _ in range(trials)]
    return sum(v in (case.wrong or (case.right,)) for v in found) / trials


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    every = list(cases())
    for wrong, title in ((True, "wrong verdicts, %"), (False, "the right verdict, %")):
        print(f"| claim | truth | {title}: 8 seeds | 16 | 24 | 64 |\n|---|---|---|---|---|---|", flush=True)
        for case in every:
            if bool(case.wrong) == wrong:
                row = " | ".join(f"{100 * share(case, n, asked):.1f}" for n in SIZES)
                print(f"| {case.kind} | {case.truth} | {row} |", flush=True)
        print()
