"""A mixture of sources that only iterate, in its order, for PyTorch's loaders with ranks and workers.

Importing this takes PyTorch; `lopsided.data.Feed` imports it when it is asked for.
"""

from __future__ import annotations

import importlib
import mmap
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lopsided.core.errors import InputError, require_whole
from lopsided.data.cursor import Cursor
from lopsided.data.interleave import Interleaved
from lopsided.data.second_pass import SecondPass

NUMBER = struct.Struct("q")
private: Any = importlib.import_module("torch.utils.data._utils.worker")
torch_data: Any = importlib.import_module("torch.utils.data")  # by name: lopsided.data does not depend on PyTorch


@contextmanager
def _alone() -> Iterator[None]:
    """A context in which `torch.utils.data.get_worker_info()` says that there are no workers. Inside a worker, sets of
    Hugging Face give only that worker's shards, and a `Feed` needs all; they have no public option against it."""
    kept, private._worker_info = private._worker_info, None
    try:
        yield
    finally:
        private._worker_info = kept


class Feed(SecondPass, torch_data.IterableDataset):
    """A rank's samples of `mixed`, which `DataLoader(feed, batch_size=batch // world)` makes batches of.

    `batch`: samples of one global step, a multiple of `world`. Worker w of W has the batches w, w + W, … of its rank,
    which is the order in which the loader asks its workers. So the union over ranks and workers is the mixture,
    whatever their numbers; the last step that is not whole is left out. (With another `batch_size` and several workers
    the order is another one, and nothing here can see it.) Each worker reads every source and leaves out
    what is not its own: a source that only iterates cannot be entered elsewhere.

    `feed.begin = n` goes on at global position n, a multiple of the batch, with any number of ranks and workers. A
    source is skipped forward by its own `skip(n)` if it has one (those of Hugging Face have), and by reading otherwise.
    With `load_state_dict(feed.state_dict())`, which `StatefulDataLoader` does for each worker, a source that has
    `state_dict` itself goes on from there, and nothing of it is read again.

    Raises `InputError` for sources that are all read by position (`mixed.view` is for these), for a batch that ranks
    cannot share, and for a begin between batches.
    """

    def __init__(self, mixed: Interleaved, batch: int, rank: int = 0, world: int = 1):
        if not mixed.streaming:
            raise InputError("feed: all sources are read by position; give a loader mixed.view(batch)")
        require_whole(batch=batch, rank=rank, world=world)
        if not 0 <= rank < world or batch < 1 or batch % world:
            raise InputError(
                f"rank = {rank}, world = {world}: 0 <= rank < world, and batch = {batch} a multiple of world"
            )
        self.mixed, self.batch, self.rank, self.world = mixed, int(batch), rank, world
        self._begin = mmap.mmap(-1, NUMBER.size)
        """Where passes begin, in memory that workers share: persistent ones hear of it, too."""
        self._passes = mmap.mmap(-1, NUMBER.size)
        """How many passes were gone through: each one has workers of its own, which have not seen the others."""
        self.begin = 0
        self._known: Mapping[str, Any] = {}
        self._cursors: dict[str, Cursor] = {}
        self._next: int | None = None
        """Position of this worker's next batch, while it reads."""

    @property
    def _through(self) -> int:  # type: ignore[override]
        return NUMBER.unpack(self._passes[:])[0]

    @_through.setter
    def _through(self, passes: int) -> None:
        self._passes[:] = NUMBER.pack(passes)

    @property
    def begin(self) -> int:
        """Global position at which passes begin."""
        return NUMBER.unpack(self._begin[:])[0]

    @begin.setter
    def begin(self, position: int) -> None:
        self._begin[:] = NUMBER.pack(position)
        self._at: tuple[int, int, int] | None = None
        """Worker, workers, and the position of this worker's next batch, where a state said so."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_begin": self.begin, "_passes": self._through}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In a worker that is spawned: the memory is not shared with it, the number is."""
        self.__dict__.update(state)
        self._begin = mmap.mmap(-1, NUMBER.size)
        self._begin[:] = NUMBER.pack(state["_begin"])
        self._passes = mmap.mmap(-1, NUMBER.size)
        self._passes[:] = NUMBER.pack(state["_passes"])

    def __len__(self) -> int:
        """Samples of this rank in a pass, or in what a state left of it."""
        first = self._at[2] if self._at is not None and self._at[1] == 1 else self.begin
        return (len(self.mixed) - first) // self.batch * (self.batch // self.world)

    def _first(self) -> int:
        """Position of this worker's first batch. Raises `InputError` where nobody can know it."""
        worker, workers = _worker()
        if self._at is None:
            return self.begin + worker * self.batch
        if self._at[:2] == (worker, workers):
            return self._at[2]
        if self._at[1] == 1:
            return self._at[2] + worker * self.batch
        raise InputError(
            f"feed: the state is of worker {self._at[0] + 1} of {self._at[1]}, and is read by {workers}; set "
            "feed.begin = steps * batch after it is loaded"
        )

    def __iter__(self) -> Iterator[Any]:
        if self.begin % self.batch or not 0 <= self.begin <= len(self.mixed):
            last = len(self.mixed)
            raise InputError(f"begin = {self.begin:,}: a multiple of the batch, {self.batch:,}, up to {last:,}")
        worker, workers = _worker()
        if worker == 0:  # one for all of them: others may begin when this one has ended
            self._pass_begins()
        self._next = self._first()
        self._cursors = {name: Cursor(self.mixed, name, self._known.get(name)) for name in self.mixed.names}
        self._at, self._known = None, {}
        while self._next + self.batch <= len(self.mixed):
            yield from self._batch(self._next, workers)
        if worker == 0:
            self._pass_ends()
        # `_next` stays: the state of a pass that is over is its end, not the beginning of another

    def _batch(self, position: int, workers: int) -> Iterator[Any]:
        """Yield this rank's share of the next batch; the state moves on with its last sample."""
        share, stream, names = self.batch // self.world, self.mixed.stream, self.mixed.names
        first = position + self.rank * share
        number = stream.visits(first)
        sources = self.mixed.groups.cell[stream.at(range(first, first + share))].tolist()
        for i, source in enumerate(sources, 1):
            with _alone():
                example = self._cursors[names[source]].example(int(number[source]))
            number[source] += 1
            if i == share:
                self._next = position + workers * self.batch  # before the yield: the state counts what was handed out
            yield example

    def state_dict(self) -> dict[str, Any]:
        worker, workers = _worker()
        position = min(self._first() if self._next is None else self._next, len(self.mixed))
        read = {name: cursor.state() for name, cursor in self._cursors.items()}
        sources = read if self._next is not None else self._known
        return {**self.mixed.stream.state(position), "worker": worker, "workers": workers, "sources": sources}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state in the next pass; later ones begin at 0. Where the number of workers is another one than
        the state's, set `begin` after it: no worker knows what the others were asked for. Raises `InputError` for the
        state of another mixture."""
        position = self.mixed.stream.position_of(state)
        try:
            at, known = (int(state["worker"]), int(state["workers"]), position), dict(state["sources"])
        except (KeyError, TypeError, ValueError):
            raise InputError("state: valid is what `state_dict()` of a Feed gave") from None
        self.begin = 0
        self._at, self._known, self._next = at, known, None


def _worker() -> tuple[int, int]:
    """Which worker of PyTorch's loader this is, and how many there are."""
    info = torch_data.get_worker_info()
    return (0, 1) if info is None else (info.id, info.num_workers)
