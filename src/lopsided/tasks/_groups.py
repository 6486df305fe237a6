"""Finite groups as permutation groups, or given by a multiplication table.

Names: `S4` symmetric, `A5` alternating, `Z7` cyclic, `D4` dihedral (8 elements on 4 points), and direct products
such as `S3xZ2`. The product is composition with the rightmost factor applied first: (p o q)(x) = p(q(x)).
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from typing import NamedTuple

import numpy as np

from lopsided.core.errors import InputError

LARGEST = 5040
"""The order of S7."""
NAMES = "S2..S7, A3..A7, Zn, Dn (n >= 3), products such as S3xZ2, or a multiplication table (list of rows)"


class FiniteGroup(NamedTuple):
    """`table[a, b]` is a o b; `points[a]` is a as a permutation (None if only a table was given)."""

    table: np.ndarray  # (G, G) int32
    points: np.ndarray | None  # (G, degree) int32
    identity: int

    @property
    def order(self) -> int:
        return len(self.table)

    def normal_subgroups(self) -> set[frozenset[int]]:
        """All normal subgroups, the trivial one and the whole group among them."""
        inverse = np.argsort(self.table, axis=1)[:, self.identity]
        closures = {self._closure(frozenset(self.table[self.table[:, a], inverse].tolist())) for a in range(self.order)}
        found = set(closures)
        while True:  # products of normal subgroups are normal, and all of them are such products
            larger = {self._closure(a | b) for a in found for b in closures} - found
            if not larger:
                return found
            found |= larger

    def _closure(self, members: frozenset[int]) -> frozenset[int]:
        """The subgroup that a set generates (in a finite group, products are enough)."""
        while True:
            some = list(members)
            grown = frozenset(self.table[np.ix_(some, some)].ravel().tolist()) | members
            if grown == members:
                return members
            members = grown


@cache
def named(name: str) -> FiniteGroup:
    """The group of that name; elements in lexicographic order of their permutations."""
    factors = [_factor(part, name) for part in name.split("x")]
    order = int(np.prod([len(f) for f in factors]))
    if order > LARGEST:
        raise InputError(f"group = {name!r}: has {order} elements, at most {LARGEST}")
    elements = []
    for combination in itertools.product(*factors):
        shift, element = 0, []
        for part in combination:
            element += [shift + x for x in part]
            shift += len(part)
        elements.append(tuple(element))
    elements.sort()
    points = np.array(elements, np.int32)
    table = _multiplication_table(points)
    return FiniteGroup(table, points, elements.index(tuple(range(points.shape[1]))))


def _multiplication_table(points: np.ndarray) -> np.ndarray:
    """(G, G) table of p o q. Elements are told apart by the images of the fewest leading points that suffice."""
    base = next(m for m in range(1, points.shape[1] + 1) if len(np.unique(points[:, :m], axis=0)) == len(points))
    weight = np.random.default_rng(0).integers(0, 2**63, base, dtype=np.uint64)
    code = (points[:, :base].astype(np.uint64) * weight).sum(1)
    order = np.argsort(code)
    assert (np.diff(code[order]) > 0).all(), "two elements share a code"
    table = np.empty((len(points), len(points)), np.int32)
    for a, p in enumerate(points):
        product = (p[points[:, :base]].astype(np.uint64) * weight).sum(1)
        table[a] = order[np.searchsorted(code[order], product)]
    return table


def _factor(part: str, whole: str) -> list[tuple[int, ...]]:
    match = re.fullmatch(r"([SAZD])(\d{1,4})", part)
    if not match:
        raise InputError(f"group = {whole!r}: valid are {NAMES}")
    kind, n = match[1], int(match[2])
    low, high = {"S": (2, 7), "A": (3, 7), "Z": (2, LARGEST), "D": (3, LARGEST // 2)}[kind]
    if not low <= n <= high:
        raise InputError(f"group = {whole!r}: {kind}n needs n between {low} and {high}")
    if kind in "SA":
        everything = itertools.permutations(range(n))
        return [p for p in everything if kind == "S" or not _odd(p)]
    turns = [tuple((x + r) % n for x in range(n)) for r in range(n)]
    return turns + ([tuple((r - x) % n for x in range(n)) for r in range(n)] if kind == "D" else [])


def _odd(p: tuple[int, ...]) -> bool:
    return sum(a > b for a, b in itertools.combinations(p, 2)) % 2 == 1


def from_table(rows: tuple[tuple[int, ...], ...]) -> FiniteGroup:
    """A group from its multiplication table; every axiom is checked."""
    n = len(rows)
    if not 2 <= n <= 1024 or any(len(row) != n for row in rows):
        raise InputError(f"group: a multiplication table is square with 2 to 1024 rows, got {n} rows")
    table = np.array(rows, np.int64)
    if table.min() < 0 or table.max() >= n:
        raise InputError(f"group: table entries are element numbers 0..{n - 1}, got {table.min()}..{table.max()}")
    everyone = np.arange(n)
    identities = [e for e in range(n) if (table[e] == everyone).all() and (table[:, e] == everyone).all()]
    if not identities:
        raise InputError("group: the table is not a group: it has no identity element")
    if (np.sort(table, 0) != everyone[:, None]).any() or (np.sort(table, 1) != everyone).any():
        raise InputError("group: the table is not a group: some element has no inverse (a row or column repeats)")
    for a in range(n):
        left, right = table[table[a]], table[a][table]
        if (left != right).any():
            b, c = np.argwhere(left != right)[0]
            raise InputError(f"group: the table is not a group: ({a} {b}) {c} differs from {a} ({b} {c})")
    return FiniteGroup(table.astype(np.int32), None, identities[0])
