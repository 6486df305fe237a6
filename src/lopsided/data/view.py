"""A stream over data, as anybody's loader reads it: item n of the view is example `stream.at(n)` of the data."""

from __future__ import annotations

import mmap
import struct
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lopsided.core.errors import InputError, require_whole
from lopsided.data.buckets import Bucketed
from lopsided.data.second_pass import SecondPass
from lopsided.data.stream import Stream

ADVICE = {
    "lightning": "Lightning shuffles training data: pass it a DataLoader with lopsided's BatchSampler",
    "transformers": "Trainer: TrainingArguments(train_sampling_strategy='sequential')",
    "accelerate": "Accelerate: build the DataLoader with shuffle=False before `prepare`",
    "torch": "DataLoader: shuffle=False and no sampler; DistributedSampler: shuffle=False",
}


class View:
    """A map-style data set that is read in order, by as many workers and ranks as there are.

    `data`: anything with `[index]` (and, if it has it, `__getitems__`). `batch`: samples of one global step; the
    length is then whole steps. `set_epoch` changes nothing: a run is one pass, and frameworks call it unreliably.
    `epochs`: how many passes there may be, each the same run from its beginning, annealing and all. `keys`: read
    `data.at(index, key)` with a key for each position (`Stream.keys`), to seed augmentation with.
    Raises `InputError` when it is read out of order (something shuffles it), and where a pass too many begins: the
    first position comes again after more than half of the run was read. (Less is a look at the data, of which a warning
    says when it comes again and again. Workers that are started by `spawn`, not `fork`, are new ones in every pass,
    and cannot tell.)

    >>> import lopsided.data as ld
    >>> rows = [{"text": str(i)} for i in range(100)]
    >>> view = ld.View(rows, ld.Stream(len(rows), ld.AsIs(), total=1000), batch=8)
    >>> len(view), "text" in view[0]
    (1000, True)
    """

    def __init__(self, data: Any, stream: Stream | Bucketed, batch: int = 1, epochs: int = 1, keys: bool = False):
        if hasattr(data, "__len__") and len(data) != stream.n_examples:
            raise InputError(f"data: {len(data):,} examples; the stream is of {stream.n_examples:,}")
        if not (isinstance(batch, (int, np.integer)) and 1 <= batch <= stream.total):
            raise InputError(f"batch = {batch!r}: between 1 and total = {stream.total:,}")
        if not (isinstance(epochs, (int, np.integer)) and epochs >= 1):
            raise InputError(f"epochs = {epochs!r}: at least 1")
        self.data, self.stream, self.length = data, stream, stream.total // int(batch) * int(batch)
        _require_whole(stream, int(batch))
        if keys and not callable(getattr(data, "at", None)):
            raise InputError("keys: data has to have a method at(index, key)")
        self.batch, self.epochs, self.keys = int(batch), int(epochs), bool(keys)
        self._passes = Passes()
        self._first = self._last = -1

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return self.__getitems__(range(*position.indices(self.length)))
        if not 0 <= position < self.length:
            raise IndexError(position)
        self._in_order([position])
        self._passes.saw(position, self.length, self.batch, self.epochs)
        if self.keys:
            return self._read([position])[0]
        return self.data[int(self.stream.at(np.array([position]))[0])]

    def __getitems__(self, positions: Sequence[int]) -> list[Any]:
        self._in_order(positions)
        for position in positions:
            self._passes.saw(position, self.length, self.batch, self.epochs)
        return self._read(positions)

    def _read(self, positions: Sequence[int]) -> list[Any]:
        indices = self.stream.at(np.asarray(positions)).tolist()
        if self.keys:
            seeds = self.stream.keys(np.asarray(positions)).tolist()
            return [self.data.at(i, seed) for i, seed in zip(indices, seeds, strict=True)]
        if hasattr(self.data, "__getitems__"):
            return self.data.__getitems__(indices)
        return [self.data[i] for i in indices]

    def set_epoch(self, epoch: int) -> None:
        """Changes nothing: a run is one pass of `total` samples."""

    def _in_order(self, positions: Sequence[int]) -> None:
        """Positions rise, or repeat, as samplers that draw several answers for one question have them; only a new pass
        may begin again, at or before where this copy began."""
        last, first = self._last, self._first
        for n in positions:
            if n < last and n > first:
                raise InputError(
                    f"view: read out of order (position {n} after {last}): something shuffles, or goes back, for which "
                    f"a new View is needed. {_advice()}"
                )
            first = n if first < 0 or n < last else first
            last = n
        self._first, self._last = first, last

    def __getstate__(self) -> dict[str, Any]:
        """A worker's copy has read nothing yet."""
        return {**self.__dict__, "_first": -1, "_last": -1}


class Passes:
    """Counts the passes over a view, in memory that forked workers share.

    A new pass begins where the first position that anybody read is read again, after half of the view or its last step
    was. Somebody who looks at the first batches, and then trains, has made no pass: nobody looks at half of a run. Who
    looks again and again hears of it, since that is a loop that leaves its epochs early."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, RECORD.size)
        self._set(-1, 0, 0, 0, False)

    def saw(self, position: int, length: int, batch: int, epochs: int) -> None:
        """Hear of a position that is read, of a view of `length`. Raises `InputError` at the beginning of pass
        `epochs` + 1."""
        first, passes, looks, depth, through = RECORD.unpack(self._shared[:])
        beyond = position - first if first >= 0 else 0
        deep = 2 if beyond >= max(batch, length // LOOK) else int(beyond >= batch)
        far = position >= min((max(first, 0) + length) // 2, length - batch)
        if beyond > 0 and (through or not far) and deep <= depth:
            return
        if position == first and through:
            passes, depth, through = passes + 1, 0, False
            if passes >= epochs:
                raise InputError(
                    f"view: pass {passes + 1} begins, and a run is one pass: annealing would begin anew. "
                    f"Valid is a stream of more samples (total=...), or View(..., epochs={passes + 1}) if that is meant"
                )
        elif position == first and depth:
            if looks < LOOKS <= looks + depth and epochs == 1:
                warnings.warn(
                    "view: begun again and again, and left before half of it was read: each time the same samples "
                    "come, and annealing begins anew. One iterator (`iter(loader)`) for all epochs goes on",
                    stacklevel=3,  # whoever reads the view
                )
            looks, depth = looks + depth, 0
        # A run that goes on in its middle begins there. If its next pass begins at 0, it is told where the first began.
        begins = first if through and first >= 0 else position if first < 0 else min(first, position)
        through = through or (beyond > 0 and far)
        self._set(begins, passes, looks, max(depth, deep), through)

    def _set(self, *record: int) -> None:
        """The first position, whole passes, looks so far, how deep the one in hand is (0: a batch, 2: more than a
        look), and whether half was read."""
        self._shared[:] = RECORD.pack(*record)

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()


RECORD = struct.Struct("qqqq?")
LOOK = 10
"""Whoever reads less than 1 / LOOK of a run and begins again is taken to have looked at the data, not trained on it.
(Chosen, as `LOOKS` is, and not measured: both decide about a warning only.)"""
LOOKS = 4
"""Times that somebody may look at the data without a word. Who read more than a look needs, and began again, counts
twice."""


def _require_whole(stream: Stream | Bucketed, batch: int) -> None:
    """Raise `InputError` for a stream that was made for batches of another size (`Bucketed`)."""
    if isinstance(stream, Bucketed) and batch not in (1, stream.batch):
        raise InputError(f"batch = {batch:,}: the stream was made for batches of {stream.batch:,}")


def _advice() -> str:
    said = [text for name, text in ADVICE.items() if name in sys.modules]
    return "; ".join(said) or "Read it with shuffling switched off"


class BatchSampler(SecondPass):
    """A rank's batches of indices into the data itself, for loaders that nobody shards again (plain DDP, Lightning).

    `batch`: samples of one global step, a multiple of `world`. The state is one number, the next global position: it
    may be loaded with another `batch`, `rank` or `world`. A pass ends with the last whole step, and its state then is
    that end: who loads it has nothing left to do. The next pass begins at 0.

    >>> import lopsided.data as ld
    >>> stream = ld.Stream(100, ld.AsIs(), total=64)
    >>> sampler = ld.BatchSampler(stream, batch=16, rank=0, world=2)
    >>> [len(indices) for indices in sampler], sampler.position
    ([8, 8, 8, 8], 64)
    """

    drop_last = True

    def __init__(self, stream: Stream | Bucketed, batch: int, rank: int = 0, world: int = 1):
        if not (isinstance(batch, (int, np.integer)) and 1 <= batch <= stream.total):
            raise InputError(f"batch = {batch!r}: between 1 and total = {stream.total:,}")
        require_whole(rank=rank, world=world)
        if not 0 <= rank < world or batch % world:
            raise InputError(
                f"rank = {rank}, world = {world}: 0 <= rank < world, and batch = {batch} a multiple of world"
            )
        _require_whole(stream, int(batch))
        self.stream, self.batch, self.rank, self.world, self.position = stream, int(batch), rank, world, 0

    @property
    def batch_size(self) -> int:
        """Samples of one batch on this rank."""
        return self.batch // self.world

    def __len__(self) -> int:
        return self.stream.total // self.batch

    def __iter__(self) -> Iterator[list[int]]:
        if self._over:
            self.position = 0
        self._pass_begins()
        while self.position + self.batch <= self.stream.total:
            begin = self.position + self.rank * self.batch_size
            self.position += self.batch  # before the yield: the state counts batches that were handed out
            yield self.stream.at(np.arange(begin, begin + self.batch_size)).tolist()
        self._pass_ends()

    def set_epoch(self, epoch: int) -> None:
        """Do nothing, for frameworks that call it: epochs are positions here (`View`)."""

    def state_dict(self) -> dict[str, object]:
        return self.stream.state(self.position)

    def load_state_dict(self, state: dict[str, object], allow_other: bool = False) -> None:
        """Raises `InputError` for the state of another stream, unless that is allowed."""
        self.position, self._over = self.stream.position_of(state, allow_other), False
