"""Numbers that cannot be meant: percentages among shares, goals that nobody can reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lopsided.api.curves import Ragged
from lopsided.core.errors import InputError
from lopsided.stats.times import rises


def require_one_scale(metric: str, arms: Sequence[Ragged]) -> None:
    """Raise `InputError` where one side has shares and the other percentages."""
    most = [max(float(np.max(track.value)) for track in arm.tracks) for arm in arms]
    if not (rises(metric) and "acc" in metric.lower()):
        return
    for arm, highest in zip(arms, most, strict=True):
        least = min(float(np.max(track.value)) for track in arm.tracks)
        if highest > 1.5 and least <= 1:
            raise InputError(
                f"compare: {metric} of some runs of {arm.name!r} goes up to {highest:g}, of others to {least:g}: in "
                "percent and as shares; give all as one"
            )
    if min(most) <= 1 and max(most) > 1.5:
        shares, percent = (arms[most.index(f(most))].name for f in (min, max))
        raise InputError(
            f"compare: {metric} of {percent!r} is in percent, that of {shares!r} a share; give both as one"
        )


def require_scale(at: float, metric: str, arms: Sequence[Ragged]) -> None:
    """Raise `InputError` for a goal in percent where values are shares, or the other way round."""
    most = max(float(np.max(track.value)) for arm in arms for track in arm.tracks)
    if rises(metric) and most <= 1 and (at > 1.5 or (at > 1 and "acc" in metric.lower())):
        raise InputError(f"at = {at:g}: {metric} is at most {most:g}, a share; {at:g} in percent is {at / 100:g}")
    if rises(metric) and "acc" in metric.lower() and at <= 1 and most > 1.5:
        raise InputError(f"at = {at:g}: {metric} goes up to {most:g}, in percent; valid is {100 * at:g}")


def require_above(name: str, value: Any, above: float) -> None:
    """Raise `InputError` for what is no finite number above a bound."""
    if not (isinstance(value, (int, float, np.number)) and above < value < np.inf):
        raise InputError(f"{name} = {value!r}: a number" + (f" above {above:g}" if np.isfinite(above) else ""))
