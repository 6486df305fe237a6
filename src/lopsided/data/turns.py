"""Whose turn it is: positions of a run dealt to cells as a law says, as a stratified point process.

Cell c has a cumulative intensity L_c(t), the integral of its share of the law up to time t; its turn number k comes
when L_c(t) = k + u(c, k), u in [0, 1) a keyed random number. Position n of the run is the n-th turn of all cells. So at
every time each cell has had as many turns as its integral says, within 1, and nothing before a time depends on the law
after it. Time is position, but for a distance of about sqrt(cells / 6).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.data.recent import Recent
from lopsided.data.schedule import Stages
from lopsided.data.words import CHUNK, ODD, U, finish, unit

BLOCK = 1 << 14
"""Turns that are made at once, 0.5 MiB of them, so that a call of NumPy costs little beside its numbers. Not varied."""
KEPT = 16
"""Blocks kept, as many as by a stream: a turn is asked for where a sample is."""
KEPT_EXAMPLES = 2**22
"""Blocks that were made are kept up to so many indices (32 MiB), so that scattered positions do not make them anew."""


class Carried(NamedTuple):
    """Where C cells stand when a law begins."""

    level: np.ndarray
    """(C,) integrals of their shares so far."""
    turns: np.ndarray
    """(C,) turns that they had."""

    @classmethod
    def nothing(cls, cells: int) -> Carried:
        return cls(np.zeros(cells), np.zeros(cells, np.int64))


class TurnBlock(NamedTuple):
    """The turns of consecutive positions, n of them, by cell: what reads a cell's numbers is fast in this order."""

    phase: int
    cell: np.ndarray
    """(n,) whose turn it is, rising."""
    turn: np.ndarray
    """(n,) which turn of that cell it is."""
    time: np.ndarray
    """(n,) when."""
    order: np.ndarray
    """(n,) which of these turns has each position."""


class Turns:
    """Turns of C > 1 cells by a schedule. `salts`: (C,) uint64, a random word of each cell; `room`: (P, C), most turns
    of each cell in each phase, or None."""

    def __init__(self, schedule: Stages, salts: np.ndarray, carried: Carried, room: np.ndarray | None = None):
        self.schedule, self.salts, self.carried, self.room = schedule, salts, carried, room
        cells = schedule.weight.shape[1]
        self.length = max(BLOCK, 2 * cells)
        """Time of a block, if its stage lasts as long."""
        stages = np.append(schedule.start, schedule.total)
        self._first = np.concatenate([[0], np.cumsum(-(-np.diff(stages) // self.length))])
        """(S + 1,) number of each stage's first block; behind them are those that serve what rounding left."""
        self._counts: Recent[np.ndarray] = Recent(KEPT)
        self._phases: list[tuple[np.ndarray, np.ndarray]] = [(carried.turns, np.zeros(cells, np.int64))]
        """For each phase: turns before it, and how many of them were left out since there was no room."""
        self._tail = schedule.weight[-1], max(16, math.isqrt(cells))
        if room is not None:
            self._leave_out(room)

    def _leave_out(self, room: np.ndarray) -> None:
        s = self.schedule
        for p in range(1, s.phase[-1] + 1):
            begin = float(s.start[s.phase == p][0])
            before, out = self._phases[-1]
            turns = self._turns(begin)
            self._phases.append((turns, out + np.maximum(turns - before - room[p - 1], 0)))
        before, out = self._phases[-1]
        turns = self._turns(float(s.total)) - before
        left = np.maximum(room[-1] - turns, 0.0)
        if left.sum() > 0:  # what rounding and full cells leave goes to those that have room
            lost = int((out + np.maximum(turns - room[-1], 0)).sum())
            self._tail = left / left.sum(), max(self._tail[1], lost)

    def before(self, phase: int) -> np.ndarray:
        """(C,) turns before a phase."""
        while len(self._phases) <= phase:
            s, p = self.schedule, len(self._phases)
            self._phases.append((self._turns(float(s.start[s.phase == p][0])), self._phases[0][1]))
        return self._phases[phase][0]

    def level(self, time: float) -> np.ndarray:
        """(C,) integrals of shares until a time."""
        s = self.schedule
        if time >= s.total:
            i = len(s.start) - 1
            end = self.carried.level + s.base[i] + (s.total - float(s.start[i])) * s.weight[i]
            return end + (time - s.total) * self._tail[0]
        i = max(0, int(np.searchsorted(s.start, time, side="right")) - 1)
        return self.carried.level + s.base[i] + (time - float(s.start[i])) * s.weight[i]

    def _turns(self, time: float) -> np.ndarray:
        """(C,) turns before a time, those included for which there was no room."""
        if time <= 0:
            return self.carried.turns
        level = self.level(time)
        turns = level.astype(np.int64)
        turns += self._when(np.arange(len(turns)), turns) < level - turns
        # A cell of weight 0 has not moved; a turn that rounding makes due at the very time of a change is none of its.
        return np.where(level == self.carried.level, self.carried.turns, np.maximum(turns, self.carried.turns))

    def _when(self, cell: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """u(c, k) in [0, 1)."""
        words, spare = np.empty(len(turn), U), np.empty(min(CHUNK, len(turn)), U)
        for a in range(0, len(turn), CHUNK):
            part = words[a : a + CHUNK]
            np.multiply(turn[a : a + CHUNK].view(U), ODD, out=part)
            part += self.salts[cell[a : a + CHUNK]]
            finish(part, spare[: part.size])
        return unit(words)

    def edge(self, b: int) -> float:
        """When block b begins."""
        s = self.schedule
        if b >= self._first[-1]:
            return float(s.total + (b - int(self._first[-1])) * self._tail[1])
        stage = int(np.searchsorted(self._first, b, side="right")) - 1
        return float(s.start[stage] + (b - int(self._first[stage])) * self.length)

    def _nominal(self, position: int) -> int:
        """The block that would hold a position if time were position."""
        s = self.schedule
        if position >= s.total:
            return int(self._first[-1])
        stage = int(np.searchsorted(s.start, position, side="right")) - 1
        return int(self._first[stage]) + (position - int(s.start[stage])) // self.length

    def _phase(self, b: int) -> int:
        stage = min(int(np.searchsorted(self._first, b, side="right")), len(self.schedule.start)) - 1
        return int(self.schedule.phase[stage])

    def until(self, b: int) -> np.ndarray:
        """(C,) turns before block b, those included for which there was no room."""
        return self._counts.get(b, lambda: self._turns(self.edge(b)))

    def _given(self, b: int) -> int:
        """Positions before block b."""
        turns = self.until(b)
        if self.room is None:
            return int((turns - self.carried.turns).sum())
        before, out = self._phases[self._phase(b)]
        out = out + np.maximum(turns - before - self.room[self._phase(b)], 0)
        return int((turns - self.carried.turns - out).sum())

    def with_room(self, phase: int, turns: np.ndarray) -> np.ndarray:
        """(C,) of so many turns since the run began those for which a phase has room."""
        return turns if self.room is None else np.minimum(turns, self.before(phase) + self.room[phase])

    def block_of(self, position: int) -> tuple[int, int]:
        """(number, first position) of the block that holds a position."""
        b = self._nominal(position)
        while (first := self._given(b)) > position:
            b -= 1
        while (after := self._given(b + 1)) <= position:
            b, first = b + 1, after
        return b, first

    def block(self, b: int) -> TurnBlock:
        """The turns of block b."""
        phase, begin, end = self._phase(b), self.edge(b), self.edge(b + 1)
        stage = int(np.searchsorted(self._first, b, side="right")) - 1
        law = self.schedule.weight[stage] if b < self._first[-1] else self._tail[0]
        before, after = self.until(b), self.until(b + 1)
        before, after = self.with_room(phase, before), self.with_room(phase, after)
        counts = after - before
        length = int(counts.sum())
        cell = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
        turn = np.repeat(before - (np.cumsum(counts) - counts), counts)
        turn += np.arange(length)
        level = self.level(begin)
        with np.errstate(divide="ignore"):
            pace = 1 / law
        time = self._when(cell, turn)
        time += turn
        time -= level[cell]
        time *= pace[cell]
        np.clip(time, 0, end - begin, out=time)
        return TurnBlock(phase, cell, turn, time, _order(time, end - begin))


def _order(time: np.ndarray, length: float) -> np.ndarray:
    """Places by time, from 0 to `length`: sorted as words that hold the place in their lowest bits, which is three
    times as fast as a sort of places."""
    low = U(max(1, (len(time) - 1).bit_length()))
    words = (time * (2.0 ** (63 - int(low)) / length)).astype(U)
    words <<= low
    words |= np.arange(len(time), dtype=U)
    words.sort()
    words &= (U(1) << low) - U(1)
    return words.astype(np.intp)
