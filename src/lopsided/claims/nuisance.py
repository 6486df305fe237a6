"""Settings on which no claim of a recipe should depend: somebody chose them, often after looking."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

MOST_TRIES = 100
"""Draws in a row that give nothing new, after which there is no further neighbour. Of the 53 neighbours that
the usual settings allow, at least 47 are drawn with each of 200 keys."""


class Nuisance(NamedTuple):
    """A setting that a recipe's claims should not depend on, and what to try in its place.

    `field` is its path in a spec (`model.width`). A neighbouring run either multiplies what each arm has by one of
    `times`, or gives all arms one of `values`.
    """

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


# Far enough to be another setting, near enough to be the same experiment: a factor of two, as grids of widths and
# batches have it, and for the rate 1.5, the step of our sweeps. Fewer steps would only add runs that are too short.
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
    # From the key alone, so that another machine draws the same ones, and the first eight of sixteen are the eight.
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
