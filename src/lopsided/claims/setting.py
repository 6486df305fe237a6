"""How far the arms that a claim reads are from those of the paper: computed from the two specs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lopsided.claims.places import Placed
from lopsided.core.arms import ArmSpec, kept_name
from lopsided.core.flat import flat
from lopsided.core.spec import Spec
from lopsided.stats.verdict import Difference

LEFT_OUT = ("evaluation", "probes", "until")
"""How a run is watched changes nothing of what it learns."""
MOST = 24
"""Arms that are compared, evenly picked: the thousands of cells of a heat map differ from the paper's in the same
fields."""


def settings_of(spec: Spec) -> dict[str, Any]:
    """What decides what a spec learns, by path."""
    data = spec.model_dump(mode="json")
    return flat({key: value for key, value in data.items() if key not in LEFT_OUT})


class Counterparts:
    """Arms at the paper's scale, found by the arms of another scale."""

    def __init__(self, paper: Mapping[str, ArmSpec]):
        self.arms = list(paper.values())
        self._by_name: dict[str, ArmSpec] = {}
        for arm in self.arms:
            self._by_name.setdefault(kept_name(arm.coordinates, arm.swept), arm)

    def of(self, arm: Placed) -> ArmSpec:
        """The arm that shares most coordinates with this one, swept settings apart; the first of several."""
        name = kept_name(arm.coordinates, arm.swept)
        if name not in self._by_name:
            here = [(key, value) for key, value in arm.coordinates.items() if key not in arm.swept]
            shared = lambda other: sum(other.coordinates.get(key) == value for key, value in here)
            self._by_name[name] = max(self._by_name.values(), key=shared)
        return self._by_name[name]


def differences(arms: Sequence[ArmSpec], paper: Counterparts) -> tuple[Difference, ...]:
    """Fields in which any of `arms` differs from its counterpart, each once for every pair of values; swept settings
    apart, which are chosen anew at each scale."""
    found: dict[tuple[str, str, str], Difference] = {}
    for arm in arms[:: -(-len(arms) // MOST)] if arms else ():
        other = paper.of(arm)
        here, there = settings_of(arm.spec), settings_of(other.spec)
        chosen = _chosen(arm)
        for field in dict.fromkeys([*here, *there]):
            one, two = here.get(field), there.get(field)
            if one != two and field not in chosen:
                found.setdefault((field, repr(one), repr(two)), Difference(field, one, two))
    return tuple(found.values())


class Apart(NamedTuple):
    """A difference from the paper's setting, and the arms that have it."""

    difference: Difference
    arms: tuple[str, ...]
    """Names without swept settings; empty: all arms."""


def apart(arms: Mapping[str, ArmSpec], paper: Mapping[str, ArmSpec]) -> list[Apart]:
    """In which fields a recipe's arms differ from their counterparts at the paper's scale; those of all arms first."""
    counterparts = Counterparts(paper)
    first: dict[str, ArmSpec] = {}
    for arm in arms.values():
        first.setdefault(kept_name(arm.coordinates, arm.swept), arm)
    found: dict[tuple[str, str, str], tuple[Difference, list[str]]] = {}
    for name, arm in first.items():
        for each in differences([arm], counterparts):
            key = each.field, repr(each.here), repr(each.paper)
            found.setdefault(key, (each, []))[1].append(name)
    rows = [Apart(each, () if len(names) == len(first) else tuple(names)) for each, names in found.values()]
    return sorted(rows, key=lambda row: bool(row.arms))


def _chosen(arm: ArmSpec) -> set[str]:
    """Fields that swept settings change: those in which the arm differs from itself at other values."""
    if not arm.swept or arm.make is None:
        return set()
    here = settings_of(arm.spec)
    found = set()
    for key in arm.swept:
        point = {k: float(arm.coordinates[k]) for k in arm.swept}
        moved = settings_of(arm.make(**{**point, key: 0.9 * point[key]}))
        found |= {field for field in {*here, *moved} if here.get(field) != moved.get(field)}
    return found
