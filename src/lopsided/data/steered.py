"""Streams that are switched while a model trains: what comes next depends on it, so this is no pure shape.

Rank 0 decides: `decision = sampler.report(accuracy)`. Every rank (rank 0 too) is given it with `follow(decision)`
before its next batch, for example by `torch.distributed.broadcast_object_list`. A decision takes effect at the first
position that was not handed out. The decisions are part of the state, so that a resumed run goes the same way.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.state import VERSION, fingerprint, position_of
from lopsided.data.stream import Stream
from lopsided.data.view import BatchSampler

ROUNDING = 1e-6
"""By which a mean over ranks may lie outside 0 to 1."""
Decision = tuple[int, int] | None
"""(first position, number of the stream), or nothing to decide."""


class Steered(BatchSampler):
    """Batches from one of several streams; which one is decided on the way. A stream begins at its first position when
    it is switched to."""

    def __init__(
        self, streams: Sequence[Stream], batch: int, rank: int = 0, world: int = 1, rules: Sequence[float] = ()
    ):
        """`rules`: the numbers by which it is decided; a state belongs to them, too."""
        super().__init__(streams[-1], batch, rank, world)
        self.streams, self.rules = list(streams), tuple(rules)
        self.log: list[tuple[int, int]] = [(0, 0)]
        """(first position, number of the stream), one for each decision so far."""

    @property
    def current(self) -> int:
        """Number of the stream that the next batch comes from."""
        return self.log[-1][1]

    def follow(self, decision: Decision) -> None:
        """Do as was decided. Raises `InputError` for a decision about positions that were handed out already."""
        if decision is None:
            return
        position, number = decided(decision)
        if (position, number) == self.log[-1]:
            return
        if position < self.position or not 0 <= number < len(self.streams):
            raise InputError(
                f"decision {position, number}: position {self.position} is handed out, in stream {self.current} of "
                f"{len(self.streams)}"
            )
        if position < self.stream.total:  # what is decided after the last batch changes nothing
            self.log.append((position, number))

    def __iter__(self) -> Iterator[list[int]]:
        if self._over:
            self.restart()
        self._pass_begins()
        while self.position + self.batch <= self.stream.total:
            begin = self.position + self.rank * self.batch_size
            self.position += self.batch
            yield self._at(np.arange(begin, begin + self.batch_size)).tolist()
        self._pass_ends()

    def restart(self) -> None:
        """A pass is over; the next one begins as this one did."""
        self.position, self.log = 0, [(0, 0)]

    def _at(self, positions: np.ndarray) -> np.ndarray:
        begins = np.array([position for position, _ in self.log])
        at = np.searchsorted(begins, positions, side="right") - 1
        out = np.empty(positions.shape, np.int64)
        for i in np.unique(at):
            here = at == i
            out[here] = self.streams[self.log[i][1]].at(positions[here] - begins[i])
        return out

    def state_dict(self) -> dict[str, Any]:
        log = [list(entry) for entry in self.log]
        return {"position": self.position, "stream": self._name(), "order": VERSION, "log": log}

    def _name(self) -> str:
        return fingerprint(type(self).__name__, self.rules, [stream.fingerprint for stream in self.streams])

    def load_state_dict(self, state: dict[str, Any], allow_other: bool = False) -> None:
        """Raises `InputError` for the state of another schedule, unless that is allowed."""
        if not isinstance(state, dict) or "log" not in state:
            raise InputError(f"state: valid is what `state_dict()` of a {type(self).__name__} gave")
        try:
            log = [_whole(*entry) for entry in state["log"]]
        except TypeError:
            log = []
        begins = [position for position, _ in log]
        if begins[:1] != [0] or sorted(begins) != begins:
            raise InputError("state: log has to be (first position, number of the stream) of each decision, from 0 on")
        if not all(0 <= number < len(self.streams) for _, number in log):
            raise InputError(f"state: it names stream {max(log, key=lambda e: e[1])[1]}; there are {len(self.streams)}")
        self.position, self.log = position_of(state, self._name(), self.stream.total, allow_other), log
        self._over = False


def decided(decision: Any) -> tuple[int, int]:
    """A decision's position and stream. Raises `InputError` for what is none."""
    try:
        return _whole(*decision)
    except TypeError:
        raise InputError(f"decision {decision!r}: valid is what `report` gave") from None


def _whole(position: Any, number: Any) -> tuple[int, int]:
    """A decision. Raises `TypeError` for what is none."""
    return operator.index(position), operator.index(number)


def require_share(accuracy: Any) -> None:
    """Raises `InputError` for what is no share of right answers: a loss, a percentage, NaN."""
    sound = isinstance(accuracy, (int, float)) or (np.ndim(accuracy) == 0 and hasattr(accuracy, "__float__"))
    if not (sound and -ROUNDING <= float(accuracy) <= 1 + ROUNDING):
        raise InputError(f"accuracy = {accuracy!r}: the share of answers that were right, from 0 to 1")
