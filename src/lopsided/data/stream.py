"""Position in a run's one stream of samples -> index of an example: pure, random access, nothing stored but the
groups.

Batch size, accumulation, ranks and workers are layouts of the positions; the whole state of a run is one integer.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lopsided.core.errors import InputError
from lopsided.data import state
from lopsided.data.groups import Groups
from lopsided.data.permutation import LARGEST, permuted, permuted_by_one
from lopsided.data.recent import Recent
from lopsided.data.schedule import schedule
from lopsided.data.shapes import Shape
from lopsided.data.stratified import Stratified
from lopsided.data.words import U, below, bits, key, unit, word

AHEAD = 4096
"""Small requests are answered from so many positions, made at once."""
KEPT = 16
LONGEST = 2**62


class Stream:
    """`shape` over `groups` (or over N examples without skills, given as a number) for `total` samples.

    *Stratified* (the default): a stretch of constant frequencies is cut into blocks of at most 16,384 positions (or of
    two for each skill, if that is more). At the end of a block each skill has come as often as its expectation says,
    within 1; where the block ends is rounded too, by 0.3 sqrt(skills) positions as a standard deviation. At every
    position of a phase the visits of a skill's examples differ by at most 1; their order is shuffled anew in every
    epoch. With `replacement`, every sample is drawn on its own, as lopsided's plan `fixed` does.

    `cap`: how often an example comes at most, exactly for whole numbers; what a rare skill cannot give goes to the
    others in proportion. With phases, each of which rounds on its own, an example may come once more for each; with
    `replacement`, a cap is kept on average. Raises `InputError` for what cannot be done.
    """

    def __init__(
        self,
        groups: Groups | int,
        shape: Shape,
        total: int,
        seed: int = 0,
        cap: float | None = None,
        replacement: bool = False,
    ):
        if isinstance(groups, np.integer):
            groups = int(groups)
        if not isinstance(groups, (Groups, int)):
            raise InputError(
                f"groups: a {type(groups).__name__} is none; valid are Groups(labels), or a number of examples"
            )
        examples = groups if isinstance(groups, int) else groups.n_examples
        if not 1 <= examples < LARGEST:
            raise InputError(f"groups: {examples:,} examples; between 1 and 2^31")
        if not isinstance(shape, Shape):
            raise InputError(f"shape: {shape!r} is none; valid are the classes of lopsided.data, joined with &")
        if not isinstance(total, (int, np.integer)) or not 1 <= total < LONGEST:
            raise InputError(f"total = {total!r}: samples of the run, between 1 and 2^62")
        self.groups, self.shape, self.total, self.seed = groups, shape, int(total), int(seed)
        self.cap, self.replacement, self.n_examples = cap, bool(replacement), examples
        self.schedule = schedule(groups, shape, self.total, self.seed, cap)
        self._order = None
        if isinstance(groups, Groups) and groups.n_cells > 1:
            self._order = Stratified(groups, self.schedule, self.seed, None if replacement else cap)
        self._ahead: Recent[np.ndarray] = Recent(KEPT)
        self._cumulative: Recent[np.ndarray] = Recent(KEPT)

    def __len__(self) -> int:
        return self.total

    def at(self, positions: ArrayLike) -> np.ndarray:
        """Indices of the examples at these positions, as an array of the same shape (int64)."""
        n = np.asarray(positions)
        if n.dtype.kind not in "iu":
            raise InputError(f"positions: have to be integers, not {n.dtype}")
        flat = n.reshape(-1).astype(np.int64)
        if flat.size and (flat.min() < 0 or flat.max() >= self.total):
            raise InputError(
                f"position {flat.max() if flat.max() >= self.total else flat.min()}: 0 to {self.total - 1:,}"
            )
        return self._small(flat).reshape(n.shape) if 0 < flat.size <= AHEAD // 4 else self._at(flat).reshape(n.shape)

    def _small(self, n: np.ndarray) -> np.ndarray:
        """From positions made ahead, where all lie in one stretch of them."""
        first, last = int(n.min()) // AHEAD, int(n.max()) // AHEAD
        if first != last:
            return self._at(n)
        begin = first * AHEAD
        made = self._ahead.get(first, lambda: self._at(np.arange(begin, min(begin + AHEAD, self.total))))
        return made[n - begin]

    def _at(self, n: np.ndarray) -> np.ndarray:
        out = np.empty(n.shape, np.int64)
        stage = np.searchsorted(self.schedule.start, n, side="right") - 1
        for i in np.unique(stage):
            here = slice(None) if (stage == i).all() else np.flatnonzero(stage == i)
            if self.replacement:
                out[here] = self._drawn(int(i), n[here])
            elif self._order is None:
                out[here] = self._permuted(int(i), n[here])
            else:
                out[here] = self._order.at(int(i), n[here])
        return out

    def _drawn(self, i: int, n: np.ndarray) -> np.ndarray:
        """With replacement: a cell by inversion, an example of its subset."""
        counter = n.astype(U)
        subset = self.schedule.subset[i]
        if self._order is None:
            return self._member(below(bits(key(self.seed, "example"), counter), int(subset[0])), int(subset[0]))
        cumulative = self._cumulative.get(i, lambda: _shares(self.schedule.weight[i]))
        cell = np.searchsorted(cumulative, unit(bits(key(self.seed, "cell"), counter)), side="right")
        place = below(bits(key(self.seed, "example"), counter), subset[cell])
        member, begins = self._order.members
        return member[begins[cell] + place].astype(np.int64)

    def _permuted(self, i: int, n: np.ndarray) -> np.ndarray:
        """Without skills: one epoch of the subset after another, each in an order of its own."""
        s = self.schedule
        size, t = int(s.subset[i][0]), n - int(s.phase_start[i])
        epoch = t // size
        place = (t - epoch * size).astype(np.uint32)
        its_key = key(self.seed, "epoch", int(s.phase[i]))
        if t.size and epoch[0] == epoch[-1] and (epoch == epoch[0]).all():
            found = permuted_by_one(word(its_key, int(epoch[0])), place, size)
        else:
            found = permuted(bits(its_key, epoch.astype(U)), place, np.full(t.shape, size, np.uint32))
        return self._member(found, size)

    def _member(self, place: np.ndarray, size: int) -> np.ndarray:
        """The example at a place of a subset of all examples; subsets are prefixes of one random order."""
        if size != self.n_examples:
            place = permuted_by_one(word(key(self.seed, "member order"), 0), place.astype(np.uint32), self.n_examples)
        return place.astype(np.int64)

    def batch(self, step: int, batch: int, rank: int = 0, world: int = 1) -> np.ndarray:
        """Indices of a rank's part of the global batch of `batch` samples at a step."""
        begin = step * batch
        return self.at(np.arange(begin + rank * batch // world, begin + (rank + 1) * batch // world))

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that name the data's labels, the shape, its length, the seed and the options."""
        data: tuple[object, ...] = ()
        if isinstance(self.groups, Groups):
            g = self.groups
            numbers = [x if x is None else x.astype(float).tobytes() for x in (g.size, g.mean_length)]
            uses = None if g.uses is None else [x.tobytes() for x in (g.uses.cells, g.uses.skills, g.uses.counts)]
            data = g.cell.tobytes(), g.names, numbers, uses
        options = self.n_examples, self.shape, self.total, self.seed, self.cap, self.replacement
        return state.fingerprint(data, *options)

    def state(self, position: int) -> dict[str, object]:
        """What a checkpoint has to hold: the next position, and which stream it belongs to."""
        return {"position": int(position), "stream": self.fingerprint}

    def position_of(self, found: dict[str, object], allow_other: bool = False) -> int:
        """The position of a `state`. Raises `InputError` if it is of another stream, unless that is allowed."""
        return state.position_of(found, self.fingerprint, self.total, allow_other)

    @property
    def tokens(self) -> float:
        """How many the run is expected to have. Raises `InputError` without `lengths` of the examples."""
        if not isinstance(self.groups, Groups) or self.groups.mean_length is None:
            raise InputError("tokens: not known; give Groups(labels, lengths=...)")
        return float(self.schedule.expected() @ self.groups.mean_length)

    def describe(self) -> str:
        """How often skills and their examples come, before anything is trained."""
        from lopsided.data.describe import describe

        return describe(self)

    def __repr__(self) -> str:
        return f"Stream({self.groups!r}, {self.shape!r}, total={self.total:,}, seed={self.seed})"


def _shares(weight: np.ndarray) -> np.ndarray:
    """Cumulative shares of weights."""
    total = np.cumsum(weight)
    return total / total[-1]
