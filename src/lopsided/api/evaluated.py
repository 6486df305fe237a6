"""Which evaluations of two arms are compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.api.curves import Ragged
from lopsided.stats.crossing import Track
from lopsided.stats.thinned import ALIKE, thinned, times_as_often


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
