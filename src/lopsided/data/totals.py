"""How long a mixture lasts, in the words of other tools: until its first source ends, or until all are seen."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.stream import Stream
from lopsided.shape.shape import Shape

MANY = 10**6
"""Length of the run over which a law that moves is averaged, in samples; as in `describe`."""


def until_first_ends(sizes: Mapping[str, int] | Groups, shape: Shape) -> int:
    """The largest `total` in which no example comes twice by the law: as `interleave_datasets` stops with
    `first_exhausted`. (A stream is within one sample of its law, so that one may come twice in the last few.)

    `sizes`: examples of each source, by name, or the groups of a data set.

    >>> import lopsided.data as ld
    >>> ld.until_first_ends({"web": 700, "code": 100}, ld.Weights({"web": 0.8, "code": 0.2}))
    500
    """
    epochs = _epochs(sizes, shape)
    return int(np.floor(MANY / epochs.max() + 1e-6))


def until_all_seen(sizes: Mapping[str, int] | Groups, shape: Shape) -> int:
    """The smallest `total` in which every example comes that the shape draws at all: `all_exhausted`.

    >>> import lopsided.data as ld
    >>> ld.until_all_seen({"web": 700, "code": 100}, ld.Weights({"web": 0.8, "code": 0.2}))
    875
    """
    epochs = _epochs(sizes, shape)
    return int(np.ceil(MANY / epochs[epochs > 0].min() - 1e-6))


def _epochs(sizes: Mapping[str, int] | Groups, shape: Shape) -> np.ndarray:
    """(C,) how often an example of each source comes in `MANY` samples."""
    if isinstance(sizes, Groups):
        return Stream(sizes, shape, MANY).schedule.epochs()
    if not sizes or not all(isinstance(size, (int, np.integer)) and size >= 1 for size in sizes.values()):
        raise InputError("sizes: examples of each source by name, at least 1")
    names = sorted(sizes)
    groups = Groups(names)  # one stands for each source: some have more examples than memory has room
    groups.size = np.array([int(sizes[name]) for name in names])
    return Stream(groups, shape, MANY).schedule.expected() / groups.size
