"""Several sources mixed as a shape over their names says: by position, streaming, or some of each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.second_pass import SecondPass
from lopsided.data.stream import Stream
from lopsided.data.view import View
from lopsided.data.words import key, word
from lopsided.shape.laws import Uniform
from lopsided.shape.shape import Shape


class Interleaved(SecondPass):
    """Several sources by name, mixed as a shape over the names says; a skill is a source.

    Sources with a length and items (map-style) are read at random, each example once before any comes again. Others
    (streaming) are read in their own order, each begun again when it ends. If all are map-style, `interleaved[n]` is
    the n-th sample of the run, and `view(batch)` is what a loader reads; else it is read by iteration.

    `sizes`: by name, what laws that read sizes (`AsIs`, `Temperature`, ranks by frequency) take for a source's size:
    its examples, tokens or whatever else; needed for streaming sources, whose length nobody knows.

    >>> import lopsided.data as ld
    >>> mixed = ld.Interleaved({"code": list(range(90)), "talk": list(range(90, 100))}, ld.Uniform(), total=100)
    >>> sum(mixed[n] >= 90 for n in range(100))
    50
    """

    def __init__(
        self,
        sources: Mapping[str, Any],
        shape: Shape,
        total: int,
        seed: int = 0,
        cap: float | None = None,
        sizes: Mapping[str, float] | None = None,
    ):
        if not isinstance(sources, Mapping):
            what = type(sources).__name__
            raise InputError(f"sources: a {what}; valid are sources by name, {{'code': ..., 'talk': ...}}")
        if not sources:
            raise InputError("sources: at least one")
        if strange := [name for name in sources if not isinstance(name, str)]:
            raise InputError(f"sources: the name {strange[0]!r} is no text")
        self.names = sorted(sources)  # as Groups has them
        self.sources, self.seed = {name: sources[name] for name in self.names}, seed
        known = {name: len(source) for name, source in self.sources.items() if by_position(source)}
        twice = {id(source): name for name, source in self.sources.items()}
        if len(twice) < len(self.names):
            name = next(n for n, source in self.sources.items() if twice[id(source)] != n)
            also = twice[id(self.sources[name])]
            raise InputError(
                f"sources: {name!r} and {also!r} are one source; give it once, with the sum of the weights"
            )
        if empty := [name for name, size in known.items() if size == 0]:
            raise InputError(f"source {empty[0]!r}: is empty")
        self.streaming = len(known) < len(self.names)
        self._orders: dict[str, Stream] = {}
        if self.streaming:
            self._require_streams(shape, cap, {**known, **(sizes or {})})
        # Of streaming sources nobody knows the length; what is drawn is only whose turn it is.
        self._joined = None if self.streaming else _Joined(list(self.sources.values()))
        counts = [1] * len(self.names) if self.streaming else list(known.values())
        self.groups = Groups(np.repeat(np.array(self.names), counts))
        if sizes is not None or (self.streaming and shape.reads_sizes):
            self.groups.size = _sizes(self.names, {**known, **(sizes or {})})
        self.stream = Stream(self.groups, shape, total, seed, cap)

    def _require_streams(self, shape: Shape, cap: float | None, sizes: Mapping[str, float]) -> None:
        if cap is not None:
            raise InputError("cap: the length of a streaming source is not known")
        if any(shape.subset(edge, 1000, 1) < 1 for edge in shape.edges()):
            raise InputError("shape: a streaming source has no subsets, so it takes no Phases")
        unknown = [name for name in self.names if name not in sizes]
        if shape.reads_sizes and unknown:
            raise InputError(
                f"source {unknown[0]!r} streams, so nobody knows its size, which {shape!r} reads; give "
                f"sizes={{{unknown[0]!r}: ...}}"
            )

    def __len__(self) -> int:
        return self.stream.total

    def __getitem__(self, position: int) -> Any:
        if not 0 <= position < len(self):
            raise IndexError(position)
        return self._all()[int(self.stream.at(np.array([position]))[0])]

    def __getitems__(self, positions: Sequence[int]) -> list[Any]:
        return self._all().__getitems__(self.stream.at(np.asarray(positions)).tolist())

    def view(self, batch: int = 1) -> View:
        """What a loader reads, in order; something that shuffles it is found out (`View`)."""
        return View(self._all(), self.stream, batch)

    def _all(self) -> _Joined:
        if self._joined is None:
            raise InputError("sources: a streaming source is read by iteration, not by position")
        return self._joined

    def __iter__(self) -> Iterator[Any]:
        self._pass_begins()
        yield from self.iterate()
        self._pass_ends()

    def iterate(self, begin: int = 0) -> Iterator[Any]:
        """Samples from position `begin` on. Streaming sources are skipped forward by what they gave before."""
        if not self.streaming:
            yield from (self[n] for n in range(begin, len(self)))
            return
        before = self.stream.visits(begin)  # of a streaming mixture, a source is one example
        iterators = [self._from(i, int(before[i])) for i in range(len(self.names))]
        for n in range(begin, len(self), 4096):
            for source in self._sources(n, min(n + 4096, len(self))):
                yield next(iterators[int(source)])

    def _from(self, i: int, begin: int) -> Iterator[Any]:
        """Examples of source i, from its own number `begin` on."""
        source = self.sources[self.names[i]]
        if not by_position(source):
            return _again(source, begin, self.names[i])
        return (self.by_number(self.names[i], n) for n in range(begin, self.stream.total))

    def by_number(self, name: str, number: int) -> Any:
        """The example that comes as this one of a source that is read by position, beside sources that stream."""
        if name not in self._orders:
            seed = int(word(key(self.seed, "source"), self.names.index(name))) >> 1
            self._orders[name] = Stream(len(self.sources[name]), Uniform(), self.stream.total, seed)
        return self.sources[name][int(self._orders[name].at(number))]

    def _sources(self, begin: int, end: int) -> np.ndarray:
        return self.groups.cell[self.stream.at(np.arange(begin, end))]


class _Joined:
    """Sources one after the other, as one data set."""

    def __init__(self, sources: Sequence[Any]):
        self.sources, self.begins = sources, np.concatenate([[0], np.cumsum([len(source) for source in sources])])

    def __len__(self) -> int:
        return int(self.begins[-1])

    def __getitem__(self, index: int) -> Any:
        source = int(np.searchsorted(self.begins, index, side="right")) - 1
        return self.sources[source][index - int(self.begins[source])]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        return [self[index] for index in indices]


def by_position(source: Any) -> bool:
    """Whether it has a length and items. (PyTorch's iterable data sets have both names, and no items.)"""
    torch = sys.modules.get("torch.utils.data")
    iterable = torch is not None and isinstance(source, torch.IterableDataset)
    return hasattr(source, "__len__") and hasattr(source, "__getitem__") and not iterable


def _sizes(names: Sequence[str], sizes: Mapping[str, float]) -> np.ndarray:
    """(R,)"""
    strange = [name for name in sizes if name not in names]
    try:
        found = np.array([float(sizes.get(name, np.nan)) for name in names])
    except (TypeError, ValueError):
        found = np.full(len(names), np.nan)
    if strange or not (np.isfinite(found) & (found > 0)).all():
        raise InputError(f"sizes: a number above 0 for each of {', '.join(names)}")
    return found


def _again(source: Any, skipped: int, name: str) -> Iterator[Any]:
    """Yield a source's examples from the one after `skipped` on, pass after pass."""
    passes = 0
    while True:
        empty = True
        for example in source:
            empty = False
            if skipped:
                skipped -= 1
                continue
            yield example
        if empty:
            said = "ended, and cannot be begun again (a generator?)" if passes else "is empty"
            raise InputError(f"source {name!r}: {said}")
        passes += 1


interleave = Interleaved
"""The class as a verb: `interleave({"web": a, "code": b}, Weights({...}), 10**6)`."""
