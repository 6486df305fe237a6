"""The last few things that were made, for any number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """What was made for the last `kept` keys. Two threads that miss one key at once make it twice, and keep one; a
    loader's threads read a stream together (Grain's do)."""

    def __init__(self, kept: int):
        self.kept = kept
        self._made: dict[Hashable, T] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made for a key before, or now."""
        found = self._made.get(key)
        if found is None:
            found = make()  # outside the lock: it takes milliseconds, and others have their own to make
            with self._lock:
                while len(self._made) >= self.kept:
                    self._made.pop(next(iter(self._made)))
                self._made[key] = found
        return found

    def __getstate__(self) -> int:
        """A copy, for example a worker's, has made nothing yet."""
        return self.kept

    def __setstate__(self, kept: int) -> None:
        self.__init__(kept)
