"""Which evaluations of two arms are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lopsided.api.curves import Ragged
from lopsided.stats.bounded import AFTER, ANYWHERE, BENT, NOWHERE, Places
from lopsided.stats.crossing import AT_ONCE, Between, Track, first_there, slopes_at
from lopsided.stats.thinned import ALIKE, thinned, times_as_often
from lopsided.stats.times import Times


def evaluated_alike(baseline: Ragged, candidate: Ragged) -> tuple[tuple[Sequence[Track], Sequence[Track]], str]:
    """Runs of both sides with evaluations as far apart as the other side's, and what was done for that, in words."""
    if baseline.in_time:
        return _alike_by_number(baseline, candidate)
    often = times_as_often(baseline.tracks, candidate.tracks)
    if 1 / ALIKE <= often <= ALIKE:
        return (baseline.tracks, candidate.tracks), ""
    dense, coarse = (baseline, candidate) if often > 1 else (candidate, baseline)
    fewer = thinned(dense.tracks, coarse.tracks)
    said = (
        f"{dense.name} is evaluated {max(often, 1 / often):.2g} times as often as {coarse.name}: only its evaluations "
        f"nearest to those of {coarse.name} count, since the best of more values is better by chance"
    )
    return ((fewer, coarse.tracks) if dense is baseline else (coarse.tracks, fewer)), said


def off_the_line(
    tracks: tuple[Sequence[Track], Sequence[Track]],
    at: float,
    falling: bool,
    crossed: Callable[[tuple[Between, Between]], tuple[Times, Times]],
) -> Places:
    """Where else than on a line between evaluations a comparison of two sides has to hold: nowhere where they have the
    same evaluations about the goal; anywhere where runs get there by a step; and else on another curve. (Of smooth
    curves the worst case would say nothing of the 1 % that records of the GPT-2 speedrun are about, which are evaluated
    every tenth of the run.) `crossed` gives times to the goal."""
    if not elsewhere(tracks, crossed(("before", "before")), crossed(("after", "after"))):
        return NOWHERE
    if any(sharp(side, at, falling) for side in tracks):
        return ANYWHERE
    return (BENT,), "on a line between evaluations and on a bend"


def as_early(
    times: tuple[Times, Times], late: tuple[Times, Times], between: tuple[Between, Between]
) -> tuple[Times, Times]:
    """Times of two sides; of one that is taken as early as its evaluations allow, just after the last one at which a
    run was not there, and at once for a run that was there at its first (its time is that of `late`, the latest)."""
    one, two = (
        own._replace(time=own.time * np.where(~own.censored & (own.time >= latest.time), AT_ONCE, AFTER))
        if where == "before"
        else own
        for own, latest, where in zip(times, late, between, strict=True)
    )
    return one, two


def elsewhere(
    tracks: tuple[Sequence[Track], Sequence[Track]], early: tuple[Times, Times], late: tuple[Times, Times]
) -> bool:
    """Whether two sides were evaluated at different places from the `early` to the `late` end of where their runs
    reached a goal, if runs of both sides did.

    A line between two evaluations is off by a part of their distance, the same for both sides where they have the same
    evaluations; elsewhere, equal arms differ (of a loss that falls by a step, evaluated half a distance later by one
    side, 65 % of 300 pairs were told apart: tests.reference.other_places). Where the runs of a side have evaluations of
    their own, the numbers of evaluations are compared.
    """
    first, last = ([each.time[~each.censored] for each in pair] for pair in (early, late))
    if not all(each.size for each in first):
        return False
    low, high = float(np.concatenate(first).min()) / AFTER**2, float(np.concatenate(last).max())
    if any((a >= b).any() for a, b in zip(first, last, strict=True)):  # there at the first evaluation, perhaps before
        low = 0.0
    one, two = (_places(side, low, high) for side in tracks)
    if one is None or two is None:
        often = times_as_often(*tracks)
        return not 1 / FARTHER <= often <= FARTHER
    end = min(max(float(track.axis[-1]) for track in side) for side in tracks) * ROUNDED
    one, two = one[one <= end], two[two <= end]
    return len(one) != len(two) or not np.allclose(one, two, rtol=ROUNDED - 1, atol=0)


FARTHER = 1.1
"""Ratio of the numbers of evaluations from which on a line between them favours a side. At 1.2, with distances of a
tenth of the time to learn and 20 runs of each side that spread by 0.5 %, 16 % of 300 equal arms were told apart."""
ROUNDED = 1 + 1e-9
"""Factor by which a place may have been rounded."""


def sharp(tracks: Sequence[Track], at: float, falling: bool) -> bool:
    """Whether evaluations are too far apart for the curves of half of the runs that reach a goal: slopes before,
    between and after the two evaluations about it are far from one another. Where between them a run is there, nobody
    knows then."""
    sign, steps = (-1.0 if falling else 1.0), []
    for track in tracks:
        if first := first_there(track, sign, at):  # neither None nor 0, before which nothing is known
            slopes = slopes_at(track, first, sign)[: 2 if first + 1 == len(track.axis) else 3]
            ratios = slopes[1:] / np.maximum(slopes[:-1], TINY * slopes.max())
            steps.append(not ((ratios < STEEPER) & (ratios > 1 / STEEPER)).all())
    return bool(steps) and float(np.mean(steps)) >= 0.5


STEEPER = 3.0
"""How many times as steep neighbouring slopes are at most. Of an exponential decay, evaluated every time constant, they
differ by 2.7."""
TINY = 1e-9
"""Share of the largest slope below which a slope is none."""


def _places(tracks: Sequence[Track], low: float, high: float) -> np.ndarray | None:
    """Where all runs of a side were evaluated, as far as each of them goes; None where they have places of their
    own."""
    every = np.unique(np.concatenate([track.axis for track in tracks]))
    every = every[(every >= low) & (every <= high)]
    for track in tracks:
        own = track.axis[(track.axis >= low) & (track.axis <= high)]
        if not np.array_equal(own, every[every <= track.axis[-1]]):
            return None
    return every


def by_number(one: Sequence[Track], two: Sequence[Track]) -> bool:
    """Whether evaluations of two sides along a clock belong together by their number: a side that is slower has the
    same ones at other seconds, at about the same shares of its run."""
    first, second = (sorted(side, key=lambda track: len(track.axis))[len(side) // 2].axis for side in (one, two))
    if len(first) != len(second) or len(first) < 2:
        return False
    return bool(np.abs(first / first[-1] - second / second[-1]).max() <= NEAR / (len(first) - 1))


NEAR = 0.25
"""Share of the distance of evaluations up to which two places are one. Not varied."""


def _alike_by_number(baseline: Ragged, candidate: Ragged) -> tuple[tuple[Sequence[Track], Sequence[Track]], str]:
    """Runs of both sides along a clock: as many of one side's evaluations count as the other has, from its first to its
    last, since a side that is slower, or that paused, has them elsewhere."""
    numbers = [int(np.median([len(track.axis) for track in arm.tracks])) for arm in (baseline, candidate)]
    if max(numbers) <= ALIKE * min(numbers):
        return (baseline.tracks, candidate.tracks), ""
    dense, coarse = (baseline, candidate) if numbers[0] > numbers[1] else (candidate, baseline)
    fewer = [_some(track, min(numbers)) for track in dense.tracks]
    said = (
        f"{dense.name} is evaluated {max(numbers)} times, {coarse.name} {min(numbers)} times: only as many count, "
        "since the best of more values is better by chance"
    )
    return ((fewer, coarse.tracks) if dense is baseline else (coarse.tracks, fewer)), said


def _some(track: Track, number: int) -> Track:
    keep = np.unique(np.linspace(0, len(track.axis) - 1, number).round().astype(int))
    return track._replace(axis=track.axis[keep], value=track.value[keep])
