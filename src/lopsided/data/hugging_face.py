"""Streams over Hugging Face `datasets`: map-style ones by view, several sources interleaved, streaming sources
too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.shapes import Shape
from lopsided.data.stream import Stream


def select(dataset: Any, stream: Stream, begin: int = 0, end: int | None = None) -> Any:
    """`dataset.select` of the stream's positions `begin` to `end`: a `datasets.Dataset` in the order of the run."""
    if len(dataset) != stream.n_examples:
        raise InputError(f"dataset: {len(dataset):,} rows; the stream is of {stream.n_examples:,}")
    return dataset.select(stream.at(np.arange(begin, stream.total if end is None else end)))


class Interleaved:
    """Several sources by name, mixed as a shape over the names says; a skill is a source.

    Sources with a length are read at random (map-style): `interleaved[n]` is the n-th sample of the run. Sources
    without one (streaming) are read in their own order by iteration, each begun again when it ends."""

    def __init__(self, sources: Mapping[str, Any], shape: Shape, total: int, seed: int = 0, cap: float | None = None):
        if not sources:
            raise InputError("sources: at least one")
        self.sources = dict(sources)
        self.streaming = any(not hasattr(source, "__len__") for source in self.sources.values())
        if self.streaming and cap is not None:
            raise InputError("cap: the length of a streaming source is not known")
        # Names in sorted order, as Groups has them. A streaming source counts as one example.
        self.names = sorted(self.sources)
        lengths = [1 if self.streaming else len(self.sources[name]) for name in self.names]
        self.begins = np.concatenate([[0], np.cumsum(lengths)])
        self.groups = Groups(np.repeat(np.array(self.names), lengths))
        self.stream = Stream(self.groups, shape, total, seed, cap)

    def __len__(self) -> int:
        return self.stream.total

    def __getitem__(self, position: int) -> Any:
        if self.streaming:
            raise InputError("sources: a streaming source is read by iteration, not by position")
        if not 0 <= position < len(self):
            raise IndexError(position)
        index = int(self.stream.at(np.array([position]))[0])
        source = int(np.searchsorted(self.begins, index, side="right")) - 1
        return self.sources[self.names[source]][index - int(self.begins[source])]

    def __iter__(self) -> Iterator[Any]:
        return self.iterate()

    def iterate(self, begin: int = 0) -> Iterator[Any]:
        """Samples from position `begin` on. Streaming sources are skipped forward by what they gave before."""
        if not self.streaming:
            yield from (self[n] for n in range(begin, len(self)))
            return
        iterators = {}
        before = np.bincount(self._sources(0, begin), minlength=len(self.names))
        for i, name in enumerate(self.names):
            iterators[i] = _again(self.sources[name], int(before[i]), name)
        for n in range(begin, len(self), 4096):
            for source in self._sources(n, min(n + 4096, len(self))):
                yield next(iterators[int(source)])

    def _sources(self, begin: int, end: int) -> np.ndarray:
        return self.groups.cell[self.stream.at(np.arange(begin, end))]


def _again(source: Any, skipped: int, name: str) -> Iterator[Any]:
    """Its examples from the one after `skipped` on, pass after pass."""
    while True:
        empty = True
        for example in source:
            empty = False
            if skipped:
                skipped -= 1
                continue
            yield example
        if empty:
            raise InputError(f"source {name!r}: is empty")


def interleave(
    sources: Mapping[str, Any], shape: Shape, total: int, seed: int = 0, cap: float | None = None
) -> Interleaved:
    """Several sources, mixed as a shape over their names says: `interleave({"web": a, "code": b}, Fixed({...}),
    10**6)`."""
    return Interleaved(sources, shape, total, seed, cap)
