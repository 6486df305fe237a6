"""A place in a source: its examples by a rising number, pass after pass."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from lopsided.core.errors import InputError
from lopsided.data.interleave import Interleaved, by_position


class Cursor:
    """Examples of one source of a mixture, each by its number in the run; numbers rise.

    `known`: what `state` gave, of this run or of another rank or worker. It is used if the source has
    `load_state_dict`, and had not been read beyond the first example that is asked for.
    """

    def __init__(self, mixed: Interleaved, name: str, known: dict[str, Any] | None = None):
        self._mixed, self._name, self._source = mixed, name, mixed.sources[name]
        self._known, self._read = known, 0
        self._current: Any = self._source
        """What is read in this pass, if its state is one of the source."""
        self._examples: Iterator[Any] | None = None

    def example(self, number: int) -> Any:
        """The example of this number, after those before it were left out."""
        if by_position(self._source):
            self._read = number + 1
            return self._mixed.by_number(self._name, number)
        if self._examples is None:
            self._enter(number)
        while self._read < number:
            self._next()
        return self._next()

    def state(self) -> dict[str, Any]:
        """How many examples were read, and the state of the source where it has one."""
        if self._examples is None and not by_position(self._source):  # nobody has asked for an example yet
            return self._known or {"read": 0, "state": None}
        own = hasattr(self._current, "state_dict") and _goes_on(self._source)
        return {"read": self._read, "state": self._current.state_dict() if own else None}

    def _enter(self, number: int) -> None:
        """Begin the source where a state knows it, or by its own `skip` where it has one and is long enough."""
        known = self._known
        if known and known["state"] is not None and known["read"] <= number and _goes_on(self._source):
            # In a copy: a set of Hugging Face that was given a state begins every later pass there, too. (A shallow
            # copy of one shares its dictionary.)
            self._current = copy.deepcopy(self._source)
            self._current.load_state_dict(known["state"])
            self._read, self._examples = int(known["read"]), iter(self._current)
            return
        if number and callable(getattr(self._source, "skip", None)):
            examples = iter(self._source.skip(number))
            try:
                first = next(examples)
            except StopIteration:  # the source is shorter: it was begun again on the way, nobody knows how often
                pass
            else:
                # The state of what was skipped into is none of the source itself; skipping again is as quick.
                self._current, self._read, self._examples = None, number, _with(first, examples)
                return
        self._examples = iter(self._source)

    def _next(self) -> Any:
        assert self._examples is not None
        for _ in range(2):
            for example in self._examples:
                self._read += 1
                return example
            self._current = self._source
            self._examples = iter(self._source)
        said = "ended, and cannot be begun again (a generator?)" if self._read else "is empty"
        raise InputError(f"source {self._name!r}: {said}")


def _goes_on(source: Any) -> bool:
    """Whether a source goes on exactly from a state of its own. Shuffled streams of Hugging Face lose their buffer
    (datasets #7156), so they are skipped forward instead."""
    inner, buffered = getattr(source, "_ex_iterable", None), False
    while inner is not None and not buffered:
        buffered = "BufferShuffled" in type(inner).__name__
        inner = getattr(inner, "ex_iterable", None)
    return hasattr(source, "load_state_dict") and not buffered


def _with(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
