"""The stratified order of a schedule: each cell comes as often as expected, its examples epoch by epoch, shuffled.

A stage is cut into blocks. The counts of a block's cells are rounded so that they add up over blocks; inside a block
all positions are shuffled, so no block reaches over a change of weights.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from lopsided.data.groups import Groups
from lopsided.data.permutation import permuted
from lopsided.data.recent import Recent
from lopsided.data.schedule import Schedule
from lopsided.data.words import U, bits, key

BLOCK = 1 << 14
KEPT = 16
KEPT_EXAMPLES = 2**22
"""Blocks that were made are kept up to so many indices (32 MiB), so that scattered positions do not make them anew."""


class Stratified:
    """Positions of stages that all draw from several cells."""

    def __init__(self, groups: Groups, schedule: Schedule, seed: int, cap: float | None = None):
        self.groups, self.schedule, self.seed = groups, schedule, seed
        cells = schedule.weight.shape[1]
        self.length = max(BLOCK, 2 * cells)
        """Positions of a block, if its stage has as many."""
        self._last_length = max(16, math.isqrt(cells))  # of blocks behind a phase: see `_edge`
        kept = max(KEPT, KEPT_EXAMPLES // self.length)
        self._edges: Recent[tuple[int, np.ndarray, np.ndarray]] = Recent(kept)
        self._made: Recent[np.ndarray] = Recent(kept)
        self._end: np.ndarray | None = None
        if cap is not None and schedule.phase[-1] == 0:
            self._end = self._capped(cap)

    def _capped(self, cap: float) -> np.ndarray | None:
        """(C,) samples of each cell in a run without phases, none with more than a cap allows. What rounding takes from
        full cells goes to others, those of the last stage first. None if there is not room for all samples: a schedule
        may exceed a cap by a share of 1e-9."""
        s = self.schedule
        room = np.minimum(cap * s.subset[0], float(s.total)) * (s.expected() > 0)
        most = np.floor(room + 1e-9)
        if most.sum() < s.total:  # a cap that is no whole number
            most = np.ceil(room)
        if most.sum() < s.total:
            return None
        end = np.minimum(self._counts(0, s.total), most.astype(np.int64))
        order = np.argsort(-s.weight[-1], kind="stable")
        left = (most.astype(np.int64) - end)[order]
        short = max(0, s.total - int(end.sum()))
        end[order] += np.clip(short - (np.cumsum(left) - left), 0, left)
        return end

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Examples by cell, and where each cell begins: see `Groups.members`."""
        return self.groups.members(self.seed)

    def at(self, i: int, n: np.ndarray) -> np.ndarray:
        """Examples at positions of stage i."""
        t = n - int(self.schedule.phase_start[i])
        out = np.empty(n.shape, np.int64)
        todo = np.arange(n.size)
        while todo.size:
            x = int(t[todo[0]])
            b = self._nominal_block(i, x)
            while self.block(i, b)[0] > x:
                b -= 1
            while self.block(i, b)[0] + self.block(i, b)[2][-1] <= x:
                b += 1
            first, _, cumulative = self.block(i, b)
            place = t[todo] - first
            inside = (place >= 0) & (place < cumulative[-1])
            out[todo[inside]] = self._examples(i, b)[place[inside]]
            todo = todo[~inside]
        return out

    @cached_property
    def _plans(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """By phase: where its stages begin, counted from its own first position, with its end as the last entry; and
        the number of the first block of each, with the number of all blocks as the last one. A stage is cut into blocks
        of its own: inside a block all positions are shuffled, so no block may reach over a change of weights."""
        s, found = self.schedule, {}
        ends = np.append(s.start[1:], s.total)
        for phase in np.unique(s.phase):
            of = np.flatnonzero(s.phase == phase)
            edges = np.append(s.start[of], ends[of[-1]]) - s.start[of[0]]
            blocks = -(-np.diff(edges) // self.length)
            found[int(phase)] = edges, np.concatenate([[0], np.cumsum(blocks)])
        return found

    def _nominal_block(self, i: int, x: int) -> int:
        """The block that would hold position x of stage i's phase if no count were rounded."""
        edges, first = self._plans[int(self.schedule.phase[i])]
        if x >= edges[-1]:
            return int(first[-1]) + (x - int(edges[-1])) // self._last_length
        stage = int(np.searchsorted(edges, x, side="right")) - 1
        return int(first[stage]) + (x - int(edges[stage])) // self.length

    def _edge(self, i: int, b: int) -> int:
        """First position (nominally) of a block of stage i's phase. Rounding may leave a few positions unserved:
        extra blocks after the nominal end cover them."""
        edges, first = self._plans[int(self.schedule.phase[i])]
        if b >= first[-1]:
            return int(edges[-1]) + (b - int(first[-1])) * self._last_length
        stage = int(np.searchsorted(first, b, side="right")) - 1
        return int(edges[stage]) + (b - int(first[stage])) * self.length

    def _counts(self, i: int, edge: int) -> np.ndarray:
        """(C,) samples of each cell in the first `edge` positions of stage i's phase."""
        s = self.schedule
        position = edge + int(s.phase_start[i])
        same = np.flatnonzero(s.phase == s.phase[i])
        j = int(same[max(0, int(np.searchsorted(s.start[same], position, side="right")) - 1)])
        found = np.floor(s.base[j] + (position - int(s.start[j])) * s.weight[j] + s.offset).astype(np.int64)
        if self._end is None:
            return found
        return self._end if position >= s.total else np.minimum(found, self._end)

    def block(self, i: int, b: int) -> tuple[int, np.ndarray, np.ndarray]:
        """(first position in the phase, samples of each cell before, cumulative samples of each cell) of a block."""
        return self._edges.get((int(self.schedule.phase[i]), b), lambda: self._block(i, b))

    def _block(self, i: int, b: int) -> tuple[int, np.ndarray, np.ndarray]:
        before, after = (self._counts(i, self._edge(i, edge)) for edge in (b, b + 1))
        return int(before.sum()), before, np.cumsum(after - before)

    def _examples(self, i: int, b: int) -> np.ndarray:
        """All examples of a block, in order."""
        return self._made.get((int(self.schedule.phase[i]), b), lambda: self._all_examples(i, b))

    def _all_examples(self, i: int, b: int) -> np.ndarray:
        s, phase = self.schedule, int(self.schedule.phase[i])
        _, before, cumulative = self.block(i, b)
        length = int(cumulative[-1])
        counts = np.diff(cumulative, prepend=0)
        cell = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
        occurrence = (before - np.concatenate([[0], cumulative[:-1]]))[cell] + np.arange(length)
        size = s.subset[i].astype(np.uint32)[cell]
        epoch = occurrence // size
        place = (occurrence - epoch * size).astype(np.uint32)
        words = bits(key(self.seed, "epoch", phase), (cell.astype(U) << U(40)) ^ epoch.astype(U))
        member, begins = self.members
        examples = member[begins[cell] + permuted(words, place, size)].astype(np.int64)
        shuffle = bits(key(self.seed, "block", phase), (U(b) << U(32)) + np.arange(length, dtype=U))
        held = s.subset[i].clip(1)
        spans = before // held != (before + np.maximum(counts, 1) - 1) // held
        return _placed(examples, cell, spans[cell], shuffle)

    def __getstate__(self) -> dict[str, object]:
        """Without what was made: workers get a copy."""
        return {k: v for k, v in self.__dict__.items() if k not in ("members", "_plans")}


def _placed(examples: np.ndarray, cell: np.ndarray, spans: np.ndarray, words: np.ndarray) -> np.ndarray:
    """A block's examples, which come by cell and occurrence, in a random order. Where a cell's epoch ends inside the
    block (`spans`), its occurrences come in order of place: one epoch before the next."""
    # Places are sorted by random words that hold the place in their lowest bits.
    low = U(max(1, (len(examples) - 1).bit_length()))
    mask, number = (U(1) << low) - U(1), np.arange(len(examples), dtype=U)
    place = np.empty(len(examples), np.uint32)
    place[(np.sort((words >> low) << low | number) & mask).astype(np.intp)] = number
    made = np.empty(len(examples), np.int64)
    made[place] = examples
    several = np.flatnonzero(spans)
    if several.size:
        wide = np.uint32 if int(cell[-1]).bit_length() + int(low) <= 32 else U
        keys = np.sort(cell[several].astype(wide) << wide(low) | place[several].astype(wide))
        made[(keys & wide(mask)).astype(np.intp)] = examples[several]
    return made
