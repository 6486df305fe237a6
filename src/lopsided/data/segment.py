"""A segment of a run: one shape over one data set, from a position on."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lopsided.data.caps import room_of
from lopsided.data.epochs import Epochs, OneCell
from lopsided.data.groups import Groups
from lopsided.data.recent import Recent
from lopsided.data.schedule import Stages, schedule
from lopsided.data.turns import KEPT, KEPT_EXAMPLES, Carried, Turns
from lopsided.data.words import U, below, bits, key, unit
from lopsided.shape.shape import Shape


class Standing(NamedTuple):
    """Where a run stands before a position: what the next segment goes on from. N examples, C cells; a segment begins
    where one of its own data stands."""

    carried: Carried
    epochs: Epochs
    visits: np.ndarray | None
    """(N,) how often each example came; None where nobody asks, which only caps do."""


class Settings(NamedTuple):
    """What a segment is made of."""

    groups: Groups | int
    shape: Shape
    begin: int
    """First position of the segment."""
    total: int
    """Positions of the run, those before it included."""
    cap: float | None = None
    same: Any = None
    """(N,) index that each example had before the change, -1 for a new one; None: the one it has."""


class Segment:
    """Examples at positions from `settings.begin` on."""

    def __init__(
        self, settings: Settings, seed: int, replacement: bool, number: int = 0, start: Standing | None = None
    ):
        groups, shape, begin, total, cap, _ = settings
        self.settings, self.seed, self.replacement, self.number = settings, seed, replacement, number
        self.groups, self.start = groups, start
        self.cells = groups.n_cells if isinstance(groups, Groups) else 1
        self.schedule: Stages = schedule(groups, shape, total - begin, seed, cap)
        self._turns: Turns | None = None
        if self.cells > 1 and not replacement:
            self._turns = self._limited(cap)
        self._epochs: dict[int, Epochs] = {}
        self._made: Recent[np.ndarray] = Recent(max(KEPT, KEPT_EXAMPLES // (self._turns.length if self._turns else 1)))
        self._cumulative: Recent[np.ndarray] = Recent(KEPT)

    @cached_property
    def _salts(self) -> np.ndarray:
        """(C,) uint64 random words, by the cells' names: whatever other cells there are."""
        return self.groups.ident if isinstance(self.groups, Groups) else np.zeros(1, U)

    def _limited(self, cap: float | None) -> Turns:
        carried = self.start.carried if self.start else Carried.nothing(self.cells)
        salts = bits(key(self.seed, "turn"), self._salts)
        turns = Turns(self.schedule, salts, carried)
        room = None if cap is None else room_of(turns, cap, self.start)
        return turns if room is None else Turns(self.schedule, salts, carried, room)

    def at(self, n: np.ndarray) -> np.ndarray:
        """(n,) int64 examples at positions (n,) since the segment's begin."""
        out = np.empty(n.shape, np.int64)
        if self._turns is not None:
            return self._by_turns(n, out)
        stage = np.searchsorted(self.schedule.start, n, side="right") - 1
        for i in np.unique(stage):
            here = slice(None) if (stage == i).all() else np.flatnonzero(stage == i)
            out[here] = self._drawn(int(i), n[here]) if self.replacement else self._of_one(int(i), n[here])
        return out

    def _by_turns(self, n: np.ndarray, out: np.ndarray) -> np.ndarray:
        assert self._turns is not None
        todo = np.arange(n.size)
        while todo.size:
            b, first = self._turns.block_of(int(n[todo[0]]))
            examples = self._made.get(b, lambda b=b: self._examples(b))
            place = n[todo] - first
            inside = (place >= 0) & (place < len(examples))
            out[todo[inside]] = examples[place[inside]]
            todo = todo[~inside]
        return out

    def _examples(self, b: int) -> np.ndarray:
        """All examples of a block, in order."""
        assert self._turns is not None
        block = self._turns.block(b)
        return self.epochs(block.phase).examples(block.cell, block.turn)[block.order]

    def epochs(self, phase: int) -> Epochs:
        """Which example a cell's turn takes, in a phase."""
        if phase not in self._epochs:
            self._epochs[phase] = self._epochs_of(phase)
        return self._epochs[phase]

    def _epochs_of(self, phase: int) -> Epochs:
        if phase == 0 and self.start is not None:
            return self.start.epochs
        assert self._turns is not None
        assert isinstance(self.groups, Groups)
        size = self.schedule.subset[self.schedule.phase == phase][0]
        members = self.start.epochs.members if self.start else self.groups.members(self.seed)
        salt = bits(key(self.seed, "epochs", self.number, phase), self._salts)
        return Epochs(key(self.seed, "epoch"), salt, self._turns.before(phase), size, size, members)

    def _one(self, stage: int) -> OneCell:
        """Epochs of the only cell in a stage's phase."""
        s, phase = self.schedule, int(self.schedule.phase[stage])
        carried = int(self.start.carried.turns[0]) if self.start else 0
        members = None
        if self.start is not None:
            members = self.start.epochs.members.example
            if phase == 0:
                e = self.start.epochs
                begin, rest, size = (int(x[0]) for x in (e.begin, e.rest, e.size))
                return OneCell(self.seed, e.salt[0], begin, rest, size, len(members), members)
        size, begin = int(s.subset[stage][0]), carried + int(s.phase_start[stage])
        examples = self.groups if isinstance(self.groups, int) else self.groups.n_examples
        salt = bits(key(self.seed, "epochs", self.number, phase), self._salts)[0]
        return OneCell(self.seed, salt, begin, size, size, examples, members)

    def _of_one(self, stage: int, n: np.ndarray) -> np.ndarray:
        carried = int(self.start.carried.turns[0]) if self.start else 0
        return self._one(stage).examples(n + carried)

    def _drawn(self, i: int, n: np.ndarray) -> np.ndarray:
        """With replacement: a cell by inversion, an example of its subset. Counters are positions of the run."""
        counter = (n + self.settings.begin).astype(U)
        subset = self.schedule.subset[i]
        words = bits(key(self.seed, "example"), counter)
        if self.cells == 1:
            one = self._one(i)
            return one.of_subset(below(words, one.size))
        assert isinstance(self.groups, Groups)
        cumulative = self._cumulative.get(i, lambda: _shares(self.schedule.weight[i]))
        cell = np.searchsorted(cumulative, unit(bits(key(self.seed, "cell"), counter)), side="right")
        example, begins = self.groups.members(self.seed)
        return example[begins[cell] + below(words, subset[cell])].astype(np.int64)

    def standing(self, position: int, visits: bool) -> Standing:
        """Where the run stands before a position (since the segment's begin), up to its length."""
        if self.cells == 1:
            stage = int(np.searchsorted(self.schedule.start, max(0, position - 1), side="right")) - 1
            turns = np.array([position + (int(self.start.carried.turns[0]) if self.start else 0)])
            carried = Carried(turns.astype(float), turns)
            epochs = self._one(stage).as_epochs()
        else:
            assert self._turns is not None
            b, first = self._block_before(position)
            block, done = self._turns.block(b), position - first
            whole = done == len(block.order)
            all_turns = self._turns.until(b + whole)
            turns = self._turns.with_room(block.phase, all_turns)
            since = 0.0 if whole else float(block.time[block.order[done]])
            level = self._turns.level(self._turns.edge(b + whole) + since) - (all_turns - turns)
            done = 0 if whole else done
            carried = Carried(level, turns + np.bincount(block.cell[block.order[:done]], minlength=self.cells))
            epochs = self.epochs(block.phase)
        if not visits:
            return Standing(carried, epochs, None)
        before = self.start.visits if self.start is not None else None
        own = self.visits(position)
        return Standing(carried, epochs, own if before is None else own + before)

    def _block_before(self, position: int) -> tuple[int, int]:
        """(number, first position) of the block that the run has come to before a position. At the end of a run with a
        cap it is the one of the last position: where every cell is full, no block ever comes after it."""
        assert self._turns is not None
        ended = self._turns.room is not None and position >= self.schedule.total
        b, first = self._turns.block_of(position - 1 if ended else position)
        return b, first

    def visits(self, position: int) -> np.ndarray:
        """(N,) how often each example comes before a position (since the segment's begin)."""
        n = self.groups if isinstance(self.groups, int) else self.groups.n_examples
        found = np.zeros(n, np.int64)
        if self.replacement:
            return np.bincount(self.at(np.arange(position)), minlength=n)
        if self.cells == 1:
            return found + self._visits_of_one(position)
        assert self._turns is not None
        b, first = self._block_before(position)
        block = self._turns.block(b)
        turns = self._turns.with_room(block.phase, self._turns.until(b))
        turns = turns + np.bincount(block.cell[block.order[: position - first]], minlength=self.cells)
        for phase in range(block.phase + 1):
            end = turns if phase == block.phase else self._turns.before(phase + 1)
            begin, epochs = self._turns.before(phase), self.epochs(phase)
            found += epochs.visits(self._turns.with_room(phase, end)) - epochs.visits(begin)
        return found

    def _visits_of_one(self, position: int) -> np.ndarray:
        s, carried = self.schedule, int(self.start.carried.turns[0]) if self.start else 0
        found: np.ndarray | int = 0
        for phase in range(s.phase[-1] + 1):
            stages = np.flatnonzero(s.phase == phase)
            begin = int(s.start[stages[0]])
            end = int(np.append(s.start, s.total)[stages[-1] + 1])
            if begin >= position:
                break
            epochs = self._one(int(stages[0])).as_epochs()
            a, b = (np.array([carried + n]) for n in (begin, min(end, position)))
            found = found + epochs.visits(b) - epochs.visits(a)
        return np.asarray(found)


def _shares(weight: np.ndarray) -> np.ndarray:
    """Cumulative shares of weights."""
    total = np.cumsum(weight)
    return total / total[-1]
