"""Growing subsets that end when they are learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lopsided.core.errors import InputError, require_numbers
from lopsided.data.groups import Groups
from lopsided.data.steered import Decision, Steered, decided, require_share
from lopsided.data.stream import Stream
from lopsided.shape.laws import AsIs
from lopsided.shape.phases import Phases
from lopsided.shape.rules import subset_over
from lopsided.shape.shape import Shape


class AutoSchedule(Steered):
    """Batches from growing subsets; the next subset begins at the end of an epoch of which the mean of the training
    accuracies that were reported reaches `goal`, or after `epochs` epochs of the subset: the rule of the plan
    `auto-schedule` (paper C, figure 19). An epoch is as many steps as the subset has batches, rounded up. The last
    subset lasts to the end. `report` on rank 0, `follow` on all (see `lopsided.data.steered`); save rank 0's state.

    >>> import lopsided.data as ld
    >>> sampler = ld.AutoSchedule(100, shares=(0.1, 1.0), total=400, batch=10, epochs=3)
    >>> for indices in sampler:
    ...     accuracy = 0.9  # of your step on these examples
    ...     sampler.follow(sampler.report(accuracy))
    >>> sampler.phase
    1
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
        require_numbers(goal=goal, epochs=epochs)
        if not 0 < goal <= 1 or not epochs > 0:
            raise InputError(f"goal = {goal}, epochs = {epochs}: valid are an accuracy up to 1, and a number above 0")
        if isinstance(shares, str) or not isinstance(shares, Sequence):
            raise InputError(f"shares = {shares!r}: a list of rising numbers above 0, up to 1")
        require_numbers(**{f"shares[{i}]": share for i, share in enumerate(shares)})
        if list(shares) != sorted(set(shares)) or not shares:
            raise InputError(f"shares = {tuple(shares)}: valid are rising numbers above 0, up to 1")
        shape = law or AsIs()
        streams = [Stream(groups, shape & Phases((1.0,), (share,)), total, seed) for share in shares]
        super().__init__(streams, batch, rank, world, (goal, epochs))
        self.goal, self.epochs = goal, epochs
        self._steps, self._right = 0, 0.0

    @property
    def phase(self) -> int:
        """Number of the subset that the next batch comes from."""
        return self.current

    def report(self, accuracy: float) -> Decision:
        """Hear the accuracy of a step. (first position, number of the subset) of the next subset if it is time for it,
        else None. Raises `InputError` for what is no share of right answers."""
        require_share(accuracy)
        if self.phase + 1 == len(self.streams):
            return None
        epoch = -(-int(self.streams[self.phase].schedule.subset[0].sum()) // self.batch)
        self._steps += 1
        self._right += float(accuracy)
        if self._steps % epoch:
            return None
        over = subset_over(self._steps, epoch, self._right / epoch, self.goal, self.epochs)
        self._right = 0.0
        if not over:
            return None
        self._steps = 0
        return self.position, self.phase + 1

    def restart(self) -> None:
        super().restart()
        self._steps, self._right = 0, 0.0

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "steps": self._steps, "right": self._right}

    def load_state_dict(self, state: dict[str, Any], allow_other: bool = False) -> None:
        """Raises `InputError` for the state of something else, unless that is allowed."""
        if not isinstance(state, dict) or "steps" not in state:
            raise InputError("state: valid is what `state_dict()` of an AutoSchedule gave")
        try:
            steps, right = int(state["steps"]), float(state["right"])
        except (KeyError, TypeError, ValueError):
            raise InputError("state: steps and right have to be numbers") from None
        super().load_state_dict(state, allow_other)
        self._steps, self._right = steps, right

    def follow(self, decision: Decision) -> None:
        """Do as was decided. Raises `InputError` for a smaller subset too."""
        if decision is not None and decided(decision)[1] < self.current:
            raise InputError(f"decision {tuple(decision)}: subsets grow, and {self.current} is in use")
        super().follow(decision)
