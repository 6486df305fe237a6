"""A Hugging Face `datasets.Dataset` in the order of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.stream import Stream


def select(dataset: Any, stream: Stream, begin: int = 0, end: int | None = None) -> Any:
    """`dataset.select` of the stream's positions `begin` to `end`: a `datasets.Dataset` in the order of the run.

    >>> import datasets, lopsided.data as ld
    >>> rows = datasets.Dataset.from_dict({"text": [*"abcd"]})
    >>> sorted(ld.select(rows, ld.Stream(4, ld.AsIs(), total=8))["text"])
    ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd']
    """
    if len(dataset) != stream.n_examples:
        raise InputError(f"dataset: {len(dataset):,} rows; the stream is of {stream.n_examples:,}")
    return dataset.select(stream.at(np.arange(begin, stream.total if end is None else end)))
