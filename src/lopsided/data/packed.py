"""Documents of a stream packed into sequences of equal length; a state is a document and a place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from lopsided.core.errors import InputError, require_whole
from lopsided.data.buckets import Bucketed
from lopsided.data.second_pass import SecondPass
from lopsided.data.state import fingerprint
from lopsided.data.stream import Stream

WINDOW = 256
"""Documents among which room is looked for. With log-normal lengths (median 400, sigma 1) in sequences of 2,048 tokens
2.1 % of the places stay empty; with windows of 64 documents 4.7 %, of 1,024 1.1 %."""


class Piece(NamedTuple):
    """A part of a document: tokens `start` to `stop` of example `example`."""

    example: int
    start: int
    stop: int


class Packing(NamedTuple):
    """Pieces that share one sequence of `length` places.

    >>> import lopsided.data as ld
    >>> stream = ld.Stream(3, ld.AsIs(), total=6)
    >>> (packing,) = next(iter(ld.Packed(stream, tokens=[2, 3, 2], length=8, batch=1)))
    >>> packing.length, int(packing.boundaries[-1])
    (8, 7)
    """

    pieces: tuple[Piece, ...]
    length: int

    @property
    def boundaries(self) -> np.ndarray:
        """(P + 1,) where pieces begin and the last one ends, as attention of variable length takes them."""
        return np.concatenate([[0], np.cumsum([piece.stop - piece.start for piece in self.pieces])]).astype(np.int32)

    @property
    def documents(self) -> np.ndarray:
        """(length,) number of the piece that each place belongs to, -1 where it is empty: tokens of one number may
        attend to each other."""
        found = np.full(self.length, -1, np.int32)
        ends = self.boundaries
        found[: ends[-1]] = np.repeat(np.arange(len(self.pieces)), np.diff(ends))
        return found

    @property
    def positions(self) -> np.ndarray:
        """(length,) positions that begin anew with every piece; 0 where it is empty."""
        found, ends = np.zeros(self.length, np.int32), self.boundaries
        found[: ends[-1]] = np.arange(ends[-1]) - np.repeat(ends[:-1], np.diff(ends))
        return found

    def filled(self, tokens: Callable[[int], Any], empty: int = 0) -> np.ndarray:
        """(length,) the tokens, by a function that gives those of an example; `empty` where there are none."""
        found = np.full(self.length, empty, np.int64)
        ends = self.boundaries
        for piece, begin, end in zip(self.pieces, ends[:-1], ends[1:], strict=True):
            found[begin:end] = np.asarray(tokens(piece.example))[piece.start : piece.stop]
        return found


class Packed(SecondPass):
    """Batches of sequences of `length` tokens, packed from the documents that a stream gives; a rank's share of each.

    `tokens`: (N,) length of every document. `batch`: sequences of one global step, a multiple of `world`. Documents
    stay whole where they fit: each goes into the first sequence of its `window` of documents that has room. `window=1`
    cuts instead: documents follow each other without gaps, and one goes on in the next sequence. `long`: what becomes
    of a document that is longer than a sequence: `"split"` into several, or `"truncate"`.

    The state is a document's position in the stream and a place in its window: it may be loaded with another `batch`,
    `rank` or `world`, and no token is lost or repeated. For shares of *trained* tokens give the stream
    `Groups(labels, lengths=packed_lengths(tokens, length, long))`.

    >>> import numpy as np, lopsided.data as ld
    >>> packed = ld.Packed(ld.Stream(4, ld.AsIs(), 4), [4, 4, 4, 4], length=8)
    >>> [[sequence.boundaries.tolist() for sequence in step] for step in packed]
    [[[0, 4, 8]], [[0, 4, 8]]]

    Raises `InputError` for lengths of another number, or below 1, and for settings that leave no sequence.
    """

    def __init__(
        self,
        stream: Stream | Bucketed,
        tokens: Any,
        length: int,
        batch: int = 1,
        rank: int = 0,
        world: int = 1,
        window: int = WINDOW,
        long: Literal["split", "truncate"] = "split",
    ):
        for name, value in (("length", length), ("batch", batch), ("window", window)):
            if not (isinstance(value, (int, np.integer)) and value >= 1):
                raise InputError(f"{name} = {value!r}: at least 1")
        require_whole(rank=rank, world=world)
        if not 0 <= rank < world or batch % world:
            raise InputError(
                f"rank = {rank}, world = {world}: 0 <= rank < world, and batch = {batch} a multiple of world"
            )
        self.stream, self.length, self.batch, self.rank, self.world = stream, int(length), int(batch), rank, world
        self.window, self.long, self.tokens = int(window), long, packed_lengths(tokens, length, long)
        if len(self.tokens) != stream.n_examples:
            raise InputError(f"tokens: {len(self.tokens):,} lengths; the stream is of {stream.n_examples:,} examples")
        self.document = self.place = 0

    @property
    def cuts(self) -> bool:
        """Whether documents follow each other without gaps."""
        return self.window == 1

    def __iter__(self) -> Iterator[list[Packing]]:
        """Steps from where the state is; those of a pass that do not fill a batch are left out, and a new pass begins
        at 0."""
        if self._over:
            self.document = self.place = 0
        self._pass_begins()
        step: list[Packing] = []
        for sequence, document, place in self._sequences(self.document, self.place):
            step.append(sequence)
            if len(step) == self.batch:
                self.document, self.place = document, place  # before the yield: what was handed out counts
                share = self.batch // self.world
                yield step[self.rank * share : (self.rank + 1) * share]
                step = []
        self._pass_ends()

    def __len__(self) -> int:
        """Steps of a pass. All lengths are packed once to know it: 0.9 s for 200,000 documents."""
        return self._count // self.batch

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self._sequences(0, 0))

    def _sequences(self, document: int, place: int) -> Iterator[tuple[Packing, int, int]]:
        """Yield sequences with the document and the place that follow them."""
        return self._cut(document, place) if self.cuts else self._fitted(document, place)

    def _fitted(self, document: int, place: int) -> Iterator[tuple[Packing, int, int]]:
        for begin in range(document, self.stream.total, self.window):
            end = min(begin + self.window, self.stream.total)
            bins = self._first_fit(self.stream.at(np.arange(begin, end)).tolist())
            for i in range(place, len(bins)):
                following, left = (begin, i + 1) if i + 1 < len(bins) else (end, 0)
                yield Packing(tuple(bins[i]), self.length), following, left
            place = 0

    def _first_fit(self, examples: list[int]) -> list[list[Piece]]:
        """The pieces of each sequence, opened in the order of the documents."""
        bins: list[list[Piece]] = []
        room: dict[int, int] = {}  # of the sequences that have any, in their order
        for example in examples:
            for start in range(0, self.tokens[example], self.length):
                piece = Piece(example, start, min(start + self.length, int(self.tokens[example])))
                need = piece.stop - piece.start
                # A whole piece needs a sequence of its own: to look for one took books quadratic time.
                fits = (i for i, left in room.items() if left >= need) if need < self.length else iter(())
                i = next(fits, len(bins))
                if i == len(bins):
                    bins.append([])
                    room[i] = self.length
                bins[i].append(piece)
                room[i] -= need
                if not room[i]:
                    del room[i]
        return bins

    def _cut(self, document: int, place: int) -> Iterator[tuple[Packing, int, int]]:
        pieces: list[Piece] = []
        room = self.length
        for begin in range(document, self.stream.total, WINDOW):
            examples = self.stream.at(np.arange(begin, min(begin + WINDOW, self.stream.total))).tolist()
            for position, example in enumerate(examples, begin):
                while place < self.tokens[example]:
                    stop = min(place + room, int(self.tokens[example]))
                    pieces.append(Piece(example, place, stop))
                    room, place = room - (stop - place), stop
                    if not room:
                        following, left = (position, place) if place < self.tokens[example] else (position + 1, 0)
                        yield Packing(tuple(pieces), self.length), following, left
                        pieces, room = [], self.length
                place = 0
        if pieces:
            yield Packing(tuple(pieces), self.length), self.stream.total, 0

    @cached_property
    def _name(self) -> str:
        return fingerprint(self.stream.fingerprint, self.tokens, self.length, self.window, self.long)

    def state_dict(self) -> dict[str, Any]:
        return {**self.stream.state(self.document), "place": self.place, "packing": self._name}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Raises `InputError` for the state of another stream, other lengths or another way to pack them."""
        if not isinstance(state, dict) or state.get("packing") != self._name:
            raise InputError(
                "state: it is of another packing: other data, shape, total, seed, lengths of documents, length, "
                "window or long"
            )
        require_whole(place=state.get("place"))
        self.document, self.place = self.stream.position_of(state), int(state["place"])
        self._over = False


def packed_lengths(tokens: Any, length: int, long: Literal["split", "truncate"] = "split") -> np.ndarray:
    """(N,) int64 tokens of each document that are trained on, given the tokens that it has.

    >>> import lopsided.data as ld
    >>> ld.packed_lengths([3, 12], length=8, long="truncate").tolist()
    [3, 8]
    """
    if long not in ("split", "truncate"):
        raise InputError(f"long = {long!r}: 'split' or 'truncate'")
    if not (isinstance(length, (int, np.integer)) and length >= 1):
        raise InputError(f"length = {length!r}: at least 1")
    found = np.asarray(tokens)
    if found.ndim != 1 or found.dtype.kind not in "iu" or (found < 1).any():
        raise InputError("tokens: the length of each document, whole numbers of at least 1")
    return np.minimum(found, length).astype(np.int64) if long == "truncate" else found.astype(np.int64)
