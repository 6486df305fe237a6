"""Which evaluations of two arms are compared."""

from __future__ import annotations

from collections.abc import Sequence

from lopsided.api.curves import Ragged
from lopsided.stats.crossing import Track
from lopsided.stats.thinned import ALIKE, thinned, times_as_often


def evaluated_alike(baseline: Ragged, candidate: Ragged) -> tuple[tuple[Sequence[Track], Sequence[Track]], str]:
    """Runs of both sides with evaluations as far apart as the other side's, and what was done for that, in words."""
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
