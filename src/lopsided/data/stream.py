"""Position in a run's one stream of samples -> index of an example: pure, random access, nothing stored but the
groups.

Batch size, accumulation, ranks and workers are layouts of the positions; the whole state of a run is one integer.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.permutation import LARGEST, permuted, permuted_by_one
from lopsided.data.schedule import schedule
from lopsided.data.shapes import Shape
from lopsided.data.words import U, below, bits, key, unit, word

BLOCK = 1 << 14
AHEAD = 4096
"""Small requests are answered from so many positions, made at once."""
KEPT = 16
KEPT_EXAMPLES = 2**22
"""Blocks that were made are kept up to so many indices (32 MiB), so that scattered positions do not make them anew."""
LONGEST = 2**62


class Stream:
    """`shape` over `groups` (or over N examples without skills, given as a number) for `total` samples.

    *Stratified* (the default): at the edges of blocks of 16,384 positions, and at the end of a phase, each skill has
    come as often as its expectation says, within 1. At every position the visits of a skill's examples differ by at
    most 1; their order is shuffled anew in every epoch. With
    `replacement`, every sample is drawn on its own, as lopsided's plan `fixed` does.

    `cap`: no example comes more often than this; what a rare skill cannot give goes to the others in proportion.
    Raises `InputError` for what cannot be done.
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
        self._alone = isinstance(groups, int) or groups.n_cells == 1
        self._edges: dict[tuple[int, int], tuple[int, np.ndarray, np.ndarray]] = {}
        self._made: dict[tuple[int, int], np.ndarray] = {}
        self._ahead: dict[int, np.ndarray] = {}
        self._cumulative: dict[int, np.ndarray] = {}

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
        if first not in self._ahead:
            _forget(self._ahead)
            begin = first * AHEAD
            self._ahead[first] = self._at(np.arange(begin, min(begin + AHEAD, self.total)))
        return self._ahead[first][n - first * AHEAD]

    def _at(self, n: np.ndarray) -> np.ndarray:
        out = np.empty(n.shape, np.int64)
        stage = np.searchsorted(self.schedule.start, n, side="right") - 1
        for i in np.unique(stage):
            here = slice(None) if (stage == i).all() else np.flatnonzero(stage == i)
            if self.replacement:
                out[here] = self._drawn(int(i), n[here])
            elif self._alone:
                out[here] = self._permuted(int(i), n[here])
            else:
                out[here] = self._stratified(int(i), n[here])
        return out

    @cached_property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        assert isinstance(self.groups, Groups)
        return self.groups.members(self.seed)

    def _drawn(self, i: int, n: np.ndarray) -> np.ndarray:
        """With replacement: a cell by inversion, an example of its subset."""
        counter = n.astype(U)
        subset = self.schedule.subset[i]
        if self._alone:
            return self._member(below(bits(key(self.seed, "example"), counter), int(subset[0])), int(subset[0]))
        if i not in self._cumulative:
            total = np.cumsum(self.schedule.weight[i])
            self._cumulative[i] = total / total[-1]
        cell = np.searchsorted(self._cumulative[i], unit(bits(key(self.seed, "cell"), counter)), side="right")
        place = below(bits(key(self.seed, "example"), counter), subset[cell])
        member, begins = self._members
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

    def _stratified(self, i: int, n: np.ndarray) -> np.ndarray:
        t = n - int(self.schedule.phase_start[i])
        out = np.empty(n.shape, np.int64)
        todo = np.arange(n.size)
        length = self._block_length
        while todo.size:
            x = int(t[todo[0]])
            b = x // length
            while self._block(i, b)[0] > x:
                b -= 1
            while self._block(i, b)[0] + self._block(i, b)[2][-1] <= x:
                b += 1
            first, _, cumulative = self._block(i, b)
            place = t[todo] - first
            inside = (place >= 0) & (place < cumulative[-1])
            out[todo[inside]] = self._examples(i, b)[place[inside]]
            todo = todo[~inside]
        return out

    @property
    def _block_length(self) -> int:
        return max(BLOCK, 2 * self.schedule.weight.shape[1])

    @property
    def _kept(self) -> int:
        return max(KEPT, KEPT_EXAMPLES // self._block_length)

    def _edge(self, i: int, b: int) -> int:
        """First position (nominally) of a block of stage i's phase; the phase's end is an edge, too. Blocks behind it
        serve the few positions by which rounded counts fall short."""
        s = self.schedule
        later = np.flatnonzero(s.phase > s.phase[i])
        end = (int(s.start[later[0]]) if later.size else s.total) - int(s.phase_start[i])
        whole = -(-end // self._block_length)
        return b * self._block_length if b < whole else end + (b - whole) * self._block_length

    def _counts(self, i: int, edge: int) -> np.ndarray:
        """(C,) samples of each cell in the first `edge` positions of stage i's phase."""
        s = self.schedule
        position = edge + int(s.phase_start[i])
        same = np.flatnonzero(s.phase == s.phase[i])
        j = int(same[max(0, int(np.searchsorted(s.start[same], position, side="right")) - 1)])
        return np.floor(s.base[j] + (position - int(s.start[j])) * s.weight[j] + s.offset).astype(np.int64)

    def _block(self, i: int, b: int) -> tuple[int, np.ndarray, np.ndarray]:
        """(first position in the phase, samples of each cell before, cumulative samples of each cell) of a block."""
        name = int(self.schedule.phase[i]), b
        if name not in self._edges:
            _forget(self._edges, self._kept)
            before, after = (self._counts(i, self._edge(i, edge)) for edge in (b, b + 1))
            self._edges[name] = int(before.sum()), before, np.cumsum(after - before)
        return self._edges[name]

    def _examples(self, i: int, b: int) -> np.ndarray:
        """All examples of a block, in order."""
        s = self.schedule
        name = int(s.phase[i]), b
        if name not in self._made:
            _forget(self._made, self._kept)
            _, before, cumulative = self._block(i, b)
            length = int(cumulative[-1])
            counts = np.diff(cumulative, prepend=0)
            cell = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
            occurrence = (before - np.concatenate([[0], cumulative[:-1]]))[cell] + np.arange(length)
            size = s.subset[i].astype(np.uint32)[cell]
            epoch = occurrence // size
            place = (occurrence - epoch * size).astype(np.uint32)
            words = bits(key(self.seed, "epoch", name[0]), (cell.astype(U) << U(40)) ^ epoch.astype(U))
            member, begins = self._members
            examples = member[begins[cell] + permuted(words, place, size)].astype(np.int64)
            shuffle = bits(key(self.seed, "block", name[0]), (U(b) << U(32)) + np.arange(length, dtype=U))
            held = s.subset[i].clip(1)
            spans = before // held != (before + np.maximum(counts, 1) - 1) // held
            self._made[name] = _placed(examples, cell, spans[cell], shuffle)
        return self._made[name]

    def batch(self, step: int, batch: int, rank: int = 0, world: int = 1) -> np.ndarray:
        """Indices of a rank's part of the global batch of `batch` samples at a step."""
        begin = step * batch
        return self.at(np.arange(begin + rank * batch // world, begin + (rank + 1) * batch // world))

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that name the data's labels, the shape, its length, the seed and the options."""
        data = b"" if isinstance(self.groups, int) else self.groups.cell.tobytes() + repr(self.groups.names).encode()
        said = (self.n_examples, _said(self.shape), self.total, self.seed, self.cap, self.replacement, 1)
        return hashlib.blake2b(data + repr(said).encode(), digest_size=8).hexdigest()

    def state(self, position: int) -> dict[str, object]:
        """What a checkpoint has to hold: the next position, and which stream it belongs to."""
        return {"position": int(position), "stream": self.fingerprint}

    def position_of(self, state: dict[str, object], allow_other: bool = False) -> int:
        """The position of a `state`. Raises `InputError` if it is of another stream, unless that is allowed."""
        try:
            position, its = int(state["position"]), state["stream"]  # type: ignore[call-overload]
        except (KeyError, TypeError, ValueError):
            raise InputError("state: valid is what `state_dict()` gave: position and stream") from None
        if its != self.fingerprint and not allow_other:
            raise InputError(
                f"state: it is of another stream ({its}, this is {self.fingerprint}): other data, shape, total or "
                "seed; allow_other=True takes its position all the same"
            )
        if not 0 <= position <= self.total:
            raise InputError(f"state: position {position}: 0 to {self.total:,}")
        return position

    def describe(self) -> str:
        """How often skills and their examples come, before anything is trained."""
        from lopsided.data.describe import describe

        return describe(self)

    def __repr__(self) -> str:
        return f"Stream({self.groups!r}, {self.shape!r}, total={self.total:,}, seed={self.seed})"

    def __getstate__(self) -> dict[str, object]:
        """Without what was made: workers get a copy."""
        made = ("_edges", "_made", "_ahead", "_cumulative")
        return {k: ({} if k in made else v) for k, v in self.__dict__.items() if k != "_members"}


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


def _forget(cache: dict, kept: int = KEPT) -> None:
    while len(cache) >= kept:
        cache.pop(next(iter(cache)))


def _said(shape: Shape) -> str:
    """A shape in words; arrays in full."""
    fields = getattr(shape, "__dict__", {})
    return type(shape).__name__ + repr(
        {
            k: [_said(f) for f in v] if k == "factors" else v.tolist() if isinstance(v, np.ndarray) else v
            for k, v in fields.items()
        }
    )
