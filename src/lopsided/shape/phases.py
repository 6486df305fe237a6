"""Subsets that grow while a model trains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lopsided.core.errors import InputError
from lopsided.shape.laws import require_until
from lopsided.shape.shape import Shape


@dataclass(frozen=True)
class Phases(Shape):
    """Nested, growing subsets of every skill's examples: phase i ends at the share `until[i]` of the run, and draws
    from a subset of the data's share `shares[i]` (`of="data"`), or of as many examples as this share of the run has
    samples (`of="run"`).

    >>> import lopsided.data as ld
    >>> stream = ld.Stream(1000, ld.Phases(until=(0.2, 1), shares=(0.05, 1)), total=2000)
    >>> len({*stream.at(range(400)).tolist()})
    50
    """

    until: tuple[float, ...]
    shares: tuple[float, ...]
    of: Literal["data", "run"] = "data"

    reads_sizes = property(lambda self: True)
    has_subsets = property(lambda self: True)

    def __post_init__(self) -> None:
        require_until(self.until, len(self.shares), "shares")
        if any(not 0 < share <= 1 for share in self.shares) or list(self.shares) != sorted(self.shares):
            raise InputError(f"shares = {self.shares}: valid are rising numbers above 0, up to 1")
        if self.of not in ("data", "run"):
            raise InputError(f"of = {self.of!r}: valid are data, run")

    def edges(self) -> Sequence[float]:
        return (0.0, *self.until[:-1])

    def subset(self, at: float, examples: int, total: int) -> float:
        share = self.shares[int(np.searchsorted(self.until[:-1], at, side="right"))]
        return share if self.of == "data" else min(1.0, share * total / examples)
