"""Growing subsets that end when they are learned."""

from __future__ import annotations

from collections.abc import Sequence

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.phases import Phases
from lopsided.data.shapes import AsIs, Shape
from lopsided.data.steered import Decision, Steered, require_share
from lopsided.data.stream import Stream


class AutoSchedule(Steered):
    """Batches from growing subsets; the next subset begins when the training accuracy that is reported reaches `goal`,
    or after `epochs` epochs of the subset (paper C, figure 19). The last subset lasts to the end. `report` on rank 0,
    `follow` on all (see `lopsided.data.steered`).
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
        if list(shares) != sorted(set(shares)) or not shares:
            raise InputError(f"shares = {tuple(shares)}: valid are rising numbers above 0, up to 1")
        shape = law or AsIs()
        streams = [Stream(groups, shape & Phases((1.0,), (share,)), total, seed) for share in shares]
        super().__init__(streams, batch, rank, world, (goal, epochs))
        self.goal, self.epochs = goal, epochs

    @property
    def phase(self) -> int:
        """Number of the subset that the next batch comes from."""
        return self.current

    def report(self, accuracy: float) -> Decision:
        """(first position, number of the subset) of the next subset if it is time for it, else None. Changes nothing:
        `follow` does."""
        require_share(accuracy)
        begin, phase = self.log[-1]
        if phase + 1 == len(self.streams):
            return None
        seen = (self.position - begin) / int(self.streams[phase].schedule.subset[0].sum())
        return (self.position, phase + 1) if accuracy >= self.goal or seen >= self.epochs else None

    def follow(self, decision: Decision) -> None:
        """Do as was decided. Raises `InputError` for a smaller subset too."""
        if decision is not None and int(decision[1]) < self.current:
            raise InputError(f"decision {tuple(decision)}: subsets grow, and {self.current} is in use")
        super().follow(decision)
