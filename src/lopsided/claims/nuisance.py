"""Settings on which no claim of a recipe should depend: somebody chose them, often after looking."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

MOST_TRIES = 100
"""Draws in a row that give nothing new, after which there is no further neighbour."""


class Nuisance(NamedTuple):
    """A setting by its path in a spec, and what it may be instead: `times` its own value in every arm that has it, or
    one of `values` in all arms."""

    field: str
    times: tuple[float, ...] = ()
    values: tuple[Any, ...] = ()

    @property
    def changes(self) -> tuple[str, ...]:
        """Changes by hand, as `--set` takes them."""
        return (
            *(f"{self.field}*={factor:g}" for factor in self.times),
            *(f"{self.field}={value}" for value in self.values),
        )


USUAL = (
    Nuisance("model.width", times=(0.5, 2)),
    Nuisance("optimizer.lr", times=(0.667, 1.5)),
    Nuisance("plan.batch", times=(0.5, 2)),
    Nuisance("steps", times=(2,)),
)
"""What a recipe is tried at if it names nothing else: settings that hardly any paper's sentence is about."""


def drawn(key: str, nuisances: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Neighbouring settings, each a few changes by hand, from a key: nobody picks them. `nuisances` has the changes of
    each setting that are possible. Every setting is changed with probability 1/2, at least one; none comes twice."""
    random = np.random.default_rng(list(hashlib.sha256(key.encode()).digest()))
    seen, tries = set[tuple[str, ...]](), 0
    while tries < MOST_TRIES:
        chosen = [each[int(random.integers(len(each)))] for each in nuisances]
        found = tuple(change for change in chosen if random.random() < 0.5)
        tries += 1
        if found and found not in seen:
            seen.add(found)
            tries = 0
            yield found


def swept_fields(settings: Mapping[str, Any], swept: Sequence[str]) -> set[str]:
    """The fields of a spec that a sweep of these coordinates moves: `lr` is `optimizer.lr`."""
    return {field for field in settings if field.rpartition(".")[2] in swept}
