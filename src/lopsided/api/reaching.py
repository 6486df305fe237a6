"""Whether one arm gets to a target."""

from __future__ import annotations

import numpy as np

from lopsided.api.curves import Ragged
from lopsided.api.ends import SHORT, of_uneven_ends
from lopsided.api.scales import require_above, require_scale
from lopsided.api.verdict import Verdict
from lopsided.stats.target import at_target
from lopsided.stats.verdict import Claim


def reaches(
    arm: Ragged, at: float, metric: str, falling: bool, level: float = 0.01, notes: tuple[str, ...] = ()
) -> Verdict:
    """The mean of an arm's last values is at `at` or beyond it: Student's t, one-sided, at `level`. Notes say at which
    evaluation the mean is there for the first time, and where between evaluations, with an interval."""
    require_above("at", at, -np.inf)
    require_above("level", level, 0.0)
    require_scale(at, metric, [arm])
    found, more = at_target(arm.tracks, at, falling, level, arm.unit)
    if arm.uneven:
        found, more = of_uneven_ends(found), (arm.uneven, SHORT)
    said = f"{arm.name}'s mean final {metric} is {'at most' if falling else 'at least'} {at:g}"
    return Verdict(Claim.of(said, found._replace(unit=f"final {metric}, minus {at:g}")), (*notes, *more))
