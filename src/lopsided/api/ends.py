"""Where runs end: last values of runs of different length are no comparison of arms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.api.curves import Ragged
from lopsided.stats.verdict import Decision

ENDS = "ask for a goal (at), leave short runs out, or say that a rule of their own ended them (ends: own)"


def uneven(arms: Sequence[Ragged]) -> tuple[str, ...]:
    """What is said of arms whose runs end at different places."""
    said = tuple(filter(None, (arm.uneven for arm in arms)))
    return (*said, ENDS) if said else ()


def of_uneven_ends(found: Decision) -> Decision:
    """The decision without what last values of runs of different length would say."""
    return found._replace(verdict="inconclusive", effect=None, interval=(None, None), reason="ends", p_value=None)


def same_runs(baseline: Ragged, candidate: Ragged) -> str:
    """That both sides are the same runs, in words; a comparison of them says nothing."""
    pairs = list(zip(baseline.tracks, candidate.tracks, strict=False))
    same = len(baseline.tracks) == len(candidate.tracks) and all(
        np.array_equal(a.axis, b.axis) and np.array_equal(a.value, b.value) for a, b in pairs
    )
    return "the runs of both sides are the same, value for value" if same else ""
