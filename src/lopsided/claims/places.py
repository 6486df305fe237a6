"""Arms by their coordinates, before they are trained and after; what is mistyped is named with the nearest name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from lopsided.core.arms import kept_name, lies
from lopsided.core.errors import InputError, unknown

At = Mapping[str, Any]
"""Coordinates of arms: `{"data": "fresh", "alpha": lambda a: a > 1}`. None asks for arms without that coordinate."""


class Placed(Protocol):
    """An arm as planned (`ArmSpec`) or as trained (`Arm`)."""

    @property
    def coordinates(self) -> Mapping[str, Any]: ...

    @property
    def swept(self) -> tuple[str, ...]: ...


Arms = Mapping[str, Placed]
Each = TypeVar("Each", bound=Placed)


def arms_at(arms: Mapping[str, Each], at: At) -> dict[str, Each]:
    """The arms that lie at these coordinates, by name. Raises `InputError` with the nearest name if there is none."""
    found = {name: arm for name, arm in arms.items() if lies(arm.coordinates, at)}
    if not found:
        raise _nothing_at(arms, at)
    return found


def the_arm_at(arms: Mapping[str, Each], at: At) -> str:
    """The name of the one arm at these coordinates. Raises `InputError` if there are several: a test that reads one
    would find out after all are trained."""
    found = list(arms_at(arms, at))
    if len(found) > 1:
        raise InputError(f"one arm has to lie at {dict(at)}, found {', '.join(found[:6])}; give more coordinates")
    return found[0]


def groups_at(arms: Mapping[str, Each], at: At) -> list[dict[str, Each]]:
    """The arms at these coordinates by sweep: arms that differ in swept settings only are one group."""
    found: dict[str, dict[str, Each]] = {}
    for name, arm in arms_at(arms, at).items():
        found.setdefault(kept_name(arm.coordinates, arm.swept), {})[name] = arm
    return list(found.values())


def group_names(arms: Arms, at: At, frozen: Sequence[str]) -> list[str]:
    """Names of the arms there; of each sweep whose best one is `frozen`, that one alone."""
    every = [list(group) for group in groups_at(arms, at)]
    return [name for group in every for name in ([n for n in group if n in frozen] or group)]


def best_names(arms: Arms, at: At, frozen: Sequence[str]) -> list[str]:
    """The first of `frozen` that lies there, which is the best of all of these sweeps; without one, all arms there."""
    found = arms_at(arms, at)
    return next(([name] for name in frozen if name in found), list(found))


def _nothing_at(arms: Arms, at: At) -> InputError:
    """Which coordinate, or which value, no arm has."""
    keys = {key for arm in arms.values() for key in arm.coordinates}
    for key, value in at.items():
        if key not in keys and value is not None:
            return unknown("coordinate", key, sorted(keys))
    for key, value in at.items():
        values = dict.fromkeys(str(arm.coordinates[key]) for arm in arms.values() if key in arm.coordinates)
        plain = not callable(value) and value is not None
        if plain and not any(arm.coordinates.get(key) == value for arm in arms.values()):
            return unknown(f"{key} of an arm", str(value), list(values))
    return InputError(f"no arm lies at {dict(at)}; there are {', '.join(list(arms)[:12])}")
