"""Growing subsets that end when they are learned: what comes next depends on the model, so it is no pure shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.shapes import AsIs, Phases, Shape
from lopsided.data.stream import Stream
from lopsided.data.view import BatchSampler


class AutoSchedule(BatchSampler):
    """Batches from growing subsets; the next subset begins when the training accuracy that is reported reaches `goal`,
    or after `epochs` epochs of the subset (paper C, figure 19). The last subset lasts to the end.

    Rank 0 decides: `decision = sampler.report(accuracy)`. Every rank (rank 0 too) is given it with `follow(decision)`
    before its next batch, for example by `torch.distributed.broadcast_object_list`. A decision takes effect at the
    first position that was not handed out. The decisions are part of the state, so that a resumed run goes the same
    way.
    """

    def __init__(
        self,
        groups: Groups | int,
        shares: Sequence[float],
        total: int,
        batch: int,
        law: Shape | None = None,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        goal: float = 0.75,
        epochs: float = 50,
    ):
        if not 0 < goal <= 1 or not epochs > 0:
            raise InputError(f"goal = {goal}, epochs = {epochs}: valid are an accuracy up to 1, and a number above 0")
        shape = law or AsIs()
        self.streams = [Stream(groups, shape & Phases((1.0,), (share,)), total, seed) for share in shares]
        if list(shares) != sorted(set(shares)) or not self.streams:
            raise InputError(f"shares = {tuple(shares)}: valid are rising numbers above 0, up to 1")
        super().__init__(self.streams[-1], batch, rank, world)
        self.goal, self.epochs = goal, epochs
        self.log: list[tuple[int, int]] = [(0, 0)]
        """(first position, number of the subset), one for each subset so far."""

    @property
    def phase(self) -> int:
        """Number of the subset that the next batch comes from."""
        return self.log[-1][1]

    def report(self, accuracy: float) -> tuple[int, int] | None:
        """(first position, number of the subset) of the next subset if it is time for it, else None. Changes nothing:
        `follow` does."""
        begin, phase = self.log[-1]
        if phase + 1 == len(self.streams):
            return None
        seen = (self.position - begin) / int(self.streams[phase].schedule.subset[0].sum())
        return (self.position, phase + 1) if accuracy >= self.goal or seen >= self.epochs else None

    def follow(self, decision: tuple[int, int] | None) -> None:
        """Do as was decided. Raises `InputError` for a decision about positions that were handed out already."""
        if decision is None or tuple(decision) == self.log[-1]:
            return
        position, phase = map(int, decision)
        if position < self.position or not self.phase < phase < len(self.streams):
            raise InputError(
                f"decision {position, phase}: position {self.position} is handed out, in subset {self.phase}"
            )
        self.log.append((position, phase))

    def __iter__(self) -> Iterator[list[int]]:
        while self.position + self.batch <= self.stream.total:
            begin = self.position + self.rank * self.batch_size
            self.position += self.batch
            yield self._at(np.arange(begin, begin + self.batch_size)).tolist()
        self.position, self.log = 0, [(0, 0)]

    def _at(self, positions: np.ndarray) -> np.ndarray:
        """Each subset counts its positions from its beginning."""
        begins = np.array([position for position, _ in self.log])
        at = np.searchsorted(begins, positions, side="right") - 1
        out = np.empty(positions.shape, np.int64)
        for i in np.unique(at):
            here = at == i
            out[here] = self.streams[self.log[i][1]].at(positions[here] - begins[i])
        return out

    def state_dict(self) -> dict[str, Any]:
        return {**self.stream.state(self.position), "log": [list(entry) for entry in self.log]}

    def load_state_dict(self, state: dict[str, Any], allow_other: bool = False) -> None:
        """Raises `InputError` for the state of another schedule, unless that is allowed."""
        if not isinstance(state, dict) or "log" not in state:
            raise InputError("state: valid is what `state_dict()` of an AutoSchedule gave")
        self.position = self.stream.position_of(state, allow_other)
        self.log = [(int(position), int(phase)) for position, phase in state["log"]]
