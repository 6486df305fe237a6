"""A stream whose batches hold documents of about one length."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.state import fingerprint, position_of
from lopsided.data.stream import Stream
from lopsided.data.words import bits, key


class Bucketed:
    """A stream in another order: in each window of `batches` batches, samples are sorted by length and cut into
    batches, and these are shuffled. Each window holds the samples that it had; so a shape is kept within windows, and
    a resumed run goes on exactly. `View` and `BatchSampler` take it in place of a stream, with the same `batch`.

    `lengths`: (N,) of every example. (Sorting all data by length would make cycles of length and loss, and undo any
    shape.)

    >>> import numpy as np, lopsided.data as ld
    >>> stream = ld.Bucketed(ld.Stream(8, ld.AsIs(), 8), [1, 9, 2, 8, 1, 9, 2, 8], batch=4, batches=2)
    >>> first = np.array([1, 9, 2, 8, 1, 9, 2, 8])[stream.at(np.arange(4))]
    >>> sorted(first.tolist()) in ([1, 1, 2, 2], [8, 8, 9, 9])
    True

    Raises `InputError` for lengths of another number, or a batch or window below 1.
    """

    def __init__(self, stream: Stream, lengths: Any, batch: int, batches: int = 50):
        self.lengths = np.asarray(lengths)
        if self.lengths.ndim != 1 or self.lengths.dtype.kind not in "iuf" or not np.isfinite(self.lengths).all():
            raise InputError("lengths: a number for each example")
        if len(self.lengths) != stream.n_examples:
            raise InputError(f"lengths: {len(self.lengths):,}; the stream is of {stream.n_examples:,} examples")
        for name, value in (("batch", batch), ("batches", batches)):
            if not (isinstance(value, (int, np.integer)) and value >= 1):
                raise InputError(f"{name} = {value!r}: at least 1")
        self.stream, self.batch, self.window = stream, int(batch), int(batch) * int(batches)
        self.total, self.n_examples = stream.total, stream.n_examples
        self._name = fingerprint(stream.fingerprint, self.lengths, self.batch, self.window)
        self._key = key(stream.seed, "buckets", self.batch, self.window)
        self._last: tuple[int, np.ndarray] = (-1, np.zeros(0, np.int64))

    def at(self, position: Any) -> np.ndarray:
        """Examples at the positions, as `Stream.at` gives them."""
        asked = np.asarray(position)
        if asked.size and asked.dtype.kind not in "iu":  # an empty list is of floats
            raise InputError(f"positions: have to be integers, not {asked.dtype}")
        flat = asked.reshape(-1)
        if flat.size and not (flat.min() >= 0 and flat.max() < self.total):
            raise InputError(f"position: 0 to {self.total - 1:,}")
        found = np.empty(flat.shape, np.int64)
        window = flat // self.window
        for w in np.unique(window):
            inside = window == w
            found[inside] = self._examples(int(w))[flat[inside] - int(w) * self.window]
        return found.reshape(asked.shape)

    def _examples(self, window: int) -> np.ndarray:
        """Examples of a window, in the order of the run. The last one is kept: batches of a window come together."""
        number, examples = self._last
        if number != window:
            begin = window * self.window
            its = self.stream.at(np.arange(begin, min(begin + self.window, self.total)))
            by_length = its[np.argsort(self.lengths[its], kind="stable")]
            parts = [by_length[a : a + self.batch] for a in range(0, len(by_length), self.batch)]
            whole = parts if len(parts[-1]) == self.batch else parts[:-1]  # a short one stays last
            order = np.argsort(bits(self._key, np.arange(begin, begin + len(whole), dtype=np.uint64)), kind="stable")
            examples = np.concatenate([*(whole[i] for i in order), *parts[len(whole) :]])
            self._last = (window, examples)
        return examples

    @property
    def fingerprint(self) -> str:
        """A name that tells streams apart."""
        return self._name

    def keys(self, positions: Any) -> np.ndarray:
        """As `Stream.keys`: a key for each position."""
        return self.stream.keys(positions)

    def state(self, position: int) -> dict[str, Any]:
        """What a checkpoint holds."""
        return {**self.stream.state(position), "stream": self._name}

    def position_of(self, state: Any, allow_other: bool = False) -> int:
        """The position of a state. Raises `InputError` for one of another stream, unless that is allowed."""
        return position_of(state, self._name, self.total, allow_other)
