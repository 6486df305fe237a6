"""Which example a cell's turn takes: epoch after epoch, each shuffled anew, never stored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.data.permutation import permuted, permuted_by_one
from lopsided.data.words import Key, U, bits, key, word


class Members(NamedTuple):
    """Examples by cell, each cell's in an order of which a prefix is a subset; C cells, N examples."""

    example: np.ndarray
    """(N,)"""
    begins: np.ndarray
    """(C + 1,) where each cell begins."""


class Epochs(NamedTuple):
    """A cell's turns from `begin` on: first an epoch of the `rest` first examples of its subset, then whole ones."""

    key: Key
    salt: np.ndarray
    """(C,) uint64, a random word of each cell."""
    begin: np.ndarray
    """(C,) turns of each cell before these epochs."""
    rest: np.ndarray
    """(C,) examples of the first epoch, `size` or fewer."""
    size: np.ndarray
    """(C,) examples of the subset that is drawn from."""
    members: Members

    def examples(self, cell: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """(n,) int64 examples at turns (n,) of cells (n,)."""
        place, size = turn - self.begin[cell], self.size[cell]
        if self.rest is self.size:  # nearly always: no change of the data, and twice as fast
            epoch = place // size
            place -= epoch * size
        else:
            rest = self.rest[cell]
            first = place < rest
            epoch = np.where(first, 0, 1 + (place - rest) // size)
            place = np.where(first, place, (place - rest) % size)
            size = np.where(first, rest, size)
        words = bits(self.key, self.salt[cell] + epoch.view(U))
        of_subset = permuted(words, place.astype(np.uint32), size.astype(np.uint32))
        return self.members.example[self.members.begins[cell] + of_subset].astype(np.int64)

    def this_epoch(self, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(C,) turns since the last epoch of each cell ended, and how long its epoch now is, after `turns` (C,)."""
        size = np.maximum(self.size, 1)
        had = turns - self.begin
        later = had - self.rest
        return np.where(later < 0, had, later % size), np.where(later < 0, self.rest, self.size)

    def visited(self, turns: np.ndarray) -> np.ndarray:
        """(N,) whether each example came in the epoch that its cell is in after `turns` (C,)."""
        since, _ = self.this_epoch(turns)
        found = np.zeros(len(self.members.example), bool)
        found[self._last(since, turns)] = True
        return found

    def visits(self, turns: np.ndarray) -> np.ndarray:
        """(N,) how often each example came from `begin` until `turns` (C,)."""
        had = np.maximum(turns - self.begin, 0)
        over = np.maximum(had - self.rest, 0) // np.maximum(self.size, 1)
        sizes = np.diff(self.members.begins)
        rank = np.arange(len(self.members.example)) - np.repeat(self.members.begins[:-1], sizes)
        of_first = (had >= self.rest) & (self.rest > 0)
        count = np.where(rank < np.repeat(self.size, sizes), np.repeat(over, sizes), 0)
        count += (rank < np.repeat(self.rest, sizes)) & np.repeat(of_first, sizes)
        found = np.zeros(len(self.members.example), np.int64)
        found[self.members.example] = count
        since, _ = self.this_epoch(np.maximum(turns, self.begin))
        found[self._last(since, np.maximum(turns, self.begin))] += 1
        return found

    def _last(self, since: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """Examples of the last `since` (C,) turns of each cell before `turns`; of one cell, each once."""
        cell = np.repeat(np.arange(len(since)), since)
        turn = np.arange(len(cell)) + np.repeat(turns - np.cumsum(since), since)
        return self.examples(cell, turn) if len(cell) else np.empty(0, np.int64)


class OneCell(NamedTuple):
    """`Epochs` of one cell of N examples, which need not be held in memory; `members` where they have an order of their
    own."""

    seed: int
    salt: np.uint64
    begin: int
    rest: int
    size: int
    n_examples: int
    members: np.ndarray | None = None

    def examples(self, turn: np.ndarray) -> np.ndarray:
        """(n,) int64 examples at turns (n,)."""
        place = turn - self.begin
        later = place - self.rest
        epoch = np.where(later < 0, 0, 1 + later // self.size)
        its_key = key(self.seed, "epoch")
        if turn.size and epoch[0] == epoch[-1] and (epoch == epoch[0]).all():
            size = self.size if epoch[0] else self.rest
            place = (later - (int(epoch[0]) - 1) * size if epoch[0] else place).astype(np.uint32)
            found = permuted_by_one(word(its_key, (int(self.salt) + int(epoch[0])) % 2**64), place, size)
        else:
            place = np.where(later < 0, place, later % self.size).astype(np.uint32)
            size = np.where(later < 0, self.rest, self.size).astype(np.uint32)
            found = permuted(bits(its_key, self.salt + epoch.astype(U)), place, size)
        return self.of_subset(found)

    def of_subset(self, place: np.ndarray) -> np.ndarray:
        """The examples at places of the subset; subsets are prefixes of one random order."""
        if self.members is not None:
            return self.members[place].astype(np.int64)
        if self.size != self.n_examples:
            its = word(key(self.seed, "member order"), 0)
            place = permuted_by_one(its, place.astype(np.uint32), self.n_examples)
        return place.astype(np.int64)

    def as_epochs(self) -> Epochs:
        """`Epochs` of the same order, with the members in memory."""
        order = np.arange(self.n_examples, dtype=np.uint32) if self.members is None else self.members
        if self.members is None and self.size != self.n_examples:
            order = permuted_by_one(word(key(self.seed, "member order"), 0), order, self.n_examples)
        begin, rest, size = (np.array([n], np.int64) for n in (self.begin, self.rest, self.size))
        members = Members(order, np.array([0, self.n_examples]))
        return Epochs(key(self.seed, "epoch"), np.array([self.salt], U), begin, rest, size, members)
